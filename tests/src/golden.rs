//! A server of one of the code generator's golden files, which the variable `GOLDEN` names.

use std::env;
use std::process::ExitCode;

mod added_fields {
    include!("../../codegen/tests/golden/added_fields.rs");
}

mod every_kind {
    include!("../../codegen/tests/golden/every_kind.rs");
}

mod odd_names {
    include!("../../codegen/tests/golden/odd_names.rs");
}

mod with_policy {
    include!("../../codegen/tests/golden/with_policy.rs");
}

fn main() -> ExitCode {
    let catalog = match env::var("GOLDEN").as_deref() {
        Ok("added_fields") => &added_fields::CATALOG,
        Ok("odd_names") => &odd_names::CATALOG,
        Ok("with_policy") => &with_policy::CATALOG,
        // The supervisor runs this program without the variable, where a policy removes it.
        _ => &every_kind::CATALOG,
    };
    climax_runtime::main(catalog)
}

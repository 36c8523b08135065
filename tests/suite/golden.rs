//! The golden files of the code generator, compiled and used.

mod every_kind {
    include!("../../codegen/tests/golden/every_kind.rs");
}

mod odd_names {
    include!("../../codegen/tests/golden/odd_names.rs");
}

mod with_policy {
    include!("../../codegen/tests/golden/with_policy.rs");
}

#[test]
fn every_tool_of_a_golden_file_is_found_under_its_name() {
    for catalog in [
        &every_kind::CATALOG,
        &odd_names::CATALOG,
        &with_policy::CATALOG,
    ] {
        for (number, tool) in (0..).zip(catalog.tables.tools.rows().iter()) {
            let name = tool.name.of(&catalog.tables.text);
            assert_eq!((catalog.find)(name), Some(number), "{name}");
        }
        assert_eq!((catalog.find)("no_such_tool"), None);
    }
}

//! The page about adding a YAML field, followed step by step.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/adding-a-field.md");

/// What the page quotes, and the file in which it must stand.
const STEPS: [(&str, &str); 10] = [
    (
        "codegen/src/written.rs",
        r#"flag: fields.optional("flag", text),"#,
    ),
    ("codegen/src/model.rs", "Flag(String),"),
    ("codegen/src/check/arguments.rs", "fn placement("),
    ("crates/input/src/code.rs", "Code::PositionalFlag,"),
    ("codegen/src/emit.rs", "quote!(argv.flag(#flag, #value);)"),
    ("crates/runtime/src/call/argv.rs", "pub fn flag("),
    ("codegen/tests/golden/every_kind.yaml", "flag: -m"),
    (
        "tests/suite/arguments.rs",
        "fn a_flags_value_like_an_option_is_joined_to_it(",
    ),
    ("README.md", "| `flag` |"),
    (
        "crates/runtime/src/generated.rs",
        "pub use crate::call::argv::Argv;",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

#[test]
fn every_step_is_where_the_page_says() {
    for (file, text) in STEPS {
        assert!(PAGE.contains(file), "the page does not name {file}");
        let content = fs::read_to_string(root().join(file)).expect(file);
        assert!(content.contains(text), "{text:?} is not in {file}");
    }
}

#[test]
fn every_file_that_the_page_names_exists() {
    let named = PAGE.split('`').skip(1).step_by(2);
    let files: Vec<&str> = named
        .filter(|name| name.contains('/') && !name.contains(' '))
        .collect();
    assert!(files.len() > 10);
    for file in files {
        assert!(root().join(file).exists(), "{file}");
    }
}

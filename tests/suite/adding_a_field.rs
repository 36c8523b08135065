//! Checks that `docs/adding-a-field.md` refers to code that exists.

use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/adding-a-field.md");

/// Files that the page names, and the code in them that it quotes.
const STEPS: [(&str, &str); 11] = [
    (
        "codegen/src/written.rs",
        r#"flag: fields.optional("flag", read_flag),"#,
    ),
    ("codegen/src/model.rs", "Flag(String),"),
    ("codegen/src/check/placement.rs", "fn check_placement("),
    ("crates/input/src/code.rs", "Code::PositionalFlag,"),
    (
        "codegen/src/emit/field.rs",
        "quote!(argv.flag(#flag, #value);)",
    ),
    ("crates/arguments/src/argv.rs", "pub fn flag("),
    ("codegen/tests/golden/every_kind.yaml", "flag: -m"),
    (
        "tests/suite/arguments.rs",
        "fn a_flags_value_like_an_option_is_joined_to_it(",
    ),
    ("docs/configuration.md", "| `flag` |"),
    ("codegen/src/base_schema.rs", "\"pass_env\""),
    (
        "crates/runtime/src/generated.rs",
        "pub use climax_arguments::argv::Argv;",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

#[test]
fn the_page_quotes_code_that_is_in_the_files_it_names() {
    let page: Vec<&str> = PAGE.split_whitespace().collect();
    let page = page.join(" ");
    for (file, text) in STEPS {
        assert!(page.contains(file), "the page does not name {file}");
        assert!(page.contains(text), "the page does not quote {text:?}");
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

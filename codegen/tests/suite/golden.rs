//! Compares generated code and diagnostics with golden files. `UPDATE_GOLDEN=1 cargo test -p climax-codegen`
//! updates them; review the diff before committing it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use climax_codegen::base_schema::added_fields;
use climax_codegen::compile;
use climax_input::code::{Code, EXPLANATIONS};
use climax_input::draw::render;
use climax_input::source::{Sources, read};

fn sources(folder: &str, name: &Path) -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    // A policy with the same name as the config is baked with it.
    let policy = name.with_extension("policy");
    let policy = Some(policy.as_path()).filter(|policy| root.join(policy).exists());
    match read(&root, &[name.to_path_buf()], policy) {
        Ok(sources) => sources,
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The names of the cases in a folder. Each is a config, or a folder of configs that are compiled together.
fn cases(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut cases: Vec<PathBuf> = fs::read_dir(root)
        .expect("a folder")
        .map(|entry| PathBuf::from(entry.expect("an entry").file_name()))
        .filter(|name| name.extension().is_none_or(|extension| extension == "yaml"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn assert_golden(folder: &str, case: &Path, extension: &str, actual: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let path = root.join(case).with_extension(extension);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, actual).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} differs; actual:\n{actual}",
        path.display()
    );
}

#[test]
fn configs_compile_to_the_expected_code() {
    for case in cases("golden") {
        let sources = sources("golden", &case);
        let compiled = compile(&sources);
        let source = compiled.source;
        let source =
            source.unwrap_or_else(|| panic!("{}", render(&compiled.diagnostics, &sources.all)));
        assert_golden("golden", &case, "rs", &source);
    }
}

#[test]
fn invalid_configs_are_rejected_with_the_expected_errors() {
    for case in cases("rejected") {
        let sources = sources("rejected", &case);
        let compiled = compile(&sources);
        assert!(compiled.source.is_none(), "{} compiles", case.display());
        for diagnostic in &compiled.diagnostics {
            assert!(diagnostic.help.is_some(), "no help: {diagnostic:?}");
        }
        assert_golden(
            "rejected",
            &case,
            "stderr",
            &render(&compiled.diagnostics, &sources.all),
        );
    }
}

#[test]
fn added_fields_are_refused_for_the_base_schema() {
    let sources_of = |case| sources("golden", Path::new(case));
    let sources = sources_of("added_fields.yaml");
    let diagnostics = added_fields(&sources.all);
    let rendered = render(&diagnostics, &sources.all);
    assert_golden("rejected", Path::new("base_schema"), "stderr", &rendered);
    for case in ["every_kind.yaml", "odd_names.yaml"] {
        assert!(added_fields(&sources_of(case).all).is_empty(), "{case}");
    }
}

#[test]
fn questionable_configs_are_accepted_with_the_expected_warnings() {
    for case in cases("warned") {
        let sources = sources("warned", &case);
        let compiled = compile(&sources);
        assert!(compiled.source.is_some(), "{} is rejected", case.display());
        let rendered = render(&compiled.diagnostics, &sources.all);
        assert_golden("warned", &case, "stderr", &rendered);
    }
}

#[test]
fn shipped_configs_compile_without_warnings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = read(&root, &["configs".into()], None).unwrap_or_else(|_| panic!("configs"));
    let compiled = compile(&sources);
    assert_eq!(render(&compiled.diagnostics, &sources.all), "");
}

#[test]
fn every_code_occurs_in_a_golden_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut golden = String::new();
    for folder in ["rejected", "warned"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path
                .extension()
                .is_some_and(|extension| extension == "stderr")
            {
                golden += &fs::read_to_string(path).expect("a file");
            }
        }
    }
    for (code, _) in EXPLANATIONS {
        // Unreadable files cannot be checked in; `climax_input::source` tests them. Policies have their own
        // golden files.
        let is_policy = matches!(*code as u16, 50..=99 | 108..=109);
        if *code != Code::Unreadable && !is_policy {
            let id = code.id();
            assert!(golden.contains(&format!("[{id}]")), "{id} {code:?}");
        }
    }
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    let compile_once = || {
        let sources = sources("golden", Path::new("every_kind.yaml"));
        compile(&sources).source.expect("generated code")
    };
    assert_eq!(compile_once(), compile_once());
}

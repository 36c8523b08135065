//! Bakes which characters are parts of words.

use std::path::PathBuf;
use std::{env, fs};

use regex_syntax::hir::{Class, ClassUnicodeRange, HirKind};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let word = regex_syntax::parse(r"[\p{L}\p{N}_]").expect("a pattern");
    let HirKind::Class(Class::Unicode(word)) = word.kind() else {
        unreachable!("brackets are a class");
    };
    let escaped = |character: char| format!("'{}'", character.escape_unicode());
    let row =
        |row: &ClassUnicodeRange| format!("({},{})", escaped(row.start()), escaped(row.end()));
    let rows: Vec<String> = word.iter().map(row).collect();
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(directory.join("word.rs"), format!("[{}]", rows.join(",")))
        .expect("OUT_DIR can be written");
}

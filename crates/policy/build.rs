//! Writes the character ranges of `\w`, `\d` and `\s` as Rust tables.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use regex_syntax::hir::{Class, HirKind};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    for (name, pattern, description) in [
        // Unlike `regex-syntax`, Python does not count combining marks as word characters.
        ("WORD", r"[\p{L}\p{N}_]", "Word characters"),
        ("DIGIT", r"\d", "Decimal digits"),
        ("SPACE", r"\s", "White space"),
    ] {
        let class = regex_syntax::parse(pattern).expect("the pattern is valid");
        let HirKind::Class(Class::Unicode(class)) = class.kind() else {
            unreachable!("the pattern is a character class");
        };
        let _ = writeln!(
            code,
            "/// {description}: first and last character of each range."
        );
        let _ = write!(code, "static {name}: &[(char, char)] = &[");
        for range in class.iter() {
            let [first, last] = [range.start(), range.end()].map(char::escape_unicode);
            let _ = write!(code, "('{first}','{last}'),");
        }
        code += "];\n";
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(directory.join("classes.rs"), code).expect("OUT_DIR is writable");
}

//! Bakes which characters the classes of patterns stand for.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use regex_syntax::hir::{Class, HirKind};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    for (name, pattern, what) in [
        // Python takes combining marks for no parts of words.
        ("WORD", r"[\p{L}\p{N}_]", "Parts of words"),
        ("DIGIT", r"\d", "Decimal digits"),
        ("SPACE", r"\s", "White space"),
    ] {
        let class = regex_syntax::parse(pattern).expect("a pattern");
        let HirKind::Class(Class::Unicode(class)) = class.kind() else {
            unreachable!("it is a class");
        };
        let _ = writeln!(code, "/// {what}: the first and the last of each row.");
        let _ = write!(code, "static {name}: &[(char, char)] = &[");
        for row in class.iter() {
            let [first, last] = [row.start(), row.end()].map(char::escape_unicode);
            let _ = write!(code, "('{first}','{last}'),");
        }
        code += "];\n";
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(directory.join("classes.rs"), code).expect("OUT_DIR can be written");
}

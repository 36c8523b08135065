//! Turns user text into Rust identifiers that are valid, unique in their scope, and not keywords.

use std::collections::HashSet;
use std::fmt::Write as _;

/// The identifiers that are in use in one scope of the generated code.
#[derive(Default)]
pub(crate) struct IdentifierScope(HashSet<String>);

impl IdentifierScope {
    /// A new name for a type or variant: `git-log` becomes `GitLog`.
    pub(crate) fn type_name(&mut self, text: &str) -> String {
        let camel: String = ascii_words(text)
            .map(|word| word[..1].to_ascii_uppercase() + &word[1..])
            .collect();
        self.unique(camel, "Unnamed")
    }

    /// A new name for a field or module: `max-count` becomes `max_count`.
    pub(crate) fn value_name(&mut self, text: &str) -> String {
        let snake = ascii_words(text)
            .map(|word| word.to_ascii_lowercase())
            .collect::<Vec<_>>()
            .join("_");
        self.unique(snake, "unnamed")
    }

    fn unique(&mut self, name: String, if_empty: &str) -> String {
        let mut name = if name.is_empty() {
            if_empty.to_owned()
        } else {
            name
        };
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            name.insert(0, if if_empty == "Unnamed" { 'N' } else { 'n' });
        }
        if KEYWORDS.contains(&name.as_str()) {
            name.push('_');
        }
        let mut unique = name.clone();
        let mut number = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }
}

/// Splits text into runs of ASCII letters and digits. Other letters become their code points in hexadecimal.
fn ascii_words(text: &str) -> impl Iterator<Item = String> {
    let mut ascii = String::new();
    for character in text.chars() {
        match character {
            _ if character.is_ascii_alphanumeric() => ascii.push(character),
            _ if character.is_alphanumeric() => {
                let _ = write!(ascii, "u{:x}", u32::from(character));
            }
            _ => ascii.push(' '),
        }
    }
    ascii
        .split_ascii_whitespace()
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .into_iter()
}

const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_an_identifier() {
        for (text, type_name, value_name) in [
            ("git-log", "GitLog", "git_log"),
            ("1password", "N1password", "n1password"),
            ("tools", "Tools", "tools"),
            ("self", "Self_", "self_"),
            ("type", "Type", "type_"),
            ("Größe", "Gruf6udfe", "gruf6udfe"),
            ("max_count", "MaxCount", "max_count"),
            ("--", "Unnamed", "unnamed"),
            ("", "Unnamed", "unnamed"),
        ] {
            assert_eq!(IdentifierScope::default().type_name(text), type_name);
            assert_eq!(IdentifierScope::default().value_name(text), value_name);
        }
    }

    #[test]
    fn clashing_names_get_a_number() {
        let mut scope = IdentifierScope::default();
        assert_eq!(scope.type_name("git-log"), "GitLog");
        assert_eq!(scope.type_name("git_log"), "GitLog_2");
        assert_eq!(scope.type_name("git.log"), "GitLog_3");
    }

    #[test]
    fn keywords_become_valid_identifiers() {
        for text in KEYWORDS {
            let mut scope = IdentifierScope::default();
            for name in [scope.type_name(text), scope.value_name(text)] {
                syn::parse_str::<syn::Ident>(&name).expect("an identifier");
            }
        }
    }
}

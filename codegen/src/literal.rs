//! Turns what a catalog holds into Rust literals. They are written as text, because as tokens they would take
//! longer than all the rest.

use std::fmt::Write as _;
use std::hash::Hasher;

use climax_catalog::Tables;
use climax_catalog::baked::BakedValue;
use climax_catalog::rows::Piece;
use phf_shared::{FmtConst, PhfHash};
use proc_macro2::Literal;

/// Writes a value. `is_read` says whether someone may read it.
pub(crate) fn push_value(source: &mut String, value: &BakedValue<'_>, is_read: bool) {
    let _ = match value {
        BakedValue::Text(text) if is_read && text.contains('\n') => {
            write!(source, "Cow::Borrowed({})", lines(text))
        }
        BakedValue::Text(text) => write!(source, "Cow::Borrowed({})", literal(text)),
        BakedValue::Bytes(bytes) => write!(source, "Cow::Borrowed({})", self::bytes(bytes)),
        BakedValue::Table(bytes) => write!(source, "Table::baked({})", self::bytes(bytes)),
        BakedValue::Number(number) => write!(source, "{number}"),
        BakedValue::Flag(flag) => write!(source, "{flag}"),
        BakedValue::Struct(name, fields) => {
            *source += name;
            *source += " {";
            for (field, value) in fields {
                *source += field;
                source.push(':');
                push_value(source, value, is_read);
                source.push(',');
            }
            source.push('}');
            Ok(())
        }
    };
}

/// The perfect hash map from a tool's name to its number. Its keys are pieces of the text.
pub(crate) fn names(tables: &Tables) -> String {
    let mut map = phf_codegen::Map::new();
    map.phf_path("phf");
    for (number, tool) in tables.tools.rows().iter().enumerate() {
        let key = Key {
            name: tool.name.of(&tables.text),
            piece: tool.name,
        };
        map.entry(key, number.to_string());
    }
    map.build().to_string()
}

struct Key<'t> {
    name: &'t str,
    piece: Piece,
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key<'_> {}

impl std::hash::Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PhfHash for Key<'_> {
    fn phf_hash<H: Hasher>(&self, state: &mut H) {
        self.name.phf_hash(state);
    }
}

impl FmtConst for Key<'_> {
    fn fmt_const(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Piece(at, len) = self.piece;
        write!(formatter, "Key({at}, {len})")
    }
}

/// A text as one literal a line, so that a reader finds the lines.
fn lines(text: &str) -> String {
    let parts = text.split_inclusive('\n').flat_map(|line| {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, None), |line| (line, Some("\n")));
        [Some(line), end].into_iter().flatten().map(literal)
    });
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    format!("concat!({})", parts.join(","))
}

/// Bytes as a literal.
fn bytes(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 4 + 3);
    text += "b\"";
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            0 => text += "\\0",
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
                text.extend(['\\', 'x', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    text.push('"');
    text
}

/// JSON reads better in a raw string, if nothing in it has to be escaped (rustc refuses characters
/// that change the direction of writing).
fn literal(text: &str) -> Literal {
    let is_plain = |it: char| matches!(it, '"' | '\'' | '\\') || it.escape_debug().count() == 1;
    if text.contains('"') && !text.contains("\"#") && text.chars().all(is_plain) {
        format!("r#\"{text}\"#")
            .parse()
            .expect("a raw string literal")
    } else {
        Literal::string(text)
    }
}

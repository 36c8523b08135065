//! Writes baked values as Rust literals. They are appended as text: as tokens, they would take longer than
//! the rest of the code generation.

use std::fmt::Write as _;
use std::hash::Hasher;

use climax_catalog::Tables;
use climax_catalog::baked::BakedValue;
use climax_catalog::rows::ByteRange;
use phf_shared::{FmtConst, PhfHash};
use proc_macro2::Literal;

/// Appends a value. If the source gets formatted, texts with several lines are split for readability.
pub(crate) fn push_value(source: &mut String, value: &BakedValue<'_>, is_formatted: bool) {
    let _ = match value {
        BakedValue::Text(text) if is_formatted && text.contains('\n') => {
            write!(source, "Cow::Borrowed({})", concatenated_lines(text))
        }
        BakedValue::Text(text) => write!(source, "Cow::Borrowed({})", string_literal(text)),
        BakedValue::Bytes(bytes) => write!(source, "Cow::Borrowed({})", byte_string_literal(bytes)),
        BakedValue::Table(bytes) => write!(source, "Table::baked({})", byte_string_literal(bytes)),
        BakedValue::Number(number) => write!(source, "{number}"),
        BakedValue::Flag(flag) => write!(source, "{flag}"),
        BakedValue::Struct(name, fields) => {
            *source += name;
            *source += " {";
            for (field, value) in fields {
                *source += field;
                source.push(':');
                push_value(source, value, is_formatted);
                source.push(',');
            }
            source.push('}');
            Ok(())
        }
    };
}

/// The code of the perfect hash map from tool names to tool numbers. The keys are offsets into the text of
/// the tables, because a `&str` would need a relocation.
pub(crate) fn tool_name_map(tables: &Tables) -> String {
    let mut map = phf_codegen::Map::new();
    map.phf_path("phf");
    for (number, tool) in tables.tools.rows().iter().enumerate() {
        let key = PhfKey {
            name: tool.name.of(&tables.text),
            piece: tool.name,
        };
        map.entry(key, number.to_string());
    }
    map.build().to_string()
}

struct PhfKey<'t> {
    name: &'t str,
    piece: ByteRange,
}

impl PartialEq for PhfKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PhfKey<'_> {}

impl std::hash::Hash for PhfKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PhfHash for PhfKey<'_> {
    fn phf_hash<H: Hasher>(&self, state: &mut H) {
        self.name.phf_hash(state);
    }
}

impl FmtConst for PhfKey<'_> {
    fn fmt_const(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ByteRange(offset, length) = self.piece;
        write!(formatter, "NameKey({offset}, {length})")
    }
}

/// `concat!` with a literal for each line.
fn concatenated_lines(text: &str) -> String {
    let parts = text.split_inclusive('\n').flat_map(|line| {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, None), |line| (line, Some("\n")));
        [Some(line), end].into_iter().flatten().map(string_literal)
    });
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    format!("concat!({})", parts.join(","))
}

fn byte_string_literal(bytes: &[u8]) -> String {
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

/// Text with quotes becomes a raw string, in which JSON is easier to read, unless a character needs an escape.
/// For example, rustc refuses characters that change the text direction.
fn string_literal(text: &str) -> Literal {
    let is_plain = |character: char| {
        matches!(character, '"' | '\'' | '\\') || character.escape_debug().count() == 1
    };
    if text.contains('"') && !text.contains("\"#") && text.chars().all(is_plain) {
        format!("r#\"{text}\"#")
            .parse()
            .expect("a raw string literal")
    } else {
        Literal::string(text)
    }
}

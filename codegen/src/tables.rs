//! The tables of the generated code: texts, and rows of offsets into them. They are written as text,
//! because as tokens they would take longer than all the rest.

use std::fmt::{self, Write as _};
use std::hash::Hasher;

use climax_core::index::index;
use climax_core::scalar::Number;
use climax_discovery::Derived;
use phf_shared::{FmtConst, PhfHash};
use proc_macro2::Literal;

use crate::layout::{CliRow, Layout, LimitRow, Piece, Text, ToolRow};
use crate::model::Risk;

/// Writes all tables. `is_read` says whether someone may read them.
pub(crate) fn push_tables(source: &mut String, layout: &Layout, derived: &Derived, is_read: bool) {
    let text = if is_read { pieces } else { whole };
    let haystack = layout.haystack.parts.concat();
    let lines = layout.tools.iter().map(|tool| {
        let start = tool.haystack.at as usize;
        let line = &haystack[start..start + tool.haystack.len as usize];
        (line, tool.name.len as usize)
    });
    let index = index(lines);
    let mut push = |name: &str, kind: &str, value: &dyn fmt::Display| {
        let _ = write!(source, "static {name}: {kind} = {value};");
    };
    push("NAMES", "phf::Map<Key, u32>", &names(layout));
    let clis = layout.clis.iter().map(CliRow::to_string);
    let kind = format!("[Cli; {}]", layout.clis.len());
    push("CLIS", &kind, &list(clis));
    let tools = layout.tools.iter().map(ToolRow::to_string);
    let kind = format!("[Tool; {}]", layout.tools.len());
    push("TOOLS", &kind, &list(tools));
    let limits = layout.limits.iter().map(LimitRow::to_string);
    let kind = format!("[Limit; {}]", layout.limits.len());
    push("LIMITS", &kind, &list(limits));
    let automata = bytes(&layout.automata);
    push("AUTOMATA", "&[u8]", &automata);
    push("TEXT", "&str", &text(&layout.text));
    push("HAYSTACK", "&str", &text(&layout.haystack));
    push("WORDS", "&str", &literal(&index.text));
    push("ROWS", "&[u8]", &bytes(&index.rows));
    push("PLACES", "&[u8]", &bytes(&index.places));
    let Derived { index, tables } = derived;
    push("NOTES", "&str", &literal(&tables.text));
    push("TERMS", "&str", &literal(&index.terms));
    push("RAREST", "u32", &index.rarest);
    for (name, bytes) in [
        ("NOTE_ROWS", &tables.rows),
        ("NOTE_LISTS", &tables.lists),
        ("TERM_ROWS", &index.rows),
        ("POSTINGS", &index.postings),
        ("POSTING_NOTES", &index.notes),
        ("TRIGRAM_ROWS", &index.trigrams.rows),
        ("TRIGRAM_WORDS", &index.trigrams.words),
    ] {
        push(name, "&[u8]", &self::bytes(bytes));
    }
}

fn list(rows: impl Iterator<Item = String>) -> String {
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// The perfect hash map from a tool's name to its number. Its keys are places in the text.
fn names(layout: &Layout) -> String {
    let whole = layout.text.parts.concat();
    let mut map = phf_codegen::Map::new();
    map.phf_path("phf");
    for (number, tool) in layout.tools.iter().enumerate() {
        let start = tool.name.at as usize;
        let key = Key {
            name: &whole[start..start + tool.name.len as usize],
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
        let Piece { at, len } = self.piece;
        write!(formatter, "Key({at}, {len})")
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Piece({}, {})", self.at, self.len)
    }
}

impl fmt::Display for CliRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cli {")?;
        for (name, piece) in [
            ("stem", self.stem),
            ("name", self.name),
            ("name_key", self.name_key),
            ("category_key", self.category_key),
            ("command", self.command),
            ("env", self.env),
            ("working_dir", self.working_dir),
            ("summary_head", self.summary_head),
            ("summary_tail", self.summary_tail),
            ("entry_middle", self.entry_middle),
            ("category", self.category),
            ("tags", self.tags),
            ("description", self.description),
        ] {
            write!(formatter, "{name}: {piece}, ")?;
        }
        let Self {
            first_tool,
            tool_count,
            ..
        } = self;
        write!(
            formatter,
            "first_tool: {first_tool}, tool_count: {tool_count} }}"
        )
    }
}

impl fmt::Display for ToolRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tool {{ cli: {}, ", self.cli)?;
        for (name, piece) in [
            ("name", self.name),
            ("head", self.head),
            ("schema", self.schema),
            ("command", self.command),
            ("haystack", self.haystack),
        ] {
            write!(formatter, "{name}: {piece}, ")?;
        }
        let risk = match self.risk {
            None => "None",
            Some(Risk::Read) => "Some(Risk::Read)",
            Some(Risk::Write) => "Some(Risk::Write)",
            Some(Risk::Destructive) => "Some(Risk::Destructive)",
        };
        let timeout_ms = self.timeout_ms;
        write!(formatter, "timeout_ms: {timeout_ms}, risk: {risk} }}")
    }
}

impl fmt::Display for LimitRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Limit {{ tool: {}, ", self.tool)?;
        for (name, piece) in [
            ("argument", self.argument),
            ("pattern", self.pattern),
            ("automaton", self.automaton),
        ] {
            write!(formatter, "{name}: {piece}, ")?;
        }
        for (name, bound) in [("min", self.min), ("max", self.max)] {
            let bound = number(bound);
            write!(formatter, "{name}: {bound}, ")?;
        }
        let begins_with_dash = self.begins_with_dash;
        write!(formatter, "begins_with_dash: {begins_with_dash} }}")
    }
}

fn number(number: Option<Number>) -> String {
    match number {
        None => "None".to_owned(),
        Some(Number::Integer(integer)) => format!("Some(Number::Integer({integer}))"),
        Some(Number::Float(float)) => {
            format!("Some(Number::Float({}))", Literal::f64_unsuffixed(float))
        }
    }
}

/// A text as one literal a piece, so that a reader finds the pieces.
fn pieces(text: &Text) -> String {
    let parts = text.parts.iter().map(|part| literal(part).to_string());
    format!("concat!({})", parts.collect::<Vec<_>>().join(","))
}

/// A text as one literal, which the compiler reads faster.
fn whole(text: &Text) -> String {
    literal(&text.parts.concat()).to_string()
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

//! Turns a file's text into a tree of YAML nodes that know their place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Location, Spanned};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Span};
use crate::source::Source;

/// A YAML node and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it is written.
    pub span: Span,
    /// What YAML 1.1 takes this unquoted text for, where YAML 1.2 takes it for something else.
    pub old_reading: Option<OldReading>,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order written.
    Map(Vec<(Node, Node)>),
}

impl Value {
    /// The kind of value, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// What YAML 1.1 takes an unquoted scalar for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldReading {
    /// `yes`, `no`, `on`, `off`
    Boolean(bool),
    /// `010`: octal
    Octal,
    /// `12:30`: base 60
    Sexagesimal,
    /// `0b11`, which YAML 1.2 takes for text
    Binary,
    /// `2026-01-31`
    Date,
    /// `0o17` and `1e3`, which YAML 1.2 takes for numbers
    Text,
}

impl fmt::Display for OldReading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Boolean(true) => "the boolean true",
            Self::Boolean(false) => "the boolean false",
            Self::Octal => "an octal number",
            Self::Sexagesimal => "a number in base 60",
            Self::Binary => "a binary number",
            Self::Date => "a date",
            Self::Text => "text",
        })
    }
}

/// Parses the source that has the given number.
///
/// # Errors
/// The first thing that is not YAML, or that would make the document explode.
pub fn parse(number: usize, source: &Source) -> Result<Node, Diagnostic> {
    let options = serde_saphyr::options! {
        // A catalog of 10,000 tools has more nodes than the default budget allows; what protects
        // from alias bombs are the alias limits, which stay.
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            max_aliases: usize::MAX,
            max_merge_keys: usize::MAX,
            max_recorded_anchor_events: 100_000,
            // An argument that all tools share is one anchor with as many aliases.
            enforce_alias_anchor_ratio: false,
        },
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    let written: Written = serde_saphyr::from_str_with_options(&source.text, options)
        .map_err(|error| syntax_error(number, source, &error))?;
    Ok(written.place(number, &source.text))
}

fn syntax_error(number: usize, source: &Source, error: &serde_saphyr::Error) -> Diagnostic {
    use serde_saphyr::Error;
    let location = error.location().unwrap_or(Location::UNKNOWN);
    let start = offset_of(&source.text, location);
    let length = location
        .span()
        .byte_len()
        .map_or(0, |length| usize::try_from(length).unwrap_or(0));
    let span = Span {
        source: number,
        start,
        end: (start + length).min(source.text.len()),
    };
    let described = error.without_snippet().to_string();
    // The place is drawn, so the text needs not say it again.
    let described = described
        .rsplit_once(" at line ")
        .map_or(described.as_str(), |(message, _)| message);
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, .. } => Diagnostic::new(
            Code::DuplicateKey,
            span,
            match key {
                Some(key) => format!("the key `{key}` is given twice"),
                None => "a key is given twice".to_owned(),
            },
        )
        .help("keep one of the two"),
        Error::MultipleDocuments { .. } => Diagnostic::new(
            Code::SeveralDocuments,
            span,
            "a file is one YAML document, and here a second begins",
        )
        .help("move it into a file of its own"),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => aliases_explode(span),
        _ if described.contains("budget breached") => aliases_explode(span),
        _ => Diagnostic::new(Code::Syntax, span, format!("not valid YAML: {described}"))
            .help(syntax_help(described)),
    }
}

/// What most likely has to be done about a message of the YAML parser.
fn syntax_help(described: &str) -> &'static str {
    if described.contains("tab") {
        "indent with spaces: YAML does not allow tabs"
    } else if described.contains("mapping values") {
        "put the text in quotes if it has a `: ` in it"
    } else if described.contains("quoted scalar") {
        "close the quote that was opened in a line before"
    } else if described.contains("block") {
        "begin the lines of one mapping or list in the same column"
    } else if described.contains("anchor") {
        "put the text in quotes if it is meant to begin with `*`"
    } else {
        "see to quotes, brackets and indentation, here and in the lines before"
    }
}

fn aliases_explode(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::AliasBomb,
        span,
        "the document's aliases repeat too much",
    )
    .help("write out what the aliases stand for")
}

/// Some errors know line and column only.
fn offset_of(text: &str, location: Location) -> usize {
    if let Some(offset) = location.span().byte_offset() {
        return usize::try_from(offset).unwrap_or(0).min(text.len());
    }
    let line = usize::try_from(location.line()).unwrap_or(1).max(1);
    let column = usize::try_from(location.column()).unwrap_or(1).max(1);
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let rest = &text[start..];
    let line_end = rest.find('\n').unwrap_or(rest.len());
    let within = rest[..line_end]
        .char_indices()
        .nth(column - 1)
        .map_or(line_end, |(offset, _)| offset);
    start + within
}

/// A node as the parser hands it over.
struct Written {
    value: WrittenValue,
    location: Location,
}

enum WrittenValue {
    Scalar(Value),
    List(Vec<Written>),
    Map(Vec<(Written, Written)>),
}

impl Written {
    fn place(self, number: usize, text: &str) -> Node {
        let start = offset_of(text, self.location);
        let length = self.location.span().byte_len().unwrap_or(0);
        let mut end = (start + usize::try_from(length).unwrap_or(0)).min(text.len());
        let mut old_reading = None;
        let value = match self.value {
            WrittenValue::Scalar(value) => {
                // Where a block scalar ends is of no use to a reader.
                end = start + text[start..end].trim_end().len();
                old_reading = unquoted(text, start, end).and_then(old_reading_of);
                value
            }
            WrittenValue::List(items) => Value::List(
                items
                    .into_iter()
                    .map(|item| item.place(number, text))
                    .collect(),
            ),
            WrittenValue::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (key.place(number, text), value.place(number, text)))
                    .collect(),
            ),
        };
        Node {
            value,
            span: Span {
                source: number,
                start,
                end,
            },
            old_reading,
        }
    }
}

/// The text of a scalar that is neither quoted, nor a block, nor tagged.
fn unquoted(text: &str, start: usize, end: usize) -> Option<&str> {
    // Before it may stand an anchor, and a tag or a block's sign.
    let mut before = text[..start].split_ascii_whitespace().rev();
    let mark = before
        .find(|word| !word.starts_with('&'))
        .unwrap_or_default();
    let is_block = mark.starts_with(['|', '>'])
        && mark[1..]
            .bytes()
            .all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'));
    let is_tag = mark.starts_with('!') && !mark.contains(['"', '\'', ',', '[', ']', '{', '}']);
    let scalar = &text[start..end];
    (!is_block && !is_tag && !scalar.starts_with(['"', '\''])).then_some(scalar)
}

fn old_reading_of(scalar: &str) -> Option<OldReading> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match scalar {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(OldReading::Boolean(true)),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(OldReading::Boolean(false)),
        _ => {}
    }
    let unsigned = scalar.strip_prefix(['-', '+']).unwrap_or(scalar);
    let mut parts = unsigned.split(':');
    if unsigned.contains(':') && parts.all(|part| digits(part.split('.').next().unwrap_or(part))) {
        return Some(OldReading::Sexagesimal);
    }
    if unsigned.len() > 1 && unsigned.starts_with('0') && digits(unsigned) {
        return Some(OldReading::Octal);
    }
    if unsigned
        .strip_prefix("0b")
        .is_some_and(|bits| bits.bytes().all(|byte| matches!(byte, b'0' | b'1' | b'_')))
    {
        return Some(OldReading::Binary);
    }
    let is_octal = unsigned.strip_prefix("0o").is_some_and(digits);
    let is_power = unsigned
        .split_once(['e', 'E'])
        .is_some_and(|(number, power)| {
            digits(number) && digits(power.strip_prefix(['-', '+']).unwrap_or(power))
        });
    if is_octal || is_power {
        return Some(OldReading::Text);
    }
    let mut date = scalar.splitn(3, '-');
    if let (Some(year), Some(month), Some(day)) = (date.next(), date.next(), date.next())
        && year.len() == 4
        && digits(year)
        && digits(month)
        && month.len() <= 2
        && digits(day.get(..2).unwrap_or(day))
    {
        return Some(OldReading::Date);
    }
    None
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<WrittenValue>::deserialize(deserializer)?;
        Ok(Self {
            value: spanned.value,
            location: spanned.defined,
        })
    }
}

impl<'de> Deserialize<'de> for WrittenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}

struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = WrittenValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(Value::Boolean(boolean)))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(Value::Integer(integer)))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 64 bits signed it is no integer here"
    )]
    fn visit_u64<E>(self, integer: u64) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(
            i64::try_from(integer).map_or(Value::Float(integer as f64), Value::Integer),
        ))
    }

    fn visit_f64<E>(self, float: f64) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(Value::Float(float)))
    }

    fn visit_str<E>(self, text: &str) -> Result<WrittenValue, E> {
        Ok(WrittenValue::Scalar(Value::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<WrittenValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(WrittenValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<WrittenValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(WrittenValue::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn parse_text(text: &str) -> Result<Node, Diagnostic> {
        parse(
            0,
            &Source {
                path: "x.yaml".to_owned(),
                stem: "x".to_owned(),
                file_name: "x.yaml".to_owned(),
                text: text.to_owned(),
            },
        )
    }

    fn only_value(text: &str) -> Node {
        match parse_text(text).expect("valid YAML").value {
            Value::Map(mut entries) => entries.remove(0).1,
            other => panic!("not a mapping: {other:?}"),
        }
    }

    #[test]
    fn scalars_that_yaml_1_1_reads_otherwise_are_known() {
        for (text, reading) in [
            ("yes", Some(OldReading::Boolean(true))),
            ("Off", Some(OldReading::Boolean(false))),
            ("010", Some(OldReading::Octal)),
            ("12:30", Some(OldReading::Sexagesimal)),
            ("0b11", Some(OldReading::Binary)),
            ("2026-01-31", Some(OldReading::Date)),
            ("'yes'", None),
            ("\"010\"", None),
            ("!!str yes", None),
            ("|-\n  yes", None),
            ("!!str &z yes", None),
            ("&z yes", Some(OldReading::Boolean(true))),
            ("[\"a !b\", 1] # >", None),
            ("0o17", Some(OldReading::Text)),
            ("1e3", Some(OldReading::Text)),
            ("1.5e3", None),
            ("east", None),
            ("yesterday", None),
            ("localhost:80", None),
            ("10", None),
            ("0", None),
            ("y", None),
        ] {
            assert_eq!(
                only_value(&format!("k: {text}")).old_reading,
                reading,
                "{text}"
            );
        }
    }

    #[test]
    fn a_word_before_a_scalar_is_no_tag_unless_it_is_one() {
        let Value::List(items) = only_value("k: [\"a !b\", yes]").value else {
            panic!("not a list")
        };
        assert_eq!(items[1].old_reading, Some(OldReading::Boolean(true)));
    }

    #[test]
    fn an_anchor_may_be_used_as_often_as_there_are_tools() {
        let mut text = "x-a: &a {name: repo, cwd: true}\nlist:\n".to_owned();
        for _ in 0..10_000 {
            text += "  - {<<: *a, more: [*a]}\n";
        }
        assert!(parse_text(&text).is_ok());
    }

    #[test]
    fn nodes_know_where_they_are_written() {
        let text = "é: &x 'ä'\nb: *x\n";
        let Value::Map(entries) = parse_text(text).expect("valid").value else {
            panic!("not a mapping")
        };
        let slice = |node: &Node| &text[node.span.start..node.span.end];
        assert_eq!(slice(&entries[0].0), "é");
        assert_eq!(slice(&entries[0].1), "'ä'");
        // An alias points at what it stands for: that is the text to correct.
        assert_eq!(slice(&entries[1].1), "'ä'");
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let item = format!("*a{}", level - 1);
            let items = [item.as_str(); 10].join(", ");
            let _ = writeln!(text, "a{level}: &a{level} [{items}]");
        }
        let error = parse_text(&text).expect_err("an alias bomb");
        assert!(error.message.contains("aliases"), "{}", error.message);
    }

    #[test]
    fn what_is_not_yaml_is_refused_with_a_place() {
        for (text, part, start) in [
            ("a:\n\tb: 1\n", "tab", 3),
            ("a: 1\na: 2\n", "`a` is given twice", 5),
            ("a: [1, 2\nb: 3\n", "not valid YAML", 10),
            ("a: *nope\n", "not valid YAML", 3),
        ] {
            let error = parse_text(text).expect_err(text);
            assert!(error.message.contains(part), "{}", error.message);
            let span = error.span.expect("a place");
            assert!(span.start.abs_diff(start) <= 1, "{text:?}: {span:?}");
        }
    }
}

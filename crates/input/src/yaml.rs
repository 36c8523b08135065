//! Turns the text of a source into a tree of YAML nodes with positions.

use std::collections::{HashMap, HashSet};
use std::mem;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span as ParserSpan, StrInput, Tag};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, SourceSpan};
pub use crate::plain::Yaml11Reading;
use crate::plain::{parse_number, resolve_plain_scalar, yaml_1_1_reading};
use crate::source::Source;

/// Nodes that the aliases of a document may expand to. A catalog of 10,000 tools that share arguments stays
/// below it.
const MAX_ALIASED_NODES: usize = 1_000_000;

/// In mappings with more entries, duplicate keys are found by hash.
const MAX_LINEAR_SEARCH_KEYS: usize = 16;

/// A YAML node with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The content.
    pub value: YamlValue,
    /// The position.
    pub span: SourceSpan,
    /// How YAML 1.1 reads this plain scalar, if YAML 1.2 reads it differently.
    pub yaml_1_1_reading: Option<Yaml11Reading>,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    /// An empty node, or `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in source order.
    Map(Vec<(Node, Node)>),
}

impl YamlValue {
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

/// Parses a source. `number` is its index in spans.
///
/// # Errors
/// The first syntax error, byte that is not UTF-8, or alias that expands to too many nodes.
pub fn parse(number: usize, source: &Source) -> Result<Node, Diagnostic> {
    if let Some(start) = source.invalid_utf8_offset {
        let span = SourceSpan {
            source: number,
            start,
            end: start + char::REPLACEMENT_CHARACTER.len_utf8(),
        };
        let message = "this file is not valid UTF-8";
        return Err(Diagnostic::new(Code::Unreadable, span, message).help("save the file as UTF-8"));
    }
    let mut reader = YamlReader {
        number,
        text: &source.text,
        events: Parser::new_from_str(&source.text),
        anchors: HashMap::new(),
        aliased_nodes: 0,
    };
    reader.document()
}

/// Builds nodes from the events of a parser.
struct YamlReader<'t> {
    number: usize,
    text: &'t str,
    events: Parser<'t, StrInput<'t>>,
    /// The node of each anchor, and how many nodes it consists of.
    anchors: HashMap<usize, (Node, usize)>,
    /// The nodes that aliases have expanded to so far.
    aliased_nodes: usize,
}

type YamlResult<T> = Result<T, Diagnostic>;

impl<'t> YamlReader<'t> {
    /// Reads the only document of the source.
    fn document(&mut self) -> YamlResult<Node> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if document.is_some() => {
                    let message =
                        "a file must hold one YAML document, but a second one starts here";
                    return Err(Diagnostic::new(
                        Code::MultipleDocuments,
                        self.source_span(span),
                        message,
                    )
                    .help("move it to a separate file"));
                }
                Event::DocumentStart(..) => {
                    let (event, span) = self.next()?;
                    document = Some(self.node(event, span)?);
                }
                _ => break,
            }
        }
        let empty = Node {
            value: YamlValue::Null,
            span: SourceSpan {
                source: self.number,
                start: 0,
                end: 0,
            },
            yaml_1_1_reading: None,
        };
        Ok(document.unwrap_or(empty))
    }

    fn next(&mut self) -> YamlResult<(Event<'t>, ParserSpan)> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.syntax_error(&error)),
            None => Ok((Event::StreamEnd, ParserSpan::default())),
        }
    }

    fn node(&mut self, event: Event<'t>, span: ParserSpan) -> YamlResult<Node> {
        let span = self.source_span(span);
        let (anchor, node) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(&text, style, tag.as_deref(), span)?)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "seq", span)?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => items.push(self.node(event, span)?),
                    }
                }
                (anchor, collection(YamlValue::List(items), span))
            }
            Event::MappingStart(_, anchor, tag) => {
                check_collection_tag(tag.as_deref(), "map", span)?;
                let entries = self.entries()?;
                (anchor, collection(YamlValue::Map(entries), span))
            }
            _ => {
                let message = "not valid YAML: a value is missing";
                return Err(Diagnostic::new(Code::Syntax, span, message).help(syntax_help("")));
            }
        };
        if anchor > 0 {
            let nodes = count_nodes(&node);
            self.anchors.insert(anchor, (node.clone(), nodes));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, span: SourceSpan) -> YamlResult<Node> {
        let Some((node, nodes)) = self.anchors.get(&anchor) else {
            let message = "this alias refers to a node that contains it";
            return Err(Diagnostic::new(Code::AliasBomb, span, message)
                .help("write the value out instead of using the alias"));
        };
        self.aliased_nodes += nodes;
        if self.aliased_nodes > MAX_ALIASED_NODES {
            let message = "the aliases of this document expand to more than 1,000,000 nodes";
            return Err(Diagnostic::new(Code::AliasBomb, span, message)
                .help("write the values out, or nest fewer aliases"));
        }
        Ok(node.clone())
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        mut span: SourceSpan,
    ) -> YamlResult<Node> {
        let is_plain = style == ScalarStyle::Plain;
        // The span of a block scalar includes the blank lines after it.
        span.end = span.start + self.text[span.start..span.end].trim_end().len();
        let value = match tag {
            None if is_plain => resolve_plain_scalar(text),
            None => YamlValue::Text(text.to_owned()),
            Some(tag) => resolve_tagged_scalar(text, tag).ok_or_else(|| unknown_tag(tag, span))?,
        };
        Ok(Node {
            value,
            span,
            yaml_1_1_reading: if is_plain && tag.is_none() {
                yaml_1_1_reading(text)
            } else {
                None
            },
        })
    }

    /// Reads the entries of a mapping: its own, followed by merged ones.
    fn entries(&mut self) -> YamlResult<Vec<(Node, Node)>> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut merged: Option<Node> = None;
        loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd, _) => break,
                other => other,
            };
            let is_merge = matches!(
                &event,
                Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<"
            );
            let key = self.node(event, span)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span)?;
            if is_merge {
                if merged.is_some() {
                    return Err(duplicate_key_error(&key));
                }
                merged = Some(value);
            } else {
                entries.push((key, value));
            }
        }
        if let Some(key) = duplicate_key(&entries) {
            return Err(duplicate_key_error(key));
        }
        if let Some(merged) = merged {
            merge(&mut entries, merged)?;
        }
        Ok(entries)
    }

    fn source_span(&self, span: ParserSpan) -> SourceSpan {
        let range = span.byte_range().unwrap_or_default();
        let start = range.start.min(self.text.len());
        SourceSpan {
            source: self.number,
            start,
            end: range.end.clamp(start, self.text.len()),
        }
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let start = error.marker().byte_offset().unwrap_or_default();
        let start = start.min(self.text.len());
        let span = SourceSpan {
            source: self.number,
            start,
            end: start,
        };
        let reason = error.info();
        Diagnostic::new(Code::Syntax, span, format!("not valid YAML: {reason}"))
            .help(syntax_help(&reason))
    }
}

/// Creates a node for a collection. Its span is the start only, so that messages mark one position.
fn collection(value: YamlValue, span: SourceSpan) -> Node {
    let end = span.start;
    Node {
        value,
        span: SourceSpan { end, ..span },
        yaml_1_1_reading: None,
    }
}

fn count_nodes(node: &Node) -> usize {
    1 + match &node.value {
        YamlValue::List(items) => items.iter().map(count_nodes).sum(),
        YamlValue::Map(entries) => entries
            .iter()
            .map(|(key, value)| count_nodes(key) + count_nodes(value))
            .sum(),
        _ => 0,
    }
}

/// Resolves a scalar by its tag; `None` if the tag is unknown or does not fit the text.
fn resolve_tagged_scalar(text: &str, tag: &Tag) -> Option<YamlValue> {
    let has_tag = |name: &str| tag.is_yaml_core_schema_tag(name);
    if has_tag("str") {
        Some(YamlValue::Text(text.to_owned()))
    } else if has_tag("int") {
        parse_number(text).filter(|value| matches!(value, YamlValue::Integer(_)))
    } else if has_tag("float") {
        parse_number(text)
    } else if has_tag("bool") {
        Some(resolve_plain_scalar(text)).filter(|value| matches!(value, YamlValue::Boolean(_)))
    } else if has_tag("null") {
        Some(resolve_plain_scalar(text)).filter(|value| matches!(value, YamlValue::Null))
    } else {
        None
    }
}

fn check_collection_tag(tag: Option<&Tag>, name: &str, span: SourceSpan) -> YamlResult<()> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(name) => Err(unknown_tag(tag, span)),
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, span: SourceSpan) -> Diagnostic {
    let message = format!("the tag `{tag}` is not supported here");
    Diagnostic::new(Code::Syntax, span, message).help("remove the tag: no value needs one")
}

fn duplicate_key_error(key: &Node) -> Diagnostic {
    let message = match &key.value {
        YamlValue::Text(key) => format!("the key `{key}` is given twice"),
        _ => "a key is given twice".to_owned(),
    };
    Diagnostic::new(Code::DuplicateKey, key.span, message).help("remove one of the two")
}

/// The first key that repeats an earlier one.
fn duplicate_key(entries: &[(Node, Node)]) -> Option<&Node> {
    let keys = || entries.iter().map(|(key, _)| key);
    if entries.len() <= MAX_LINEAR_SEARCH_KEYS {
        let mut indexed = keys().enumerate();
        let is_duplicate = |(index, key): &(usize, &Node)| {
            keys()
                .take(*index)
                .any(|earlier| earlier.value == key.value)
        };
        return indexed.find(is_duplicate).map(|(_, key)| key);
    }
    let mut seen = HashSet::new();
    keys().find(|key| match &key.value {
        YamlValue::Text(text) => !seen.insert(text.as_str()),
        other => keys().filter(|key| key.value == *other).count() > 1,
    })
}

/// Adds the entries of one or more merged mappings, except those whose key is already present.
fn merge(entries: &mut Vec<(Node, Node)>, merged: Node) -> YamlResult<()> {
    let mappings = match merged.value {
        YamlValue::List(items) => items,
        _ => vec![merged],
    };
    for mapping in mappings {
        let YamlValue::Map(merged_entries) = mapping.value else {
            let kind = mapping.value.kind();
            let message = format!("`<<` merges mappings, but this is {kind}");
            return Err(Diagnostic::new(Code::Syntax, mapping.span, message)
                .help("write `<<: *name`, where `&name` marks a mapping"));
        };
        let own = mem::take(entries);
        let is_new = |key: &Node| !own.iter().any(|(own, _)| own.value == key.value);
        let new: Vec<_> = merged_entries
            .into_iter()
            .filter(|(key, _)| is_new(key))
            .collect();
        entries.extend(own.into_iter().chain(new));
    }
    Ok(())
}

/// The most likely fix for a syntax error, by the message of the YAML parser.
fn syntax_help(reason: &str) -> &'static str {
    if reason.contains("tab") {
        "indent with spaces: YAML does not allow tabs"
    } else if reason.contains("mapping values") {
        "put text that contains `: ` in quotes"
    } else if reason.contains("quoted scalar") {
        "close the quote that was opened on an earlier line"
    } else if reason.contains("block") {
        "start all entries of a mapping or list in the same column"
    } else if reason.contains("anchor") {
        "define the anchor, or put text that starts with `*` in quotes"
    } else {
        "check quotes, brackets and indentation here and on the lines above"
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
                invalid_utf8_offset: None,
            },
        )
    }

    fn only_value(text: &str) -> Node {
        match parse_text(text).expect("valid YAML").value {
            YamlValue::Map(mut entries) => entries.remove(0).1,
            other => panic!("not a mapping: {other:?}"),
        }
    }

    #[test]
    fn only_plain_untagged_scalars_are_ambiguous() {
        for (text, reading) in [
            ("yes", Some(Yaml11Reading::Boolean(true))),
            ("&z yes", Some(Yaml11Reading::Boolean(true))),
            ("'yes'", None),
            ("\"010\"", None),
            ("!!str yes", None),
            ("|-\n  yes", None),
            ("!!str &z yes", None),
            ("[\"a !b\", 1] # >", None),
        ] {
            let node = only_value(&format!("k: {text}"));
            assert_eq!(node.yaml_1_1_reading, reading, "{text}");
        }
    }

    #[test]
    fn an_exclamation_mark_in_a_quoted_item_does_not_tag_the_next_item() {
        let YamlValue::List(items) = only_value("k: [\"a !b\", yes]").value else {
            panic!("not a list")
        };
        assert_eq!(
            items[1].yaml_1_1_reading,
            Some(Yaml11Reading::Boolean(true))
        );
    }

    #[test]
    fn a_comment_before_a_plain_scalar_does_not_hide_its_ambiguity() {
        for comment in ["# see !note", "# x >", "# |", "# &a"] {
            let node = only_value(&format!("k: {comment}\n  017"));
            assert_eq!(
                node.yaml_1_1_reading,
                Some(Yaml11Reading::Octal),
                "{comment}"
            );
        }
    }

    #[test]
    fn own_entries_take_precedence_over_merged_ones_and_earlier_merges_over_later_ones() {
        let text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 5}\n";
        let YamlValue::Map(mut entries) = parse_text(text).expect("valid").value else {
            panic!("not a mapping")
        };
        let Some((
            _,
            Node {
                value: YamlValue::Map(merged),
                ..
            },
        )) = entries.pop()
        else {
            panic!("not a mapping")
        };
        let merged: Vec<(YamlValue, YamlValue)> = merged
            .into_iter()
            .map(|(key, value)| (key.value, value.value))
            .collect();
        let entry = |key: &str, value| (YamlValue::Text(key.to_owned()), YamlValue::Integer(value));
        assert_eq!(merged, [entry("x", 5), entry("y", 2), entry("z", 4)]);
    }

    #[test]
    fn tags_and_quotes_determine_the_type_of_a_scalar() {
        for (text, value) in [
            ("!!str 5", YamlValue::Text("5".to_owned())),
            ("!!float 5", YamlValue::Integer(5)),
            ("!!null ''", YamlValue::Null),
            ("\"5\"", YamlValue::Text("5".to_owned())),
            ("5", YamlValue::Integer(5)),
        ] {
            assert_eq!(only_value(&format!("k: {text}")).value, value, "{text}");
        }
    }

    #[test]
    fn an_anchor_may_be_used_by_10_000_tools() {
        let mut text = "x-a: &a {name: repo, cwd: true}\nlist:\n".to_owned();
        for _ in 0..10_000 {
            text += "  - {<<: *a, more: [*a]}\n";
        }
        assert!(parse_text(&text).is_ok());
    }

    #[test]
    fn nodes_have_the_positions_of_their_text() {
        let text = "é: &x 'ä'\nb: *x\n";
        let YamlValue::Map(entries) = parse_text(text).expect("valid").value else {
            panic!("not a mapping")
        };
        let slice = |node: &Node| &text[node.span.start..node.span.end];
        assert_eq!(slice(&entries[0].0), "é");
        assert_eq!(slice(&entries[0].1), "'ä'");
        // An alias has the span of its anchor, because that is the text to correct.
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
    fn invalid_yaml_is_refused_with_its_position() {
        for (text, part, start) in [
            ("a:\n\tb: 1\n", "tab", 3),
            ("a: 1\na: 2\n", "`a` is given twice", 5),
            ("a: [1, 2\nb: 3\n", "not valid YAML", 10),
            ("a: *nope\n", "not valid YAML", 3),
            (
                "a: &a {b: 1}\nc: {<<: *a, <<: *a}\n",
                "`<<` is given twice",
                26,
            ),
            ("a: {<<: 1}\n", "`<<` merges mappings", 8),
            ("a: &a [*a]\n", "a node that contains it", 7),
            ("a: !b c\n", "is not supported here", 6),
        ] {
            let error = parse_text(text).expect_err(text);
            assert!(error.message.contains(part), "{}", error.message);
            let span = error.span.expect("a position");
            assert!(span.start.abs_diff(start) <= 1, "{text:?}: {span:?}");
        }
    }
}

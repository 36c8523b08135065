//! Turns a file's text into a tree of YAML nodes that know their place.

use std::collections::{HashMap, HashSet};
use std::mem;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span as ParserSpan, StrInput, Tag};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, SourceSpan};
pub use crate::plain::Yaml11Reading;
use crate::plain::{number, value, yaml_1_1_reading};
use crate::source::Source;

/// How many nodes aliases may stand for. A catalog of 10,000 tools that share arguments has less.
const MOST_ALIASED: usize = 1_000_000;

/// In mappings of more entries, keys are compared by their hash.
const FEW: usize = 16;

/// A YAML node and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: YamlValue,
    /// Where it is written.
    pub span: SourceSpan,
    /// What YAML 1.1 takes this unquoted text for, where YAML 1.2 takes it for something else.
    pub yaml_1_1_reading: Option<Yaml11Reading>,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
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

/// Parses the source that has the given number.
///
/// # Errors
/// The first thing that is not text or not YAML, or that would make the document explode.
pub fn parse(number: usize, source: &Source) -> Result<Node, Diagnostic> {
    if let Some(start) = source.not_text {
        let span = SourceSpan {
            source: number,
            start,
            end: start + char::REPLACEMENT_CHARACTER.len_utf8(),
        };
        let message = "this is not UTF-8 text";
        return Err(Diagnostic::new(Code::Unreadable, span, message).help("save the file as UTF-8"));
    }
    let mut reader = YamlReader {
        number,
        text: &source.text,
        events: Parser::new_from_str(&source.text),
        anchors: HashMap::new(),
        aliased: 0,
    };
    reader.document()
}

/// Reads nodes from the events of a parser.
struct YamlReader<'t> {
    number: usize,
    text: &'t str,
    events: Parser<'t, StrInput<'t>>,
    /// What aliases stand for, and how many nodes that is.
    anchors: HashMap<usize, (Node, usize)>,
    /// How many nodes aliases have stood for so far.
    aliased: usize,
}

type Read<T> = Result<T, Diagnostic>;

impl<'t> YamlReader<'t> {
    /// The one document that a file is.
    fn document(&mut self) -> Read<Node> {
        let mut document = None;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if document.is_some() => {
                    let message = "a file is one YAML document, and here a second begins";
                    return Err(
                        Diagnostic::new(Code::SeveralDocuments, self.span(place), message)
                            .help("move it into a file of its own"),
                    );
                }
                Event::DocumentStart(..) => {
                    let (event, place) = self.next()?;
                    document = Some(self.node(event, place)?);
                }
                _ => break,
            }
        }
        let nothing = Node {
            value: YamlValue::Null,
            span: SourceSpan {
                source: self.number,
                start: 0,
                end: 0,
            },
            yaml_1_1_reading: None,
        };
        Ok(document.unwrap_or(nothing))
    }

    fn next(&mut self) -> Read<(Event<'t>, ParserSpan)> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.syntax_error(&error)),
            None => Ok((Event::StreamEnd, ParserSpan::default())),
        }
    }

    fn node(&mut self, event: Event<'t>, place: ParserSpan) -> Read<Node> {
        let span = self.span(place);
        let (anchor, node) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(&text, style, tag.as_deref(), span)?)
            }
            Event::SequenceStart(_, anchor, tag) => {
                no_tag(tag.as_deref(), "seq", span)?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, place) => items.push(self.node(event, place)?),
                    }
                }
                (anchor, collection(YamlValue::List(items), span))
            }
            Event::MappingStart(_, anchor, tag) => {
                no_tag(tag.as_deref(), "map", span)?;
                let entries = self.entries()?;
                (anchor, collection(YamlValue::Map(entries), span))
            }
            _ => {
                let message = "not valid YAML: something is missing";
                return Err(Diagnostic::new(Code::Syntax, span, message).help(syntax_help("")));
            }
        };
        if anchor > 0 {
            let count = count(&node);
            self.anchors.insert(anchor, (node.clone(), count));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, span: SourceSpan) -> Read<Node> {
        let Some((node, count)) = self.anchors.get(&anchor) else {
            let message = "an alias stands within what it stands for";
            return Err(Diagnostic::new(Code::AliasBomb, span, message)
                .help("write out what the alias stands for"));
        };
        self.aliased += count;
        if self.aliased > MOST_ALIASED {
            let message = "the document's aliases repeat too much";
            return Err(Diagnostic::new(Code::AliasBomb, span, message)
                .help("write out what the aliases stand for"));
        }
        Ok(node.clone())
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        mut span: SourceSpan,
    ) -> Read<Node> {
        let is_plain = style == ScalarStyle::Plain;
        // Where a block scalar ends is of no use to a reader.
        span.end = span.start + self.text[span.start..span.end].trim_end().len();
        let value = match tag {
            None if is_plain => value(text),
            None => YamlValue::Text(text.to_owned()),
            Some(tag) => tagged(text, tag).ok_or_else(|| unknown_tag(tag, span))?,
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

    /// The entries of a mapping, those of merged ones after its own.
    fn entries(&mut self) -> Read<Vec<(Node, Node)>> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut merged: Option<Node> = None;
        loop {
            let (event, place) = match self.next()? {
                (Event::MappingEnd, _) => break,
                other => other,
            };
            let is_merge = matches!(
                &event,
                Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<"
            );
            let key = self.node(event, place)?;
            let (event, place) = self.next()?;
            let value = self.node(event, place)?;
            if is_merge {
                if merged.is_some() {
                    return Err(duplicate(&key));
                }
                merged = Some(value);
            } else {
                entries.push((key, value));
            }
        }
        if let Some(key) = second(&entries) {
            return Err(duplicate(key));
        }
        if let Some(merged) = merged {
            merge(&mut entries, merged)?;
        }
        Ok(entries)
    }

    fn span(&self, place: ParserSpan) -> SourceSpan {
        let range = place.byte_range().unwrap_or_default();
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
        let described = error.info();
        Diagnostic::new(Code::Syntax, span, format!("not valid YAML: {described}"))
            .help(syntax_help(&described))
    }
}

/// A collection's place is where it begins.
fn collection(value: YamlValue, span: SourceSpan) -> Node {
    let end = span.start;
    Node {
        value,
        span: SourceSpan { end, ..span },
        yaml_1_1_reading: None,
    }
}

fn count(node: &Node) -> usize {
    1 + match &node.value {
        YamlValue::List(items) => items.iter().map(count).sum(),
        YamlValue::Map(entries) => entries
            .iter()
            .map(|(key, value)| count(key) + count(value))
            .sum(),
        _ => 0,
    }
}

/// What a scalar with a tag stands for, if it can.
fn tagged(text: &str, tag: &Tag) -> Option<YamlValue> {
    let is = |name: &str| tag.is_yaml_core_schema_tag(name);
    if is("str") {
        Some(YamlValue::Text(text.to_owned()))
    } else if is("int") {
        number(text).filter(|it| matches!(it, YamlValue::Integer(_)))
    } else if is("float") {
        number(text)
    } else if is("bool") {
        Some(value(text)).filter(|it| matches!(it, YamlValue::Boolean(_)))
    } else if is("null") {
        Some(value(text)).filter(|it| matches!(it, YamlValue::Null))
    } else {
        None
    }
}

fn no_tag(tag: Option<&Tag>, name: &str, span: SourceSpan) -> Read<()> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(name) => Err(unknown_tag(tag, span)),
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, span: SourceSpan) -> Diagnostic {
    let message = format!("the tag `{tag}` does not fit here");
    Diagnostic::new(Code::Syntax, span, message).help("remove it: nothing here needs a tag")
}

fn duplicate(key: &Node) -> Diagnostic {
    let message = match &key.value {
        YamlValue::Text(key) => format!("the key `{key}` is given twice"),
        _ => "a key is given twice".to_owned(),
    };
    Diagnostic::new(Code::DuplicateKey, key.span, message).help("keep one of the two")
}

/// The first key that was there before.
fn second(entries: &[(Node, Node)]) -> Option<&Node> {
    let keys = || entries.iter().map(|(key, _)| key);
    if entries.len() <= FEW {
        let mut numbered = keys().enumerate();
        let is_second = |(number, key): &(usize, &Node)| {
            keys().take(*number).any(|before| before.value == key.value)
        };
        return numbered.find(is_second).map(|(_, key)| key);
    }
    let mut seen = HashSet::new();
    keys().find(|key| match &key.value {
        YamlValue::Text(text) => !seen.insert(text.as_str()),
        other => keys().filter(|key| key.value == *other).count() > 1,
    })
}

/// Adds the entries of one mapping or several that a mapping does not have itself.
fn merge(entries: &mut Vec<(Node, Node)>, merged: Node) -> Read<()> {
    let several = match merged.value {
        YamlValue::List(items) => items,
        _ => vec![merged],
    };
    for mapping in several {
        let YamlValue::Map(more) = mapping.value else {
            let kind = mapping.value.kind();
            let message = format!("`<<` takes in mappings, and this is {kind}");
            return Err(Diagnostic::new(Code::Syntax, mapping.span, message)
                .help("write `<<: *name` of a mapping that is marked with `&name`"));
        };
        let own = mem::take(entries);
        let is_new = |key: &Node| !own.iter().any(|(own, _)| own.value == key.value);
        let more: Vec<_> = more.into_iter().filter(|(key, _)| is_new(key)).collect();
        entries.extend(own.into_iter().chain(more));
    }
    Ok(())
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
                not_text: None,
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
    fn only_what_is_neither_quoted_nor_tagged_can_be_read_in_two_ways() {
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
    fn a_word_before_a_scalar_is_no_tag_unless_it_is_one() {
        let YamlValue::List(items) = only_value("k: [\"a !b\", yes]").value else {
            panic!("not a list")
        };
        assert_eq!(
            items[1].yaml_1_1_reading,
            Some(Yaml11Reading::Boolean(true))
        );
    }

    #[test]
    fn a_comment_before_a_scalar_hides_nothing() {
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
    fn a_mappings_own_entries_count_before_merged_ones_and_those_before_later_ones() {
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
    fn tags_and_quotes_say_what_a_scalar_is() {
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
        let YamlValue::Map(entries) = parse_text(text).expect("valid").value else {
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
            (
                "a: &a {b: 1}\nc: {<<: *a, <<: *a}\n",
                "`<<` is given twice",
                26,
            ),
            ("a: {<<: 1}\n", "`<<` takes in mappings", 8),
            ("a: &a [*a]\n", "within what it stands for", 7),
            ("a: !b c\n", "does not fit here", 6),
        ] {
            let error = parse_text(text).expect_err(text);
            assert!(error.message.contains(part), "{}", error.message);
            let span = error.span.expect("a place");
            assert!(span.start.abs_diff(start) <= 1, "{text:?}: {span:?}");
        }
    }
}

//! One tool in a response of the suite.

use std::fmt::Write as _;

use climax_catalog::tables::Tool;
use climax_core::risk::Risk;
use climax_discovery::index::Field;
use climax_discovery::notes::Note;
use climax_discovery::rank::{Asked, Way};
use climax_discovery::tokens::{Tokeniser, words};
use memchr::memmem;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::preview;
use crate::catalog::selection::Selection;
use crate::registration::CALL;
use crate::search::ranked::{Confidence, Found, Match, thousandths};

/// More reasons than this tell nothing new.
const MOST_REASONS: usize = 6;

/// What of a tool is told, besides what always is.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) schema: bool,
    /// How many examples.
    pub(super) examples: usize,
}

/// The fields of a tool that do not depend on a query.
#[derive(Serialize)]
pub(super) struct ToolFields {
    tool_id: &'static str,
    pub(super) description: &'static str,
    pub(super) name: &'static str,
    cli_name: &'static str,
    category: Option<&'static str>,
    tags: Vec<&'static str>,
    tool_type: &'static str,
    complexity: &'static str,
    when_to_use: String,
    parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<Vec<Example>>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    required: bool,
}

/// A call of a tool: the request, and the command line that it becomes.
#[derive(Serialize)]
pub(super) struct Example {
    tool: &'static str,
    arguments: CallArguments,
    command_line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

/// The arguments of a `climax_call`.
#[derive(Serialize)]
struct CallArguments {
    tool_name: &'static str,
    args: Map<String, Value>,
}

/// How well a tool fits a query.
#[derive(Serialize)]
pub(super) struct Fit {
    pub(super) score: f64,
    pub(super) confidence_level: &'static str,
    pub(super) match_reasons: Vec<String>,
}

impl ToolFields {
    pub(super) fn new(selection: &Selection, number: u32, tool: &Tool, parts: Parts) -> Self {
        let note = selection.discovery().notes.of(number);
        let cli = selection.cli_of(tool);
        let name = selection.text(tool.name);
        let arguments = selection.tables.arguments.rows().slice(tool.arguments);
        let parameters = arguments.iter().map(|argument| Parameter {
            name: selection.text(argument.name),
            kind: argument.kind.name(),
            required: argument.required,
        });
        let parameters: Vec<Parameter> = parameters.collect();
        let has_examples = parts.examples > 0;
        Self {
            tool_id: name,
            description: selection.text(tool.description),
            name,
            cli_name: selection.text(cli.name),
            category: cli.category.map(|category| selection.text(category)),
            tags: selection.tables.list(cli.tags).collect(),
            tool_type: note.tool_type.name(),
            complexity: note.complexity.name(),
            when_to_use: when_to_use(selection, tool, &note, &parameters),
            parameters,
            input_schema: parts.schema.then(|| selection.schema(tool)),
            examples: has_examples.then(|| examples(selection, number, tool, parts.examples)),
        }
    }
}

/// Calls that a tool takes.
pub(super) fn examples(
    selection: &Selection,
    number: u32,
    tool: &Tool,
    most: usize,
) -> Vec<Example> {
    let calls = example_calls(selection, number, tool).take(most);
    let examples = calls.filter_map(|args| {
        let preview = preview(selection, number, tool, &args)?;
        Some(Example {
            tool: CALL,
            arguments: CallArguments {
                tool_name: selection.text(tool.name),
                args,
            },
            command_line: preview.command_line,
            stdin: preview.stdin,
            directory: preview.directory,
        })
    });
    examples.collect()
}

/// The arguments of calls that a tool takes.
pub(super) fn example_calls(
    selection: &Selection,
    number: u32,
    tool: &Tool,
) -> impl Iterator<Item = Map<String, Value>> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let notes = &selection.discovery().notes;
    notes
        .examples(notes.of(number).examples)
        .map(move |values| {
            let named = values.map(|(argument, value)| {
                let name = selection.text(arguments.get(argument).name);
                (name.to_owned(), value.json())
            });
            named.collect()
        })
}

/// What the tool does, in the config's own words, what it needs, and what it may do.
fn when_to_use(
    selection: &Selection,
    tool: &Tool,
    note: &Note,
    parameters: &[Parameter],
) -> String {
    let mut text = selection.text(tool.description)[..note.sentence as usize].to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    let required = parameters.iter().filter(|parameter| parameter.required);
    let required: Vec<String> = required.map(|it| format!("'{}'", it.name)).collect();
    if !required.is_empty() {
        let _ = write!(text, " Needs {}.", required.join(", "));
    }
    text += match tool.risk {
        Some(Risk::Destructive) => " May destroy something.",
        Some(Risk::Write) => " Changes something.",
        Some(Risk::Read) => " Only looks.",
        None => "",
    };
    text
}

impl Fit {
    pub(super) fn new(selection: &Selection, found: &Found, it: &Match) -> Self {
        Self {
            score: thousandths(it.score),
            confidence_level: Confidence::of(it.score).name(),
            match_reasons: reasons(selection, found, it),
        }
    }
}

/// What of the query the tool has, and where.
pub(super) fn reasons(selection: &Selection, found: &Found, it: &Match) -> Vec<String> {
    let ranking = selection.discovery().index.ranking(selection.tools().len());
    let mut reasons = Vec::new();
    if it.is_named {
        reasons.push("the query is its name".to_owned());
    }
    for asked in &found.ranked.asked {
        if reasons.len() >= MOST_REASONS {
            break;
        }
        let marks = ranking.marks(asked.row, it.number);
        let term = ranking.term(asked.row);
        if let Some(place) = place(selection, &it.tool, marks, term) {
            let told = told(selection, &it.tool, asked, term);
            // An argument may be named by the very word.
            reasons.push(match place.strip_suffix(" has") {
                Some(argument) if argument.ends_with(&told) => argument.to_owned(),
                _ => format!("{place} {told}"),
            });
        }
    }
    reasons
}

/// Where a term is, the place that says most.
fn place(selection: &Selection, tool: &Tool, marks: u8, term: &str) -> Option<String> {
    const PLACES: [(Field, &str); 7] = [
        (Field::Name, "name has"),
        (Field::Cli, "CLI is"),
        (Field::Description, "description has"),
        (
            Field::ArgumentDescription,
            "the description of an argument has",
        ),
        (Field::Tag, "tag has"),
        (Field::Category, "category has"),
        (Field::CliDescription, "the CLI's description has"),
    ];
    if Field::Argument.is_in(marks) && !Field::Name.is_in(marks) {
        let has_term = |name: &str| {
            let mut has_term = false;
            words(name, |word| has_term |= is_form(word, term));
            has_term
        };
        let arguments = selection.tables.arguments.rows().slice(tool.arguments);
        let mut names = arguments.iter().map(|it| selection.text(it.name));
        if let Some(name) = names.find(|name| has_term(name)) {
            return Some(format!("argument '{name}' has"));
        }
    }
    let place = PLACES.iter().find(|(field, _)| field.is_in(marks));
    place.map(|(_, text)| (*text).to_owned())
}

/// The word of the tool, and the query's if that is another one.
fn told(selection: &Selection, tool: &Tool, asked: &Asked, term: &str) -> String {
    let word = &asked.word;
    let has_word = |text: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if asked.way == Way::Known && tool_texts(selection, tool).into_iter().any(has_word) {
        return format!("'{word}'");
    }
    match (asked.way, spelled(selection, tool, word, term)) {
        (Way::Known, own) => format!("'{}'", own.as_deref().unwrap_or(word)),
        (Way::Meant, Some(own)) => format!("'{own}' (for '{word}')"),
        (Way::Alike, Some(own)) => format!("'{own}' (like '{word}')"),
        (Way::Meant | Way::Alike, None) => format!("a word like '{word}'"),
    }
}

/// The word of a tool that has a term: the query's own if it is there.
pub(super) fn spelled(
    selection: &Selection,
    tool: &Tool,
    word: &str,
    term: &str,
) -> Option<String> {
    let mut texts = tool_texts(selection, tool);
    texts.push(selection.text(selection.cli_of(tool).description));
    texts.into_iter().find_map(|text| {
        let mut found: Option<String> = None;
        words(text, |own| {
            let is_better = found.is_none() || own == word;
            if is_better && is_form(own, term) {
                found = Some(own.to_owned());
            }
        });
        found
    })
}

/// What is said about a tool: its line in the search text, and its arguments.
fn tool_texts(selection: &Selection, tool: &Tool) -> Vec<&'static str> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let arguments = arguments.iter().flat_map(|it| [it.name, it.description]);
    let line = tool.haystack.of(&selection.tables.haystack);
    let texts = arguments.map(|piece| selection.text(piece));
    [line].into_iter().chain(texts).collect()
}

/// Whether a word has a term.
fn is_form(word: &str, term: &str) -> bool {
    // A word's beginning stays when the stem is taken, and most words need not be looked at.
    let same = word.as_bytes().first() == term.as_bytes().first();
    same && Tokeniser::default().stem(word) == term
}

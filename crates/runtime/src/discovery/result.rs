//! Builds the JSON fields that describe one tool in a response.

use std::fmt::Write as _;

use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, assumed_risk};
use climax_discovery::index::Field;
use climax_discovery::notes::Note;
use climax_discovery::rank::{MatchKind, QueryTerm};
use climax_discovery::tokens::{TermStemmer, for_each_word};
use memchr::memmem;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::preview;
use crate::catalog::selection::Selection;
use crate::search::ranked::{Confidence, RankedMatch, RankedMatches, round_score};

/// The maximum number of match reasons. More of them add nothing for the reader.
const MAX_REASONS: usize = 6;

/// The optional fields of [`ToolFields`].
#[derive(Clone, Copy)]
pub(super) struct OptionalFields {
    pub(super) schema: bool,
    pub(super) max_examples: usize,
}

/// The fields of a tool that are the same for every query.
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
    examples: Option<Vec<ExampleCall>>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    required: bool,
}

/// An example call: the request and its command line.
#[derive(Serialize)]
pub(super) struct ExampleCall {
    tool: &'static str,
    arguments: CallArguments,
    command_line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

/// The arguments of `climax_call`.
#[derive(Serialize)]
struct CallArguments {
    tool_name: &'static str,
    args: Map<String, Value>,
}

/// The fields of a result that say how well it matches the query.
#[derive(Serialize)]
pub(super) struct MatchFields {
    pub(super) score: f64,
    pub(super) confidence_level: &'static str,
    pub(super) match_reasons: Vec<String>,
}

impl ToolFields {
    pub(super) fn new(
        selection: &Selection,
        number: u32,
        tool: &ToolRow,
        optional: OptionalFields,
    ) -> Self {
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
        let has_examples = optional.max_examples > 0;
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
            input_schema: optional.schema.then(|| selection.input_schema(tool)),
            examples: has_examples
                .then(|| example_calls(selection, number, tool, optional.max_examples)),
        }
    }
}

/// Example calls of a tool.
pub(super) fn example_calls(
    selection: &Selection,
    number: u32,
    tool: &ToolRow,
    max_examples: usize,
) -> Vec<ExampleCall> {
    let all_args = example_args(selection, number, tool).take(max_examples);
    let examples = all_args.filter_map(|args| {
        let preview = preview(selection, number, tool, &args)?;
        Some(ExampleCall {
            tool: selection.call_tools.name(assumed_risk(tool.risk)),
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

/// The arguments of a tool's example calls.
pub(super) fn example_args(
    selection: &Selection,
    number: u32,
    tool: &ToolRow,
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

/// The first sentence of the description, the required arguments and the risk.
fn when_to_use(
    selection: &Selection,
    tool: &ToolRow,
    note: &Note,
    parameters: &[Parameter],
) -> String {
    let mut text =
        selection.text(tool.description)[..note.first_sentence_length as usize].to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    let required = parameters.iter().filter(|parameter| parameter.required);
    let required: Vec<String> = required
        .map(|parameter| format!("'{}'", parameter.name))
        .collect();
    if !required.is_empty() {
        let _ = write!(text, " Needs {}.", required.join(", "));
    }
    text += match tool.risk {
        Some(Risk::Destructive) => " May destroy data.",
        Some(Risk::Write) => " Makes changes.",
        Some(Risk::Read) => " Read-only.",
        None => "",
    };
    text
}

impl MatchFields {
    pub(super) fn new(selection: &Selection, matches: &RankedMatches, found: &RankedMatch) -> Self {
        Self {
            score: round_score(found.score),
            confidence_level: Confidence::from_score(found.score).name(),
            match_reasons: match_reasons(selection, matches, found),
        }
    }
}

/// Which terms of the query the tool matches, and in which field.
pub(super) fn match_reasons(
    selection: &Selection,
    matches: &RankedMatches,
    found: &RankedMatch,
) -> Vec<String> {
    let index = selection
        .discovery()
        .index
        .term_index(selection.tools().len());
    let mut reasons = Vec::new();
    if found.is_exact_name {
        reasons.push("the query is its name".to_owned());
    }
    for query_term in &matches.ranked.terms {
        if reasons.len() >= MAX_REASONS {
            break;
        }
        let field_mask = index.field_mask(query_term.row, found.number);
        let term = index.term(query_term.row);
        if let Some(field) = field_phrase(selection, &found.tool, field_mask, term) {
            let word = word_phrase(selection, &found.tool, query_term, term);
            // Avoids "argument 'path' has 'path'".
            reasons.push(match field.strip_suffix(" has") {
                Some(argument) if argument.ends_with(&word) => argument.to_owned(),
                _ => format!("{field} {word}"),
            });
        }
    }
    reasons
}

/// Describes the most significant field of a tool that has a term. `field_mask` are the fields that have it.
fn field_phrase(
    selection: &Selection,
    tool: &ToolRow,
    field_mask: u8,
    term: &str,
) -> Option<String> {
    const BY_SIGNIFICANCE: [(Field, &str); 7] = [
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
    if Field::Argument.is_in(field_mask) && !Field::Name.is_in(field_mask) {
        let has_term = |name: &str| {
            let mut has_term = false;
            for_each_word(name, |word| has_term |= is_form_of(word, term));
            has_term
        };
        let arguments = selection.tables.arguments.rows().slice(tool.arguments);
        let mut names = arguments
            .iter()
            .map(|argument| selection.text(argument.name));
        if let Some(name) = names.find(|name| has_term(name)) {
            return Some(format!("argument '{name}' has"));
        }
    }
    let mut phrases = BY_SIGNIFICANCE.iter();
    let phrase = phrases.find(|(field, _)| field.is_in(field_mask));
    phrase.map(|(_, phrase)| (*phrase).to_owned())
}

/// Quotes the tool's form of a term, and the query's word if it was a typo or is only similar.
fn word_phrase(
    selection: &Selection,
    tool: &ToolRow,
    query_term: &QueryTerm,
    term: &str,
) -> String {
    let word = &query_term.word;
    let has_word = |text: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if query_term.match_kind == MatchKind::Exact
        && tool_texts(selection, tool).into_iter().any(has_word)
    {
        return format!("'{word}'");
    }
    match (
        query_term.match_kind,
        word_for_term(selection, tool, word, term),
    ) {
        (MatchKind::Exact, own) => format!("'{}'", own.as_deref().unwrap_or(word)),
        (MatchKind::Correction, Some(own)) => format!("'{own}' (for '{word}')"),
        (MatchKind::Similar, Some(own)) => format!("'{own}' (like '{word}')"),
        (MatchKind::Correction | MatchKind::Similar, None) => format!("a word like '{word}'"),
    }
}

/// Finds a word in a tool's texts whose stem is the term. Prefers the query's word.
pub(super) fn word_for_term(
    selection: &Selection,
    tool: &ToolRow,
    query_word: &str,
    term: &str,
) -> Option<String> {
    let mut texts = tool_texts(selection, tool);
    texts.push(selection.text(selection.cli_of(tool).description));
    texts.into_iter().find_map(|text| {
        let mut found: Option<String> = None;
        for_each_word(text, |word| {
            let is_better = found.is_none() || word == query_word;
            if is_better && is_form_of(word, term) {
                found = Some(word.to_owned());
            }
        });
        found
    })
}

/// The tool's line in the search text, and the names and descriptions of its arguments.
fn tool_texts(selection: &Selection, tool: &ToolRow) -> Vec<&'static str> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let arguments = arguments
        .iter()
        .flat_map(|argument| [argument.name, argument.description]);
    let line = tool.haystack.of(&selection.tables.haystack);
    let texts = arguments.map(|piece| selection.text(piece));
    [line].into_iter().chain(texts).collect()
}

/// Whether the stem of the word is the term.
fn is_form_of(word: &str, term: &str) -> bool {
    // Stemming keeps the first letter. Comparing it first avoids stemming most words.
    let has_same_start = word.as_bytes().first() == term.as_bytes().first();
    has_same_start && TermStemmer::default().stem(word) == term
}

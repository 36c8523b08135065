//! Builds the JSON fields that describe one tool in a response.

use std::fmt::Write as _;

use climax_catalog::facts::ExampleValue;
use climax_catalog::tables::{ArgumentRow, ToolRow};
use climax_core::risk::{Risk, assumed_risk};
use climax_core::scalar::ValueShape;
use climax_discovery::notes::Note;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::preview::preview;
use crate::catalog::selection::Selection;
use crate::search::ranked::{Confidence, RankedMatch, RankedMatches, round_score};
use crate::search::reasons::match_reasons;

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
pub(crate) struct ExampleCall {
    tool: &'static str,
    pub(crate) arguments: ExampleArguments,
    pub(crate) command_line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stdin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
}

/// The arguments of `climax_call`.
#[derive(Serialize)]
pub(crate) struct ExampleArguments {
    tool_name: &'static str,
    pub(crate) args: Map<String, Value>,
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
            kind: argument.shape.type_name(argument.kind),
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
pub(crate) fn example_calls(
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
            arguments: ExampleArguments {
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
            let mut args = Map::new();
            for value in values {
                let number = u32::try_from(value.argument).expect("a row has 32 bits");
                insert_value(&mut args, selection, &arguments.get(number), value);
            }
            args
        })
}

/// Adds a value of an example to the arguments of a call.
fn insert_value(
    args: &mut Map<String, Value>,
    selection: &Selection,
    argument: &ArgumentRow,
    value: ExampleValue<'_>,
) {
    let name = selection.text(argument.name).to_owned();
    let json = value.value.json();
    match (argument.shape, value.key) {
        (ValueShape::List, _) => {
            let items = args
                .entry(name)
                .or_insert_with(|| Vec::<Value>::new().into());
            items.as_array_mut().expect("made above").push(json);
        }
        (ValueShape::Map, Some(key)) => {
            let entries = args.entry(name).or_insert_with(|| Map::new().into());
            let entries = entries.as_object_mut().expect("made above");
            entries.insert(key.into_owned(), json);
        }
        _ => {
            args.insert(name, json);
        }
    }
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
            match_reasons: match_reasons(selection, &matches.ranked.words, found),
        }
    }
}

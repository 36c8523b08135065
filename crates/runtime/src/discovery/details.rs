//! `get_tool_details`: turns the names of tools into full descriptions of them.

use climax_discovery::notes::Notes;
use climax_discovery::rank::RankingMode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::request::RequestArguments;
use super::result::{ExampleCall, OptionalFields, ToolFields, example_calls};
use super::{LookupError, LookupRefusal, LookupResponse, ResponseFooter, to_json};
use crate::catalog::selection::Selection;
use crate::search::offered_tools;
use crate::search::ranked::{RankedMatch, find_ranked};

/// The tool's name.
pub(super) const NAME: &str = "get_tool_details";

/// The maximum number of names that are suggested for an unknown one.
const MAX_SUGGESTIONS: usize = 3;
const MAX_EXAMPLES: usize = 2;
const FIND_A_TOOL: &str = "Find a tool with search_mcp_tools";

/// The response about one name.
#[derive(Serialize)]
#[serde(untagged)]
enum DetailsResult {
    Found(Box<ToolDetails>),
    Unknown(LookupError),
}

#[derive(Serialize)]
struct ToolDetails {
    tool_id: &'static str,
    #[serde(rename = "tool_details")]
    fields: ToolFields,
    included_sections: IncludedSections,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_examples: Option<Vec<ExampleCall>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relationships: Option<Relationships>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_guidance: Option<UsageGuidance>,
    #[serde(flatten)]
    footer: ResponseFooter,
}

/// The optional sections of a response.
#[derive(Clone, Copy, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "one for each section")]
struct IncludedSections {
    schema: bool,
    examples: bool,
    relationships: bool,
    usage_guidance: bool,
}

/// The names of related tools.
#[derive(Serialize)]
struct Relationships {
    alternatives: Vec<&'static str>,
    complementary: Vec<&'static str>,
    prerequisites: Vec<&'static str>,
}

#[derive(Serialize)]
struct UsageGuidance {
    best_practices: Vec<String>,
    common_pitfalls: Vec<String>,
}

pub(super) fn respond(selection: &Selection, mut arguments: Map<String, Value>) -> LookupResponse {
    // `climax_call` has `tool_name`, so agents send it here too.
    if !arguments.contains_key("tool_id")
        && let Some(name) = arguments.remove("tool_name")
    {
        arguments.insert("tool_id".to_owned(), name);
    }
    let is_list = arguments.get("tool_id").is_some_and(Value::is_array);
    let mut arguments = RequestArguments::new(arguments);
    let names = arguments.names("tool_id");
    let sections = IncludedSections {
        schema: arguments.flag("include_schema"),
        examples: arguments.flag("include_examples"),
        relationships: arguments.flag("include_relationships"),
        usage_guidance: arguments.flag("include_usage_guidance"),
    };
    if names.is_empty() && arguments.problems.is_empty() {
        arguments
            .problems
            .push("tool_id cannot be empty".to_owned());
        arguments.suggestions.push(FIND_A_TOOL.to_owned());
    }
    let subject = names.join(", ");
    if !arguments.problems.is_empty() {
        let refusal = LookupRefusal {
            tool: NAME,
            arguments,
            context: subject,
        };
        return refusal.into_response();
    }
    let results: Vec<DetailsResult> = names
        .iter()
        .map(|name| details(selection, name, sections))
        .collect();
    let is_found = |result: &&DetailsResult| matches!(result, DetailsResult::Found(_));
    let found_count = results.iter().filter(is_found).count();
    let json = match results.as_slice() {
        [result] if !is_list => to_json(result),
        results => to_json(&results),
    };
    LookupResponse {
        json,
        is_error: found_count == 0,
        subject,
        result_count: found_count,
    }
}

fn details(selection: &Selection, name: &str, sections: IncludedSections) -> DetailsResult {
    let Some((number, tool)) = selection.find_tool(name.trim()) else {
        return DetailsResult::Unknown(unknown_tool(selection, name));
    };
    // These are sections of their own.
    let optional = OptionalFields {
        schema: false,
        max_examples: 0,
    };
    let notes = &selection.discovery().notes;
    let usage_examples = || example_calls(selection, number, &tool, MAX_EXAMPLES);
    DetailsResult::Found(Box::new(ToolDetails {
        tool_id: selection.text(tool.name),
        fields: ToolFields::new(selection, number, &tool, optional),
        included_sections: sections,
        parameter_schema: sections.schema.then(|| selection.input_schema(&tool)),
        usage_examples: sections.examples.then(usage_examples),
        relationships: sections
            .relationships
            .then(|| relationships(selection, notes, number)),
        usage_guidance: sections
            .usage_guidance
            .then(|| usage_guidance(notes, number)),
        footer: ResponseFooter::now(),
    }))
}

fn relationships(selection: &Selection, notes: &Notes, number: u32) -> Relationships {
    let note = notes.of(number);
    let offered_names = |list| {
        let tools = notes.related(list).iter();
        let names = tools.map(|number| selection.text(selection.tools().get(number).name));
        names
            .filter(|name| selection.find_tool(name).is_some())
            .collect()
    };
    Relationships {
        alternatives: offered_names(note.alternatives),
        complementary: offered_names(note.complementary),
        prerequisites: offered_names(note.prerequisites),
    }
}

fn usage_guidance(notes: &Notes, number: u32) -> UsageGuidance {
    let note = notes.of(number);
    let sentences = |list| notes.sentences(list).map(str::to_owned).collect();
    UsageGuidance {
        best_practices: sentences(note.best_practices),
        common_pitfalls: sentences(note.common_pitfalls),
    }
}

fn unknown_tool(selection: &Selection, name: &str) -> LookupError {
    let suggestions: Vec<String> = similar_names(selection, name)
        .into_iter()
        .map(|similar| format!("{NAME} {}", json!({"tool_id": similar})))
        .collect();
    let suggestions = if suggestions.is_empty() {
        vec![FIND_A_TOOL.to_owned()]
    } else {
        suggestions
    };
    let message = format!("Tool '{name}' not found");
    LookupError::new(NAME, message, name, suggestions)
}

fn best_matches(selection: &Selection, query: &str) -> Vec<RankedMatch> {
    let offered = offered_tools(selection, None);
    let is_offered = |tool| offered.contains(tool);
    let mode = RankingMode::Hybrid;
    find_ranked(selection, query, mode, MAX_SUGGESTIONS, is_offered).best
}

/// The names of tools within the edit distance, then of tools that match the words of the unknown name.
pub(crate) fn similar_names(selection: &Selection, unknown_name: &str) -> Vec<&'static str> {
    let mut names = selection.names_similar_to(unknown_name);
    for found in best_matches(selection, unknown_name) {
        let name = selection.text(found.tool.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MAX_SUGGESTIONS);
    names
}

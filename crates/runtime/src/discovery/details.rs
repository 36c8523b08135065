//! `get_tool_details`: all about a tool, or about several.

use climax_discovery::notes::Notes;
use climax_discovery::rank::RankingMode;
use climax_discovery::tokens::normalised_name;
use climax_discovery::trigrams::edit_distance;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::request::Request;
use super::result::{Example, Parts, ToolFields, examples};
use super::{Answered, End, ErrorResponse, Refusal, to_json};
use crate::catalog::selection::Selection;
use crate::search::offered_in;
use crate::search::ranked::find;

/// The tool's name.
pub(super) const NAME: &str = "get_tool_details";

/// How many names are told in place of one that there is not.
const NEAREST: usize = 3;
/// By how many letters a name may be off.
const MOST_LETTERS: u8 = 2;
/// How many examples are told.
const EXAMPLES: usize = 2;

/// A response about one tool.
#[derive(Serialize)]
#[serde(untagged)]
enum Details {
    Found(Box<KnownTool>),
    Unknown(ErrorResponse),
}

#[derive(Serialize)]
struct KnownTool {
    tool_id: &'static str,
    tool_details: ToolFields,
    included_sections: Sections,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_examples: Option<Vec<Example>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relationships: Option<Relationships>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_guidance: Option<Guidance>,
    #[serde(flatten)]
    end: End,
}

/// The sections of a response, and whether they are wanted.
#[derive(Clone, Copy, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "one for each section")]
struct Sections {
    schema: bool,
    examples: bool,
    relationships: bool,
    usage_guidance: bool,
}

/// The names of tools that go with a tool.
#[derive(Serialize)]
struct Relationships {
    alternatives: Vec<&'static str>,
    complementary: Vec<&'static str>,
    prerequisites: Vec<&'static str>,
}

#[derive(Serialize)]
struct Guidance {
    best_practices: Vec<String>,
    common_pitfalls: Vec<String>,
}

pub(super) fn answer(selection: &Selection, mut arguments: Map<String, Value>) -> Answered {
    // What the other tools call it.
    if !arguments.contains_key("tool_id")
        && let Some(name) = arguments.remove("tool_name")
    {
        arguments.insert("tool_id".to_owned(), name);
    }
    let is_list = arguments.get("tool_id").is_some_and(Value::is_array);
    let mut request = Request::new(arguments);
    let ids = request.names("tool_id");
    let sections = Sections {
        schema: request.flag("include_schema"),
        examples: request.flag("include_examples"),
        relationships: request.flag("include_relationships"),
        usage_guidance: request.flag("include_usage_guidance"),
    };
    if ids.is_empty() && request.problems.is_empty() {
        request.problems.push("tool_id cannot be empty".to_owned());
        request
            .suggestions
            .push("Find one with search_mcp_tools".to_owned());
    }
    let about = ids.join(", ");
    if !request.problems.is_empty() {
        let refusal = Refusal {
            tool: NAME,
            request,
            context: about,
        };
        return refusal.answered();
    }
    let all: Vec<Details> = ids
        .iter()
        .map(|id| details(selection, id, sections))
        .collect();
    let is_found = |details: &&Details| matches!(details, Details::Found(_));
    let results = all.iter().filter(is_found).count();
    let json = match all.as_slice() {
        [details] if !is_list => to_json(details),
        all => to_json(&all),
    };
    Answered {
        json,
        is_error: results == 0,
        about,
        results,
    }
}

fn details(selection: &Selection, id: &str, sections: Sections) -> Details {
    let Some((number, tool)) = selection.find(id.trim()) else {
        return Details::Unknown(unknown(selection, id));
    };
    let parts = Parts {
        schema: false,
        examples: 0,
    };
    let notes = &selection.discovery().notes;
    let usage_examples = || examples(selection, number, &tool, EXAMPLES);
    Details::Found(Box::new(KnownTool {
        tool_id: selection.text(tool.name),
        tool_details: ToolFields::new(selection, number, &tool, parts),
        included_sections: sections,
        parameter_schema: sections.schema.then(|| selection.schema(&tool)),
        usage_examples: sections.examples.then(usage_examples),
        relationships: sections
            .relationships
            .then(|| relationships(selection, notes, number)),
        usage_guidance: sections.usage_guidance.then(|| guidance(notes, number)),
        end: End::now(),
    }))
}

fn relationships(selection: &Selection, notes: &Notes, number: u32) -> Relationships {
    let note = notes.of(number);
    // Of those that are offered.
    let names = |list| {
        let tools = notes.related(list).iter();
        let names = tools.map(|number| selection.text(selection.tools().get(number).name));
        names
            .filter(|name| selection.find(name).is_some())
            .collect()
    };
    Relationships {
        alternatives: names(note.alternatives),
        complementary: names(note.complementary),
        prerequisites: names(note.prerequisites),
    }
}

fn guidance(notes: &Notes, number: u32) -> Guidance {
    let note = notes.of(number);
    let sentences = |list| notes.sentences(list).map(str::to_owned).collect();
    Guidance {
        best_practices: sentences(note.best_practices),
        common_pitfalls: sentences(note.common_pitfalls),
    }
}

fn unknown(selection: &Selection, id: &str) -> ErrorResponse {
    let suggestions: Vec<String> = nearest(selection, id)
        .into_iter()
        .map(|name| format!("{NAME} {}", json!({"tool_id": name})))
        .collect();
    let suggestions = if suggestions.is_empty() {
        vec!["Find one with search_mcp_tools".to_owned()]
    } else {
        suggestions
    };
    let message = format!("Tool '{id}' not found");
    ErrorResponse::new(NAME, message, id, suggestions)
}

/// The names of tools that are written nearly so, and then of those that fit the words in it.
fn nearest(selection: &Selection, id: &str) -> Vec<&'static str> {
    let wanted = normalised_name(id);
    let mut near: Vec<(u8, &'static str)> = Vec::new();
    let tools = selection
        .clis()
        .flat_map(|cli| selection.tools_of(&cli).iter());
    for tool in tools {
        let name = selection.text(tool.name);
        let distance = edit_distance(&wanted, &name.to_ascii_lowercase(), MOST_LETTERS);
        near.extend(distance.map(|distance| (distance, name)));
    }
    // Stable: ties stay in catalog order.
    near.sort_by_key(|(distance, _)| *distance);
    let mut names: Vec<&'static str> = near.into_iter().map(|(_, name)| name).collect();
    let offered = offered_in(selection, None);
    let fitting = find(selection, id, RankingMode::Hybrid, NEAREST, |tool| {
        offered.contains(tool)
    });
    for it in fitting.best {
        let name = selection.text(it.tool.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(NEAREST);
    names
}

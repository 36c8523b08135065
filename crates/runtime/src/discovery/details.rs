//! `get_tool_details`: all about a tool, or about several.

use climax_discovery::rank::Mode;
use climax_discovery::tables::Record;
use climax_discovery::tokens::key;
use climax_discovery::trigrams::distance;
use serde_json::{Map, Value, json};

use super::json::Json;
use super::request::Request;
use super::result::{Parts, push_examples, push_tool};
use super::{Answered, finish, push_error, refuse};
use crate::catalog::Tool;
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

/// The sections of an answer: their names, and what is said about a tool in them.
const SECTIONS: [(&str, Push); 4] = [
    ("schema", push_schema),
    ("examples", push_usage_examples),
    ("relationships", push_relationships),
    ("usage_guidance", push_guidance),
];

/// Adds a section.
type Push = fn(&mut Json, &Selection, &Known<'_>);

/// A tool, and what follows for it.
struct Known<'k> {
    number: u32,
    tool: &'k Tool,
    record: Record<'k>,
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
    let sections = SECTIONS.map(|(name, _)| request.flag(&format!("include_{name}")));
    if ids.is_empty() && request.problems.is_empty() {
        request.problems.push("tool_id cannot be empty".to_owned());
        request
            .suggestions
            .push("Find one with search_mcp_tools".to_owned());
    }
    let about = ids.join(", ");
    if !request.problems.is_empty() {
        return refuse(NAME, &request, Some(&about));
    }
    let mut json = Json::default();
    let mut results = 0;
    if is_list {
        json.open('[');
    }
    for id in &ids {
        results += usize::from(push_details(&mut json, selection, id, sections));
    }
    if is_list {
        json.close(']');
    }
    Answered {
        json: json.0,
        is_error: results == 0,
        about,
        results,
    }
}

/// Returns whether there is such a tool.
fn push_details(
    json: &mut Json,
    selection: &Selection,
    id: &str,
    sections: [bool; SECTIONS.len()],
) -> bool {
    let records = selection.discovery().records();
    let found = selection.find(id.trim());
    let known = found.and_then(|(number, tool)| {
        let record = records.record(number)?;
        Some(Known {
            number,
            tool,
            record,
        })
    });
    let Some(known) = known else {
        push_unknown(json, selection, id);
        return false;
    };
    json.open('{');
    json.key("tool_id");
    json.plain(selection.text(known.tool.name));
    json.key("tool_details");
    json.open('{');
    let parts = Parts {
        schema: false,
        examples: 0,
    };
    push_tool(
        json,
        selection,
        (known.number, known.tool),
        &known.record,
        parts,
    );
    json.close('}');
    json.key("included_sections");
    json.open('{');
    for ((name, _), is_included) in SECTIONS.iter().zip(sections) {
        json.raw_field(name, if is_included { "true" } else { "false" });
    }
    json.close('}');
    for ((_, push), is_included) in SECTIONS.iter().zip(sections) {
        if is_included {
            push(json, selection, &known);
        }
    }
    finish(json);
    true
}

fn push_schema(json: &mut Json, selection: &Selection, known: &Known<'_>) {
    json.raw_field("parameter_schema", selection.text(known.tool.schema));
}

fn push_usage_examples(json: &mut Json, selection: &Selection, known: &Known<'_>) {
    json.key("usage_examples");
    push_examples(
        json,
        selection,
        (known.number, known.tool),
        &known.record,
        EXAMPLES,
    );
}

fn push_relationships(json: &mut Json, selection: &Selection, known: &Known<'_>) {
    let record = &known.record;
    json.key("relationships");
    json.open('{');
    push_tools(json, selection, "alternatives", record.alternatives());
    push_tools(json, selection, "complementary", record.complementary());
    push_tools(json, selection, "prerequisites", record.prerequisites());
    json.close('}');
}

fn push_guidance(json: &mut Json, _: &Selection, known: &Known<'_>) {
    json.key("usage_guidance");
    json.open('{');
    push_sentences(json, "best_practices", known.record.best_practices());
    push_sentences(json, "common_pitfalls", known.record.common_pitfalls());
    json.close('}');
}

/// The names of tools, of those that are offered.
fn push_tools(json: &mut Json, selection: &Selection, key: &str, tools: impl Iterator<Item = u32>) {
    json.key(key);
    json.open('[');
    for number in tools {
        let tool = selection.catalog.tools.get(number as usize);
        let name = tool.map_or("", |tool| selection.text(tool.name));
        if selection.find(name).is_some() {
            json.plain(name);
        }
    }
    json.close(']');
}

fn push_sentences<'t>(json: &mut Json, key: &str, sentences: impl Iterator<Item = &'t str>) {
    json.key(key);
    json.open('[');
    for sentence in sentences {
        json.raw(sentence);
    }
    json.close(']');
}

fn push_unknown(json: &mut Json, selection: &Selection, id: &str) {
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
    push_error(json, NAME, &message, Some(id), &suggestions);
}

/// The names of tools that are written nearly so, and then of those that fit the words in it.
fn nearest(selection: &Selection, id: &str) -> Vec<&'static str> {
    let wanted = key(id);
    let mut near: Vec<(u8, &'static str)> = Vec::new();
    for tool in selection.clis().flat_map(|cli| selection.tools_of(cli)) {
        let name = selection.text(tool.name);
        let distance = distance(&wanted, &name.to_ascii_lowercase(), MOST_LETTERS);
        near.extend(distance.map(|distance| (distance, name)));
    }
    // Stable: ties stay in catalog order.
    near.sort_by_key(|(distance, _)| *distance);
    let mut names: Vec<&'static str> = near.into_iter().map(|(_, name)| name).collect();
    let offered = offered_in(selection, None);
    let fitting = find(selection, id, Mode::Hybrid, NEAREST, |tool| {
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

//! One tool in an answer, put together from what was baked.

use std::fmt::Write as _;

use climax_core::pieces::{description_in_head, unquoted};
use climax_discovery::index::Field;
use climax_discovery::rank::{Asked, Way};
use climax_discovery::tables::Record;
use climax_discovery::tokens::{Tokeniser, words};
use memchr::memmem;
use serde_json::Value;

use super::json::Json;
use crate::call::shown;
use crate::catalog::selection::Selection;
use crate::catalog::{Risk, Tool};
use crate::search::ranked::{Confidence, Found, Match};
use crate::service::CALL;

/// More reasons than this tell nothing new.
const MOST_REASONS: usize = 6;

/// What of a tool is told, besides what always is.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) schema: bool,
    /// How many examples.
    pub(super) examples: usize,
}

/// The fields of a tool that do not depend on a query, without the brackets around them.
pub(super) fn push_tool(
    json: &mut Json,
    selection: &Selection,
    (number, tool): (u32, &Tool),
    record: &Record<'_>,
    parts: Parts,
) {
    let name = selection.text(tool.name);
    json.raw_field("tool_id", selection.text(tool.head));
    json.key("name");
    json.plain(name);
    if let Some(cli) = selection.catalog.clis.get(tool.cli as usize) {
        let middle = selection.text(cli.entry_middle);
        // It begins with a comma, and ends with the key of the schema.
        let (fields, _) = middle.rsplit_once(',').unwrap_or_default();
        json.0 += fields;
    }
    json.key("tool_type");
    json.plain(record.tool_type.name());
    json.key("complexity");
    json.plain(record.complexity.name());
    json.key("when_to_use");
    json.plain(&when_to_use(selection, tool, record));
    json.key("parameters");
    json.open('[');
    for parameter in record.parameters() {
        json.open('{');
        json.key("name");
        json.plain(parameter.name);
        json.key("type");
        json.plain(parameter.kind.name());
        json.raw_field(
            "required",
            if parameter.required { "true" } else { "false" },
        );
        json.close('}');
    }
    json.close(']');
    if parts.schema {
        json.raw_field("input_schema", selection.text(tool.schema));
    }
    if parts.examples > 0 {
        json.key("examples");
        push_examples(json, selection, (number, tool), record, parts.examples);
    }
}

/// Calls of a tool: the request, and the command line that it becomes.
pub(super) fn push_examples(
    json: &mut Json,
    selection: &Selection,
    (number, tool): (u32, &Tool),
    record: &Record<'_>,
    most: usize,
) {
    json.open('[');
    for args in record.examples().take(most) {
        let Ok(Value::Object(arguments)) = serde_json::from_str(&unquoted(args)) else {
            continue;
        };
        let Some(shown) = shown(selection, number, tool, &arguments) else {
            continue;
        };
        json.open('{');
        json.key("tool");
        json.plain(CALL);
        json.key("arguments");
        push_call(json, selection, tool, args);
        json.field("command_line", &shown.command_line);
        if let Some(stdin) = &shown.stdin {
            json.field("stdin", stdin);
        }
        if let Some(directory) = &shown.directory {
            json.field("directory", directory);
        }
        json.close('}');
    }
    json.close(']');
}

/// The arguments of a `climax_call`.
pub(super) fn push_call(json: &mut Json, selection: &Selection, tool: &Tool, args: &str) {
    json.open('{');
    json.key("tool_name");
    json.plain(selection.text(tool.name));
    json.raw_field("args", args);
    json.close('}');
}

/// What the tool does, in the config's own words, what it needs, and what it may do.
fn when_to_use(selection: &Selection, tool: &Tool, record: &Record<'_>) -> String {
    let head = selection.text(tool.head);
    let start = description_in_head(selection.text(tool.name));
    let mut text = head
        .get(start..start + record.sentence)
        .unwrap_or_default()
        .to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    let required = record.parameters().filter(|parameter| parameter.required);
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
    text.trim_start().to_owned()
}

/// How well a tool fits, and why.
pub(super) fn push_fit(
    json: &mut Json,
    selection: &Selection,
    found: &Found,
    it: &Match,
    record: &Record<'_>,
) {
    json.raw_field("score", &format!("{:.3}", it.score));
    json.key("confidence_level");
    json.plain(Confidence::of(it.score).name());
    let reasons = reasons(selection, found, it, record);
    json.texts("match_reasons", reasons.iter().map(String::as_str));
}

/// What of the query the tool has, and where.
pub(super) fn reasons(
    selection: &Selection,
    found: &Found,
    it: &Match,
    record: &Record<'_>,
) -> Vec<String> {
    let ranking = selection.discovery().ranking(selection.catalog.tools.len());
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
        if let Some(place) = place(marks, term, record) {
            let told = told(selection, it.tool, asked, term);
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
fn place(marks: u8, term: &str, record: &Record<'_>) -> Option<String> {
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
        if let Some(parameter) = record.parameters().find(|it| has_term(it.name)) {
            return Some(format!("argument '{}' has", parameter.name));
        }
    }
    let place = PLACES.iter().find(|(field, _)| field.is_in(marks));
    place.map(|(_, text)| (*text).to_owned())
}

/// The word of the tool, and the query's if that is another one.
fn told(selection: &Selection, tool: &Tool, asked: &Asked, term: &str) -> String {
    let word = &asked.word;
    let has_word = |text: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    let texts = [
        tool.haystack.of(selection.catalog.haystack),
        selection.text(tool.schema),
    ];
    if asked.way == Way::Known && texts.into_iter().any(has_word) {
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
    let cli = selection.catalog.clis.get(tool.cli as usize);
    let texts = [
        tool.haystack.of(selection.catalog.haystack),
        selection.text(tool.schema),
        cli.map_or("", |cli| selection.text(cli.description)),
    ];
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

/// Whether a word has a term.
fn is_form(word: &str, term: &str) -> bool {
    // A word's beginning stays when the stem is taken, and most words need not be looked at.
    let same = word.as_bytes().first() == term.as_bytes().first();
    same && Tokeniser::default().stem(word) == term
}

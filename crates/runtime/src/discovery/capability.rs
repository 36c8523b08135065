//! `search_tools_by_capability`: what a tool has to do and to take -> tools, with what fits and what does not.

use climax_discovery::complexity::Complexity;
use climax_discovery::rank::Mode;
use climax_discovery::synonyms::{names_for, plain};
use climax_discovery::tables::Record;
use serde_json::{Map, Value};

use super::cache::Prepared;
use super::json::Json;
use super::request::Request;
use super::result::{Parts, push_fit, push_tool, reasons};
use super::{Answered, refuse};
use crate::catalog::selection::Selection;
use crate::search::offered_in;
use crate::search::ranked::{Found, Match, find};

/// The tool's name.
pub(super) const NAME: &str = "search_tools_by_capability";

/// How sure it is that a tool is meant that is not as complex as wished.
const OTHER_COMPLEXITY: f64 = 0.5;

const ANY: &str = "any";

/// The answer but for its end.
pub(super) fn prepare(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<Prepared, Answered> {
    let mut request = Request::new(arguments);
    let query = request.query("capability_description", "Capability description");
    let required = request.names("required_parameters").into_iter();
    let required = required.map(|name| Required {
        names: names_for(&name),
        name,
    });
    let required: Vec<Required> = required.collect();
    let [simple, moderate, complex] = Complexity::ALL.map(Complexity::name);
    let complexity = request.choice("preferred_complexity", &[simple, moderate, complex, ANY]);
    let complexity = complexity.unwrap_or_else(|| ANY.to_owned());
    let max_results = request.max_results();
    if !request.problems.is_empty() {
        return Err(refuse(NAME, &request, Some(&query)));
    }
    let found = fitting(selection, &query, &required, &complexity, max_results);
    let mut json = Json::default();
    json.open('{');
    json.field("capability_description", &query);
    json.key("results");
    json.open('[');
    let records = selection.discovery().records();
    for it in &found.best {
        let Some(record) = records.record(it.number) else {
            continue;
        };
        json.open('{');
        let parts = Parts {
            schema: true,
            examples: 1,
        };
        push_tool(&mut json, selection, (it.number, it.tool), &record, parts);
        push_fit(&mut json, selection, &found, it, &record);
        let explanation = Explanation {
            found: &found,
            required: &required,
            complexity: &complexity,
        };
        explanation.push(&mut json, selection, it, &record);
        json.close('}');
    }
    json.close(']');
    json.raw_field("total_results", &found.best.len().to_string());
    json.key("search_criteria");
    json.open('{');
    json.texts("required_parameters", required.iter().map(|it| &*it.name));
    json.key("preferred_complexity");
    json.plain(&complexity);
    json.raw_field("max_results", &max_results.to_string());
    json.close('}');
    Ok(Prepared {
        json: json.0,
        about: query,
        results: found.best.len(),
    })
}

/// The tools that have all the parameters. Those that do nothing of what is described come last.
fn fitting(
    selection: &Selection,
    query: &str,
    required: &[Required],
    complexity: &str,
    max_results: usize,
) -> Found {
    let offered = offered_in(selection, None);
    let records = selection.discovery().records();
    let has_all = |tool: u32| {
        let record = records.record(tool);
        record.is_some_and(|record| parameters(&record, required).is_some())
    };
    let fits = |tool: u32| offered.contains(tool) && (required.is_empty() || has_all(tool));
    let all = selection.catalog.tools.len();
    // A wish moves tools, so all that fit are needed.
    let limit = if complexity == ANY { max_results } else { all };
    let mut found = find(selection, query, Mode::Hybrid, limit, fits);
    if complexity != ANY {
        for it in &mut found.best {
            let record = records.record(it.number);
            if record.is_some_and(|record| record.complexity.name() != complexity) {
                it.score *= OTHER_COMPLEXITY;
            }
        }
        found
            .best
            .sort_by(|one, other| other.score.total_cmp(&one.score));
    }
    if !required.is_empty() && found.best.len() < max_results {
        let known: Vec<u32> = found.best.iter().map(|it| it.number).collect();
        let others = (0..).zip(selection.catalog.tools);
        let others = others.filter(|(number, _)| !known.contains(number) && fits(*number));
        found.best.extend(others.map(|(number, tool)| Match {
            number,
            tool,
            score: 0.0,
            is_named: false,
        }));
    }
    found.best.truncate(max_results);
    found
}

/// A parameter that is required: how it was asked for, and all that it may be called.
struct Required {
    name: String,
    names: Vec<String>,
}

/// What a tool calls the parameters that are required, if it has all of them; each is there once.
fn parameters<'t>(record: &Record<'t>, required: &[Required]) -> Option<Vec<&'t str>> {
    let own: Vec<(&str, String)> = record
        .parameters()
        .map(|parameter| (parameter.name, plain(parameter.name)))
        .collect();
    let mut found: Vec<&'t str> = Vec::new();
    for Required { names, .. } in required {
        let free = || own.iter().filter(|(name, _)| !found.contains(name));
        let exact = free().find(|(_, plain)| Some(plain) == names.first());
        let same = exact.or_else(|| free().find(|(_, plain)| names.contains(plain)));
        let (name, _) = same?;
        found.push(name);
    }
    Some(found)
}

/// What fits, and what does not.
struct Explanation<'e> {
    found: &'e Found,
    required: &'e [Required],
    complexity: &'e str,
}

impl Explanation<'_> {
    fn push(&self, json: &mut Json, selection: &Selection, it: &Match, record: &Record<'_>) {
        let mut matched = reasons(selection, self.found, it, record);
        let mut unmatched = self.missing_words(selection, it);
        let own = parameters(record, self.required).unwrap_or_default();
        for (Required { name, .. }, own) in self.required.iter().zip(own) {
            matched.push(if own == name {
                format!("has parameter '{name}'")
            } else {
                format!("has parameter '{own}' for '{name}'")
            });
        }
        let complexity = record.complexity.name();
        if complexity == self.complexity {
            matched.push(format!("complexity is {complexity}"));
        } else if self.complexity != ANY {
            unmatched.push(format!(
                "complexity is {complexity}, not {}",
                self.complexity
            ));
        }
        json.key("explanation");
        json.open('{');
        json.texts("matched", matched.iter().map(String::as_str));
        json.texts("not_matched", unmatched.iter().map(String::as_str));
        json.close('}');
    }

    /// The words of the description that the tool does not have, however they are written.
    fn missing_words(&self, selection: &Selection, it: &Match) -> Vec<String> {
        let ranking = selection.discovery().ranking(selection.catalog.tools.len());
        let has = |row: &usize| ranking.marks(*row, it.number) != 0;
        let words = self.found.ranked.words.iter();
        words
            .filter(|word| !word.rows.iter().any(has))
            .map(|word| format!("nothing about '{}'", word.text))
            .collect()
    }
}

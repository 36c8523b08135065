//! `search_tools_by_capability`: what a tool has to do and to take -> tools, with what fits and what does not.

use climax_discovery::complexity::Complexity;
use climax_discovery::rank::{Mode, Way};
use climax_discovery::synonyms::are_same;
use climax_discovery::tables::Record;
use serde_json::{Map, Value};

use super::cache::Prepared;
use super::json::Json;
use super::request::Request;
use super::result::{Parts, push_fit, push_tool, reasons};
use super::{Answered, refuse};
use crate::search::offered_in;
use crate::search::ranked::{Found, Match, find};
use crate::selection::Selection;

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
    let required = request.names("required_parameters");
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
            query_words: &found,
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
    json.texts("required_parameters", required.iter().map(String::as_str));
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
    required: &[String],
    complexity: &str,
    max_results: usize,
) -> Found {
    let offered = offered_in(selection, None);
    let records = selection.discovery().records();
    let has_all = |tool: u32| {
        let record = records.record(tool);
        record.is_some_and(|record| {
            required
                .iter()
                .all(|name| parameter(&record, name).is_some())
        })
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

/// The tool's name for a parameter.
fn parameter<'t>(record: &Record<'t>, name: &str) -> Option<&'t str> {
    let same = |other: &str| are_same(name, other);
    record.parameters().map(|it| it.name).find(|it| same(it))
}

/// What fits, and what does not.
struct Explanation<'e> {
    query_words: &'e Found,
    required: &'e [String],
    complexity: &'e str,
}

impl Explanation<'_> {
    fn push(&self, json: &mut Json, selection: &Selection, it: &Match, record: &Record<'_>) {
        let mut matched = reasons(selection, self.query_words, it, record);
        let mut unmatched = self.missing_words(selection, it);
        for name in self.required {
            let Some(own) = parameter(record, name) else {
                continue;
            };
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
        let ranked = &self.query_words.ranked;
        let has = |word: &str| {
            let asked = ranked.asked.iter().filter(|asked| asked.word == word);
            asked
                .into_iter()
                .any(|asked| ranking.marks(asked.row, it.number) != 0)
        };
        let mut missing: Vec<&str> = Vec::new();
        let known = ranked.asked.iter().filter(|asked| asked.way != Way::Alike);
        for word in known.map(|asked| &asked.word).chain(&ranked.unknown) {
            if !has(word) && !missing.contains(&word.as_str()) {
                missing.push(word);
            }
        }
        missing
            .iter()
            .map(|word| format!("nothing about '{word}'"))
            .collect()
    }
}

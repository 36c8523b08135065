//! `search_tools_by_capability`: what a tool has to do and to take -> tools, with what fits and what does not.

use climax_catalog::tables::ToolRow;
use climax_discovery::complexity::Complexity;
use climax_discovery::rank::RankingMode;
use climax_discovery::synonyms::{synonyms_of, without_separators};
use serde::Serialize;
use serde_json::{Map, Value};

use super::request::Request;
use super::result::{Fit, Parts, ToolFields, reasons};
use super::{Refusal, Response};
use crate::catalog::selection::Selection;
use crate::search::offered_in;
use crate::search::ranked::{Found, Match, find};

/// The tool's name.
pub(super) const NAME: &str = "search_tools_by_capability";

/// How sure it is that a tool is meant that is not as complex as wished.
const OTHER_COMPLEXITY: f64 = 0.5;

const ANY: &str = "any";

/// A response without its end.
#[derive(Serialize)]
pub(super) struct Body {
    capability_description: String,
    results: Vec<CapabilityResult>,
    total_results: usize,
    search_criteria: Criteria,
}

#[derive(Serialize)]
struct CapabilityResult {
    #[serde(flatten)]
    tool: ToolFields,
    #[serde(flatten)]
    fit: Fit,
    explanation: Explanation,
}

/// What fits, and what does not.
#[derive(Serialize)]
struct Explanation {
    matched: Vec<String>,
    not_matched: Vec<String>,
}

#[derive(Serialize)]
struct Criteria {
    required_parameters: Vec<String>,
    preferred_complexity: String,
    max_results: usize,
}

/// Searches.
pub(super) fn respond(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<Response<Body>, Refusal> {
    let mut request = Request::new(arguments);
    let query = request.query("capability_description", "Capability description");
    let required = request.names("required_parameters").into_iter();
    let required = required.map(|name| Required {
        names: synonyms_of(&name),
        name,
    });
    let required: Vec<Required> = required.collect();
    let [simple, moderate, complex] = Complexity::ALL.map(Complexity::name);
    let complexity = request.choice("preferred_complexity", &[simple, moderate, complex, ANY]);
    let complexity = complexity.unwrap_or_else(|| ANY.to_owned());
    let max_results = request.max_results();
    if !request.problems.is_empty() {
        return Err(Refusal {
            tool: NAME,
            request,
            context: query,
        });
    }
    let found = fitting(selection, &query, &required, &complexity, max_results);
    let wanted = Wanted {
        found: &found,
        required: &required,
        complexity: &complexity,
    };
    let parts = Parts {
        schema: true,
        examples: 1,
    };
    let results = found.best.iter().map(|it| CapabilityResult {
        tool: ToolFields::new(selection, it.number, &it.tool, parts),
        fit: Fit::new(selection, &found, it),
        explanation: wanted.explanation(selection, it),
    });
    let body = Body {
        capability_description: query.clone(),
        results: results.collect(),
        total_results: found.best.len(),
        search_criteria: Criteria {
            required_parameters: required.iter().map(|it| it.name.clone()).collect(),
            preferred_complexity: complexity.clone(),
            max_results,
        },
    };
    Ok(Response {
        body,
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
    let notes = &selection.discovery().notes;
    let has_all = |tool| parameters(selection, &selection.tools().get(tool), required).is_some();
    let fits = |tool: u32| offered.contains(tool) && (required.is_empty() || has_all(tool));
    let all = selection.tools().len();
    // A wish moves tools, so all that fit are needed.
    let limit = if complexity == ANY { max_results } else { all };
    let mut found = find(selection, query, RankingMode::Hybrid, limit, fits);
    if complexity != ANY {
        for it in &mut found.best {
            if notes.of(it.number).complexity.name() != complexity {
                it.score *= OTHER_COMPLEXITY;
            }
        }
        found
            .best
            .sort_by(|one, other| other.score.total_cmp(&one.score));
    }
    if !required.is_empty() && found.best.len() < max_results {
        let known: Vec<u32> = found.best.iter().map(|it| it.number).collect();
        let others = (0..).zip(selection.tools().iter());
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
fn parameters(
    selection: &Selection,
    tool: &ToolRow,
    required: &[Required],
) -> Option<Vec<&'static str>> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let names = arguments.iter().map(|it| selection.text(it.name));
    let own: Vec<(&'static str, String)> =
        names.map(|name| (name, without_separators(name))).collect();
    let mut found: Vec<&'static str> = Vec::new();
    for Required { names, .. } in required {
        let free = || own.iter().filter(|(name, _)| !found.contains(name));
        let exact = free().find(|(_, plain)| Some(plain) == names.first());
        let same = exact.or_else(|| free().find(|(_, plain)| names.contains(plain)));
        let (name, _) = same?;
        found.push(name);
    }
    Some(found)
}

/// What was asked for, and what was found.
struct Wanted<'e> {
    found: &'e Found,
    required: &'e [Required],
    complexity: &'e str,
}

impl Wanted<'_> {
    fn explanation(&self, selection: &Selection, it: &Match) -> Explanation {
        let mut matched = reasons(selection, self.found, it);
        let mut not_matched = self.missing_words(selection, it);
        let own = parameters(selection, &it.tool, self.required);
        let own = own.expect("only tools are found that have all parameters");
        for (Required { name, .. }, own) in self.required.iter().zip(own) {
            matched.push(if own == name {
                format!("has parameter '{name}'")
            } else {
                format!("has parameter '{own}' for '{name}'")
            });
        }
        let complexity = selection.discovery().notes.of(it.number).complexity.name();
        if complexity == self.complexity {
            matched.push(format!("complexity is {complexity}"));
        } else if self.complexity != ANY {
            not_matched.push(format!(
                "complexity is {complexity}, not {}",
                self.complexity
            ));
        }
        Explanation {
            matched,
            not_matched,
        }
    }

    /// The words of the description that the tool does not have, however they are written.
    fn missing_words(&self, selection: &Selection, it: &Match) -> Vec<String> {
        let ranking = selection
            .discovery()
            .index
            .term_index(selection.tools().len());
        let has = |row: &usize| ranking.field_mask(*row, it.number) != 0;
        let words = self.found.ranked.words.iter();
        words
            .filter(|word| !word.rows.iter().any(has))
            .map(|word| format!("nothing about '{}'", word.text))
            .collect()
    }
}

//! `search_tools_by_capability`: turns a capability and required parameters into tools, and explains each
//! match.

use climax_catalog::tables::ToolRow;
use climax_discovery::complexity::Complexity;
use climax_discovery::query::QueryTerm;
use climax_discovery::rank::RankingMode;
use climax_discovery::synonyms::{normalise_name, synonyms_of};
use serde::Serialize;
use serde_json::{Map, Value};

use super::request::RequestArguments;
use super::result::{MatchFields, OptionalFields, ToolFields};
use super::{LookupBody, LookupRefusal};
use crate::catalog::selection::Selection;
use crate::search::offered_tools;
use crate::search::ranked::{RankedMatch, RankedMatches, find_ranked};
use crate::search::reasons::match_reasons;

/// The tool's name.
pub(super) const NAME: &str = "search_tools_by_capability";

/// The factor on the score of a tool that does not have the preferred complexity.
const OTHER_COMPLEXITY_FACTOR: f64 = 0.5;

const ANY_COMPLEXITY: &str = "any";

#[derive(Serialize)]
pub(super) struct CapabilityBody {
    capability_description: String,
    results: Vec<CapabilityResult>,
    total_results: usize,
    search_criteria: SearchCriteria,
}

#[derive(Serialize)]
struct CapabilityResult {
    #[serde(flatten)]
    tool: ToolFields,
    #[serde(flatten)]
    match_fields: MatchFields,
    explanation: Explanation,
}

#[derive(Serialize)]
struct Explanation {
    matched: Vec<String>,
    not_matched: Vec<String>,
}

#[derive(Serialize)]
struct SearchCriteria {
    required_parameters: Vec<String>,
    preferred_complexity: String,
    max_results: usize,
}

/// Answers a search.
pub(super) fn respond(
    selection: &Selection,
    arguments: Map<String, Value>,
) -> Result<LookupBody<CapabilityBody>, LookupRefusal> {
    let mut arguments = RequestArguments::new(arguments);
    let query = arguments.query("capability_description", "Capability description");
    let required = arguments.names("required_parameters").into_iter();
    let required = required.map(|name| RequiredParameter {
        accepted_names: synonyms_of(&name),
        name,
    });
    let required: Vec<RequiredParameter> = required.collect();
    let [simple, moderate, complex] = Complexity::ALL.map(Complexity::name);
    let options = [simple, moderate, complex, ANY_COMPLEXITY];
    let complexity = arguments.choice("preferred_complexity", &options);
    let complexity = complexity.unwrap_or_else(|| ANY_COMPLEXITY.to_owned());
    let max_results = arguments.max_results();
    if !arguments.problems.is_empty() {
        return Err(LookupRefusal {
            tool: NAME,
            arguments,
            context: query,
        });
    }
    let matches = capability_matches(selection, &query, &required, &complexity, max_results);
    let search = CapabilitySearch {
        matches: &matches,
        required: &required,
        complexity: &complexity,
    };
    let optional = OptionalFields {
        schema: true,
        max_examples: 1,
    };
    let results = matches.best.iter().map(|found| CapabilityResult {
        tool: ToolFields::new(selection, found.number, &found.tool, optional),
        match_fields: MatchFields::new(selection, &matches, found),
        explanation: search.explain(selection, found),
    });
    let body = CapabilityBody {
        capability_description: query.clone(),
        results: results.collect(),
        total_results: matches.best.len(),
        search_criteria: SearchCriteria {
            required_parameters: required
                .iter()
                .map(|parameter| parameter.name.clone())
                .collect(),
            preferred_complexity: complexity.clone(),
            max_results,
        },
    };
    Ok(LookupBody {
        body,
        subject: query,
        result_count: matches.best.len(),
    })
}

/// The tools that have all required parameters. Those that match no word of the query come last, with score 0.
fn capability_matches(
    selection: &Selection,
    query: &str,
    required: &[RequiredParameter],
    complexity: &str,
    max_results: usize,
) -> RankedMatches {
    let offered = offered_tools(selection, None);
    let notes = &selection.discovery().notes;
    let has_required = |tool| {
        let tool = selection.tools().get(tool);
        matching_parameters(selection, &tool, required).is_some()
    };
    let is_candidate =
        |tool: u32| offered.contains(tool) && (required.is_empty() || has_required(tool));
    // A preference reorders the matches, so all of them are needed.
    let limit = if complexity == ANY_COMPLEXITY {
        max_results
    } else {
        selection.tools().len()
    };
    let mut matches = find_ranked(selection, query, RankingMode::Hybrid, limit, is_candidate);
    if complexity != ANY_COMPLEXITY {
        for found in &mut matches.best {
            if notes.of(found.number).complexity.name() != complexity {
                found.score *= OTHER_COMPLEXITY_FACTOR;
            }
        }
        matches
            .best
            .sort_by(|one, other| other.score.total_cmp(&one.score));
    }
    if !required.is_empty() && matches.best.len() < max_results {
        let ranked: Vec<u32> = matches.best.iter().map(|found| found.number).collect();
        let others = (0..).zip(selection.tools().iter());
        let others = others.filter(|(number, _)| !ranked.contains(number) && is_candidate(*number));
        matches
            .best
            .extend(others.map(|(number, tool)| RankedMatch {
                number,
                tool,
                score: 0.0,
                is_exact_name: false,
            }));
    }
    matches.best.truncate(max_results);
    matches
}

/// A parameter that a tool must have.
struct RequiredParameter {
    /// The name in the request.
    name: String,
    /// The normalised name, then its synonyms.
    accepted_names: Vec<String>,
}

/// The tool's own names of the required parameters, if it has all of them. Each parameter of the tool serves
/// one requirement at most.
fn matching_parameters(
    selection: &Selection,
    tool: &ToolRow,
    required: &[RequiredParameter],
) -> Option<Vec<&'static str>> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let names = arguments
        .iter()
        .map(|argument| selection.text(argument.name));
    let parameters: Vec<(&'static str, String)> =
        names.map(|name| (name, normalise_name(name))).collect();
    let mut matched: Vec<&'static str> = Vec::new();
    for RequiredParameter { accepted_names, .. } in required {
        let unused = || {
            parameters
                .iter()
                .filter(|(name, _)| !matched.contains(name))
        };
        let exact = unused().find(|(_, plain)| Some(plain) == accepted_names.first());
        let synonym = || unused().find(|(_, plain)| accepted_names.contains(plain));
        let (name, _) = exact.or_else(synonym)?;
        matched.push(name);
    }
    Some(matched)
}

/// A search and its matches, for explanations.
struct CapabilitySearch<'e> {
    matches: &'e RankedMatches,
    required: &'e [RequiredParameter],
    complexity: &'e str,
}

impl CapabilitySearch<'_> {
    fn explain(&self, selection: &Selection, found: &RankedMatch) -> Explanation {
        let mut matched = match_reasons(selection, &self.matches.ranked.words, found);
        let mut not_matched = self.missing_words(selection, found);
        let parameters = matching_parameters(selection, &found.tool, self.required);
        let parameters = parameters.expect("matches have all required parameters");
        for (RequiredParameter { name, .. }, parameter) in self.required.iter().zip(parameters) {
            matched.push(if parameter == name {
                format!("has parameter '{name}'")
            } else {
                format!("has parameter '{parameter}' for '{name}'")
            });
        }
        let notes = &selection.discovery().notes;
        let complexity = notes.of(found.number).complexity.name();
        if complexity == self.complexity {
            matched.push(format!("complexity is {complexity}"));
        } else if self.complexity != ANY_COMPLEXITY {
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

    /// The words of the query of which the tool has no form.
    fn missing_words(&self, selection: &Selection, found: &RankedMatch) -> Vec<String> {
        let index = selection
            .discovery()
            .index
            .term_index(selection.tools().len());
        let has_term = |term: &QueryTerm| index.field_mask(term.row, found.number) != 0;
        let words = self.matches.ranked.words.iter();
        words
            .filter(|word| !word.terms.iter().any(has_term))
            .map(|word| format!("nothing about '{}'", word.text))
            .collect()
    }
}

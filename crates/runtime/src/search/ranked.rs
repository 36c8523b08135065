//! Turns a query in plain words into the best matching tools, with a score for each.

use std::collections::HashSet;

use climax_catalog::tables::ToolRow;
use climax_discovery::rank::{Ranker, RankingMode};
use climax_discovery::ranking::Ranking;
use climax_discovery::tokens::normalised_name;

use crate::catalog::selection::Selection;

/// The estimated probability of the best match below which all matches are accidental.
const MIN_BEST_SCORE: f64 = 0.02;

/// The matches of a query.
pub(crate) struct RankedMatches {
    /// Sorted best first, up to the limit of the search.
    pub(crate) best: Vec<RankedMatch>,
    /// The number of all matches.
    pub(crate) total: usize,
    /// The numbers of the tools whose name is the query.
    exact: Vec<u32>,
    /// The hits and the words of the query.
    pub(crate) ranked: Ranking,
}

impl RankedMatches {
    /// Removes the matches that are too weak next to the best one, or all if even that is accidental. A tool whose name is
    /// the query stays.
    pub(crate) fn keep_useful(&mut self) {
        let best_score = self.best.iter().map(|found| found.score);
        let best_score = best_score.fold(0.0, f64::max);
        let useful_count = if best_score < MIN_BEST_SCORE {
            0
        } else {
            self.ranked.useful_count()
        };
        let useful = self.ranked.best.iter().take(useful_count);
        let useful: HashSet<u32> = useful.map(|hit| hit.tool).collect();
        self.best
            .retain(|found| found.is_exact_name || useful.contains(&found.number));
        let is_counted = |number: &&u32| {
            let position = self.ranked.position(**number);
            position.is_some_and(|position| position < useful_count)
        };
        let counted = self.exact.iter().filter(is_counted).count();
        self.total = useful_count + self.exact.len() - counted;
    }
}

/// A tool that matches a query.
pub(crate) struct RankedMatch {
    pub(crate) number: u32,
    pub(crate) tool: ToolRow,
    /// Estimated probability that this is the right tool, from 0 to 1.
    pub(crate) score: f64,
    /// Whether the query is the name of the tool.
    pub(crate) is_exact_name: bool,
}

/// A coarse level of the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

impl RankedMatch {
    pub(crate) fn confidence(&self) -> Confidence {
        Confidence::from_score(self.score)
    }
}

impl Confidence {
    pub(crate) const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// docs/discovery.md shows how often results of each level are right.
    pub(crate) fn from_score(score: f64) -> Self {
        match score {
            0.6.. => Self::High,
            0.2.. => Self::Medium,
            _ => Self::Low,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// Finds the tools that match a query, among those for which `is_candidate` holds.
pub(crate) fn find_ranked(
    selection: &Selection,
    query: &str,
    mode: RankingMode,
    limit: usize,
    is_candidate: impl Fn(u32) -> bool,
) -> RankedMatches {
    let query = truncate_query(query);
    let tools = selection.tools();
    let catalog = Ranker::new(selection.discovery(), tools.len());
    // At least two, because the score depends on the lead over the next match.
    let ranked = catalog.rank(query, mode, limit.max(2), &is_candidate);
    let exact = exact_name_matches(selection, query, &ranked, &is_candidate);
    let mut total = ranked.all.len();
    let mut best = Vec::new();
    for number in &exact {
        best.push(ranked_match(selection, *number, 1.0, true));
        // A name can consist of stop words only, so that ranking does not find it.
        total += usize::from(ranked.position(*number).is_none());
    }
    let others = ranked.best.iter().filter(|hit| !exact.contains(&hit.tool));
    best.extend(others.map(|hit| {
        let score = round_score(ranked.relevance(hit));
        ranked_match(selection, hit.tool, score, false)
    }));
    best.truncate(limit);
    RankedMatches {
        best,
        total,
        exact,
        ranked,
    }
}

/// Rounds to three digits. Confidence levels follow from the rounded score, which is the one that clients see.
pub(crate) fn round_score(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// Cuts off what no plausible query needs, to bound the cost of a search.
fn truncate_query(query: &str) -> &str {
    const MAX_QUERY_BYTES: usize = 4096;
    &query[..query.floor_char_boundary(MAX_QUERY_BYTES)]
}

fn ranked_match(
    selection: &Selection,
    number: u32,
    score: f64,
    is_exact_name: bool,
) -> RankedMatch {
    RankedMatch {
        number,
        tool: selection.tools().get(number),
        score,
        is_exact_name,
    }
}

/// Puts a space between the words of `camelCase`.
fn split_camel_case(query: &str) -> String {
    let mut text = String::with_capacity(query.len());
    for character in query.chars() {
        if character.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
        }
        text.push(character);
    }
    text
}

/// The tools whose name is the query, ignoring case, separators and `camelCase`.
fn exact_name_matches(
    selection: &Selection,
    query: &str,
    ranked: &Ranking,
    is_candidate: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let query_key = normalised_name(query);
    let lowercase = query.trim().to_lowercase();
    let camel_case_key = normalised_name(&split_camel_case(query));
    let spellings = [query.trim(), &lowercase, &query_key, &camel_case_key];
    let found = spellings
        .iter()
        .filter_map(|name| selection.find_tool(name));
    let mut matches: Vec<u32> = found.map(|(number, _)| number).collect();
    let has_query_key = |number: &&u32| {
        let name = selection.text(selection.tools().get(**number).name);
        // Names are ASCII, so a key is never longer than its name.
        name.len() >= query_key.len() && normalised_name(name) == query_key
    };
    matches.extend(ranked.named.iter().filter(has_query_key));
    let mut seen = Vec::new();
    matches.retain(|number| {
        let is_new = !seen.contains(number) && is_candidate(*number);
        seen.push(*number);
        is_new
    });
    matches
}

//! Query in words -> the tools that fit it best, and how sure that is.

use climax_catalog::tables::ToolRow;
use climax_discovery::rank::{Hit, Ranked, RankingMode};
use climax_discovery::tokens::normalised_name;

use crate::catalog::selection::Selection;

/// What was found.
pub(crate) struct Found {
    /// The best, the best first.
    pub(crate) best: Vec<Match>,
    /// How many fit at all.
    pub(crate) total: usize,
    /// How the query was understood.
    pub(crate) ranked: Ranked,
}

/// A tool that fits.
pub(crate) struct Match {
    pub(crate) number: u32,
    pub(crate) tool: ToolRow,
    /// How sure it is that this is what was looked for, from 0 to 1.
    pub(crate) score: f64,
    /// Whether the query is its name.
    pub(crate) is_named: bool,
}

/// How sure it is that a tool is what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

impl Confidence {
    pub(crate) const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// Where levels end was chosen such that they say something: docs/discovery.md has the figures.
    pub(crate) fn of(score: f64) -> Self {
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

/// Finds the tools that fit a query, among those that are offered.
pub(crate) fn find(
    selection: &Selection,
    query: &str,
    mode: RankingMode,
    limit: usize,
    offered: impl Fn(u32) -> bool,
) -> Found {
    let query = beginning(query);
    let tools = selection.tools();
    let ranking = selection.discovery().index.term_index(tools.len());
    // How far the first is before the second says how sure it is.
    let ranked = ranking.rank(query, mode, limit.max(2), &offered);
    let named = named(selection, query, &ranked, &offered);
    let mut total = ranked.total;
    let mut best = Vec::new();
    for number in &named {
        let hit = Hit {
            tool: *number,
            score: 0.0,
        };
        best.push(found(selection, &hit, 1.0, true));
        // A name may have no word that is looked up.
        let is_counted = ranked.named.contains(number);
        total += usize::from(!is_counted && !ranked.best.iter().any(|hit| hit.tool == *number));
    }
    let others = ranked.best.iter().filter(|hit| !named.contains(&hit.tool));
    best.extend(others.map(|hit| found(selection, hit, thousandths(ranked.relevance(hit)), false)));
    best.truncate(limit);
    Found {
        best,
        total,
        ranked,
    }
}

/// As it is shown, so that levels are those of what is shown.
pub(crate) fn thousandths(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// What of a query is looked at: no sentence is longer.
fn beginning(query: &str) -> &str {
    const LONGEST: usize = 4096;
    &query[..query.floor_char_boundary(LONGEST)]
}

fn found(selection: &Selection, hit: &Hit, score: f64, is_named: bool) -> Match {
    Match {
        number: hit.tool,
        tool: selection.tools().get(hit.tool),
        score,
        is_named,
    }
}

/// `camelCase` as words.
fn separated(query: &str) -> String {
    let mut text = String::with_capacity(query.len());
    for character in query.chars() {
        if character.is_uppercase() && text.ends_with(char::is_lowercase) {
            text.push(' ');
        }
        text.push(character);
    }
    text
}

/// The tools whose name is the query, in any case, with its words joined by any sign or as `camelCase`.
fn named(
    selection: &Selection,
    query: &str,
    ranked: &Ranked,
    offered: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let wanted = normalised_name(query);
    let small = query.trim().to_lowercase();
    let parts = normalised_name(&separated(query));
    let spellings = [query.trim(), &small, &wanted, &parts];
    let found = spellings.iter().filter_map(|name| selection.find(name));
    let mut named: Vec<u32> = found.map(|(number, _)| number).collect();
    let is_wanted = |number: &&u32| {
        let name = selection.text(selection.tools().get(**number).name);
        // Names are ASCII, so a key is not longer.
        name.len() >= wanted.len() && normalised_name(name) == wanted
    };
    named.extend(ranked.named.iter().filter(is_wanted));
    let mut seen = Vec::new();
    named.retain(|number| {
        let is_new = !seen.contains(number) && offered(*number);
        seen.push(*number);
        is_new
    });
    named
}

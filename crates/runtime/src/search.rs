//! Finds tools for `climax_search`, and writes its responses from JSON that was baked.

mod matches;
pub(crate) mod ranked;
mod set;

use climax_core::words::fold;
use climax_discovery::rank::RankingMode;

use crate::catalog::selection::Selection;
use matches::{Hits, offered, substring_hits};
use set::Set;

/// What a search asks for. A filter that is absent lets everything through.
pub(crate) struct Query {
    /// Text to be found.
    pub(crate) text: Option<String>,
    /// The category of the CLI.
    pub(crate) category: Option<String>,
    /// The name of the CLI.
    pub(crate) cli: Option<String>,
    /// How many results at most.
    pub(crate) limit: usize,
}

/// An answer to a search.
pub(crate) struct Searched {
    /// JSON.
    pub(crate) json: String,
    /// How many results it has.
    pub(crate) results: usize,
}

/// Searches.
pub(crate) fn search(selection: &Selection, query: &Query) -> Searched {
    if query.text.is_none() && query.category.is_none() && query.cli.is_none() {
        summary(selection, query.limit)
    } else {
        results(selection, query)
    }
}

fn summary(selection: &Selection, limit: usize) -> Searched {
    let mut json = String::from(r#"{"mode":"summary","summary":["#);
    let mut total = 0;
    for cli in selection.clis() {
        if total < limit {
            separate(&mut json, total);
            json += selection.text(cli.summary);
        }
        total += 1;
    }
    close(json, total, limit)
}

fn results(selection: &Selection, query: &Query) -> Searched {
    let needle = query.text.as_deref().map(fold).unwrap_or_default();
    let mut hits = substring_hits(selection, query, &needle);
    let mut is_ranked = false;
    if hits.total == 0 && needle.split_whitespace().nth(1).is_some() {
        hits = ranked_hits(selection, query);
        is_ranked = hits.total > 0;
    }
    let mut json = String::from(r#"{"mode":"search","results":["#);
    for (number, tool) in hits.best.iter().enumerate() {
        separate(&mut json, number);
        json += selection.text(tool.entry);
    }
    if is_ranked {
        json += r#"],"match":"ranked""#;
        return close_after_list(json, hits.total, query.limit);
    }
    close(json, hits.total, query.limit)
}

/// Tools that have some of the words, the best first.
fn ranked_hits(selection: &Selection, query: &Query) -> Hits {
    let offered = offered(selection, query.category.as_deref(), query.cli.as_deref());
    let text = query.text.as_deref().unwrap_or_default();
    let found = ranked::find(selection, text, RankingMode::Keyword, query.limit, |tool| {
        offered.contains(tool)
    });
    Hits {
        best: found.best.iter().map(|found| found.tool).collect(),
        total: found.total,
    }
}

/// What CLIs without a category belong to, where they have to belong to one.
pub(crate) const UNCATEGORIZED: &str = "uncategorized";

/// The tools that are offered, of a category if one is given.
pub(crate) fn offered_in(selection: &Selection, category: Option<&str>) -> Set {
    let mut tools = offered(selection, category, None);
    if category == Some(UNCATEGORIZED) {
        for cli in selection.clis() {
            if selection.text(cli.category_key).is_empty() {
                tools.insert(cli.tools.numbers());
            }
        }
    }
    tools
}

fn separate(json: &mut String, before: usize) {
    if before > 0 {
        json.push(',');
    }
}

fn close(mut json: String, total: usize, limit: usize) -> Searched {
    json.push(']');
    close_after_list(json, total, limit)
}

/// Says how many there are if that is more than were given.
fn close_after_list(mut json: String, total: usize, limit: usize) -> Searched {
    if total > limit {
        json += r#","total_matches":"#;
        json += &total.to_string();
    }
    json.push('}');
    Searched {
        json,
        results: total.min(limit),
    }
}

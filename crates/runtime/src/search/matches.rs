//! Turns a query into the tools that contain its text, best matches first.

use climax_catalog::Tables;
use climax_catalog::index::{FLAG_BITS, IN_NAME, IS_NAME, IS_RANGE, WordIndex};
use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::words::fold;
use memchr::memmem::Finder;

use super::SearchQuery;
use super::tool_set::ToolSet;
use crate::catalog::selection::Selection;

/// The tools that a search found.
pub(super) struct SearchHits {
    /// The best ones, up to the limit of the query.
    pub(super) best: Vec<ToolRow>,
    /// The number of all matches.
    pub(super) total: usize,
}

/// The tools that contain the needle, grouped by the quality of the match. A tool in several sets ranks by the
/// first one.
struct MatchTiers {
    /// The needle is the name.
    exact_name: ToolSet,
    /// The needle is a word of the name.
    word_of_name: ToolSet,
    /// The needle is part of the name.
    part_of_name: ToolSet,
    /// The needle is anywhere in the tool's search text.
    all: ToolSet,
}

impl MatchTiers {
    fn empty(tables: &Tables) -> Self {
        let empty = ToolSet::empty(tables.tools.rows().len());
        Self {
            exact_name: empty.clone(),
            word_of_name: empty.clone(),
            part_of_name: empty.clone(),
            all: empty,
        }
    }

    fn best_first(&self) -> [&ToolSet; 4] {
        [
            &self.exact_name,
            &self.word_of_name,
            &self.part_of_name,
            &self.all,
        ]
    }

    /// The best matches. Ties are in catalog order.
    fn into_hits(self, tables: &Tables, limit: usize) -> SearchHits {
        let total = self.all.len();
        let mut remaining = self.all.clone();
        let mut best = Vec::new();
        for tier in self.best_first() {
            for tool in tier.iter() {
                if best.len() == limit {
                    return SearchHits { best, total };
                }
                if remaining.remove(tool) {
                    best.push(tables.tools.rows().get(tool));
                }
            }
        }
        SearchHits { best, total }
    }
}

/// The tools that pass the query's filters and contain the needle, which is the folded query text.
pub(super) fn substring_hits(
    selection: &Selection,
    query: &SearchQuery,
    needle: &str,
) -> SearchHits {
    let candidates = filtered_tools(selection, query.category.as_deref(), query.cli.as_deref());
    let tables = selection.tables;
    substring_matches(tables, &candidates, needle).into_hits(tables, query.limit)
}

fn substring_matches(tables: &Tables, candidates: &ToolSet, needle: &str) -> MatchTiers {
    let mut matches = MatchTiers::empty(tables);
    if needle.is_empty() {
        matches.all = candidates.clone();
        return matches;
    }
    if needle.chars().all(char::is_alphanumeric) {
        match_in_words(&tables.word_index, needle, &mut matches);
    } else {
        match_in_text(tables, needle, &mut matches);
    }
    matches.all.intersect_with(candidates);
    matches
}

/// The tools of offered CLIs that pass the filters. An empty filter counts as absent.
pub(super) fn filtered_tools(
    selection: &Selection,
    category: Option<&str>,
    cli: Option<&str>,
) -> ToolSet {
    let mut tools = ToolSet::empty(selection.tools().len());
    let folded = |filter: Option<&str>| filter.map(fold).filter(|filter| !filter.is_empty());
    let (category, name) = (folded(category), folded(cli));
    if selection.offers_all_clis() && category.is_none() && name.is_none() {
        tools.insert(0..selection.tables.tools.len());
        return tools;
    }
    let passes = |cli: &CliRow| {
        let equals = |filter: &Option<String>, key| {
            filter
                .as_deref()
                .is_none_or(|filter| selection.text(key) == filter)
        };
        equals(&category, cli.category_key) && equals(&name, cli.name_key)
    };
    for cli in selection.clis().filter(passes) {
        tools.insert(cli.tools.numbers());
    }
    tools
}

/// Finds an alphanumeric needle. It can only be inside a word, and the list of distinct words is much shorter
/// than the search text.
fn match_in_words(words: &WordIndex, needle: &str, matches: &mut MatchTiers) {
    let integer = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let (rows, _) = words.rows.as_chunks::<8>();
    let (occurrences, _) = words.occurrences.as_chunks::<4>();
    let text_start = |row: &[u8; 8]| row.first_chunk().map_or(0, integer) as usize;
    let occurrences_start = |row: &[u8; 8]| row.last_chunk().map_or(0, integer) as usize;
    let finder = Finder::new(needle);
    let mut from = 0;
    while let Some(rest) = words.text.as_bytes().get(from..)
        && let Some(offset) = finder.find(rest)
    {
        let at = from + offset;
        let next_row = rows.partition_point(|row| text_start(row) <= at);
        let (Some(row), Some(next)) = (
            next_row.checked_sub(1).and_then(|row| rows.get(row)),
            rows.get(next_row),
        ) else {
            return;
        };
        from = text_start(next);
        let is_whole_word = text_start(row) == at && at + needle.len() + 1 == from;
        let occurrences = &occurrences[occurrences_start(row)..occurrences_start(next)];
        let mut occurrences = occurrences.iter().map(integer);
        while let Some(occurrence) = occurrences.next() {
            let first = occurrence >> FLAG_BITS;
            let end = if occurrence & IS_RANGE == 0 {
                first + 1
            } else {
                occurrences.next().unwrap_or(first)
            };
            matches.all.insert(first..end);
            if occurrence & IN_NAME != 0 {
                let tier = if is_whole_word {
                    &mut matches.word_of_name
                } else {
                    &mut matches.part_of_name
                };
                tier.insert(first..end);
            }
            if is_whole_word && occurrence & IS_NAME != 0 {
                matches.exact_name.insert(first..end);
            }
        }
    }
}

/// Finds a needle that may span words, by a scan of the whole search text.
fn match_in_text(tables: &Tables, needle: &str, matches: &mut MatchTiers) {
    let haystack = &*tables.haystack;
    let finder = Finder::new(needle);
    let tools = tables.tools.rows();
    let start = |tool: &ToolRow| tool.haystack.0 as usize;
    let end = |tool: &ToolRow| start(tool) + tool.haystack.1 as usize;
    let mut number = 0;
    while number < tables.tools.len() {
        let from = start(&tools.get(number));
        let Some(offset) = finder.find(&haystack.as_bytes()[from..]) else {
            return;
        };
        let at = from + offset;
        number = tools.partition_point(|tool| end(tool) < at + needle.len());
        if number == tables.tools.len() {
            return;
        }
        let tool = tools.get(number);
        // A needle with a line break can match across the lines of two tools.
        if start(&tool) > at {
            continue;
        }
        matches.all.insert(number..number + 1);
        // Tool names are ASCII, so folding keeps their length.
        let name = &tool.haystack.of(haystack)[..tool.name.1 as usize];
        if name == needle {
            matches.exact_name.insert(number..number + 1);
        } else if name.contains(needle) {
            matches.part_of_name.insert(number..number + 1);
        }
        number += 1;
    }
}

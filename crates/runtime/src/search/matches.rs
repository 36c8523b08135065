//! Turns a query into the tools that contain its text, best matches first.

use climax_catalog::Tables;
use climax_catalog::index::{FLAG_BITS, IN_NAME, IS_NAME, IS_RANGE, WordIndex};
use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::words::fold;
use memchr::memmem::Finder;

use super::tool_set::ToolSet;
use crate::catalog::selection::Selection;

/// The tools that contain a text.
pub(super) struct SubstringHits {
    /// The numbers of the best ones, up to the limit of the query. Ties are in catalog order.
    pub(super) best: Vec<(u32, SubstringMatch)>,
    /// The number of all hits.
    pub(super) total: usize,
}

/// Where a tool contains the query's text, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SubstringMatch {
    ExactName,
    NameWord,
    NamePrefix,
    Word,
    Prefix,
    /// Inside a word, at least half of it: `sed` in `unused`, but not in `refused`.
    HalfWord,
    Inside,
}

impl SubstringMatch {
    const ALL: [Self; 7] = [
        Self::ExactName,
        Self::NameWord,
        Self::NamePrefix,
        Self::Word,
        Self::Prefix,
        Self::HalfWord,
        Self::Inside,
    ];

    /// The match at a place whose ends are ends of words or not.
    fn at_place(is_in_name: bool, starts_word: bool, ends_word: bool) -> Self {
        match (starts_word, ends_word, is_in_name) {
            (true, true, true) => Self::NameWord,
            (true, true, false) => Self::Word,
            (true, false, true) => Self::NamePrefix,
            (true, false, false) => Self::Prefix,
            (false, ..) => Self::Inside,
        }
    }

    /// Describes the match to a person.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::ExactName => "the query is its name",
            Self::NameWord => "word of the name",
            Self::NamePrefix => "start of a word of the name",
            Self::Word => "whole word",
            Self::Prefix => "start of a word",
            Self::HalfWord | Self::Inside => "contains the query",
        }
    }
}

/// The tools that contain the needle, in one set per [`SubstringMatch`]. A tool in several sets ranks by the
/// best one.
struct MatchTiers {
    sets: [ToolSet; SubstringMatch::ALL.len()],
}

impl MatchTiers {
    fn empty(tables: &Tables) -> Self {
        let empty = ToolSet::empty(tables.tools.rows().len());
        Self {
            sets: SubstringMatch::ALL.map(|_| empty.clone()),
        }
    }

    fn set(&mut self, substring_match: SubstringMatch) -> &mut ToolSet {
        &mut self.sets[substring_match as usize]
    }

    /// The best matches among the candidates.
    fn into_hits(self, mut candidates: ToolSet, limit: usize) -> SubstringHits {
        let mut hits = SubstringHits {
            best: Vec::new(),
            total: 0,
        };
        for (substring_match, mut set) in SubstringMatch::ALL.into_iter().zip(self.sets) {
            set.intersect_with(&candidates);
            candidates.remove_all(&set);
            hits.total += set.len();
            let remaining = limit - hits.best.len();
            let best = set.iter().take(remaining);
            hits.best.extend(best.map(|tool| (tool, substring_match)));
        }
        hits
    }
}

/// The candidates that contain the needle, which is the folded query text.
pub(super) fn substring_hits(
    tables: &Tables,
    candidates: &ToolSet,
    needle: &str,
    limit: usize,
) -> SubstringHits {
    let mut matches = MatchTiers::empty(tables);
    if needle.is_empty() {
        *matches.set(SubstringMatch::Inside) = candidates.clone();
    } else if needle.chars().all(char::is_alphanumeric) {
        match_in_words(&tables.word_index, needle, &mut matches);
    } else {
        match_in_text(tables, needle, &mut matches);
    }
    matches.into_hits(candidates.clone(), limit)
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
        let starts_word = text_start(row) == at;
        let ends_word = at + needle.len() + 1 == from;
        let word_length = from - 1 - text_start(row);
        let occurrences = &occurrences[occurrences_start(row)..occurrences_start(next)];
        let mut occurrences = occurrences.iter().map(integer);
        while let Some(occurrence) = occurrences.next() {
            let first = occurrence >> FLAG_BITS;
            let end = if occurrence & IS_RANGE == 0 {
                first + 1
            } else {
                occurrences.next().unwrap_or(first)
            };
            let substring_match = if starts_word && ends_word && occurrence & IS_NAME != 0 {
                SubstringMatch::ExactName
            } else if !starts_word && 2 * needle.len() >= word_length {
                SubstringMatch::HalfWord
            } else {
                SubstringMatch::at_place(occurrence & IN_NAME != 0, starts_word, ends_word)
            };
            matches.set(substring_match).insert(first..end);
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
        // Tool names are ASCII, so folding keeps their length.
        let name_length = tool.name.1 as usize;
        let line = tool.haystack.of(haystack);
        if let Some(best) = best_match(line, name_length, needle, &finder) {
            matches.set(best).insert(number..number + 1);
        }
        number += 1;
    }
}

/// The best of all places where a tool's line, which begins with its name, contains the needle.
fn best_match(
    line: &str,
    name_length: usize,
    needle: &str,
    finder: &Finder<'_>,
) -> Option<SubstringMatch> {
    if &line[..name_length] == needle {
        return Some(SubstringMatch::ExactName);
    }
    let mut best = None;
    let mut from = 0;
    while best != Some(SubstringMatch::NameWord)
        && let Some(offset) = finder.find(&line.as_bytes()[from..])
    {
        let at = from + offset;
        let end = at + needle.len();
        let place = SubstringMatch::at_place(
            end <= name_length,
            is_word_boundary(line, at),
            is_word_boundary(line, end),
        );
        best = Some(best.map_or(place, |best: SubstringMatch| best.min(place)));
        from = at + 1;
    }
    best
}

/// Whether no word of the text extends across a position.
fn is_word_boundary(text: &str, position: usize) -> bool {
    let (before, after) = text.split_at(position);
    !(before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_place_in_a_line_decides() {
        for (line, name_length, needle, expected) in [
            ("git_log x", 7, "git_log", Some(SubstringMatch::ExactName)),
            ("a_git_log x", 9, "git_log", Some(SubstringMatch::NameWord)),
            ("git_log x", 7, "git_", Some(SubstringMatch::NameWord)),
            ("git_log x", 7, "git_l", Some(SubstringMatch::NamePrefix)),
            ("git_log x", 7, "it_log", Some(SubstringMatch::Inside)),
            ("git_log x", 7, "log x", Some(SubstringMatch::Word)),
            (
                "a to-do, todo-list",
                1,
                "to-d",
                Some(SubstringMatch::Prefix),
            ),
            // Later places can be better.
            ("a_b-cd b-c", 6, "b-c", Some(SubstringMatch::NamePrefix)),
            ("a ab-c b-cd", 1, "b-c", Some(SubstringMatch::Prefix)),
            ("a ab-c b-cd b-c", 1, "b-c", Some(SubstringMatch::Word)),
            ("xa_b_a_b_a x", 10, "a_b_a", Some(SubstringMatch::NameWord)),
            ("b-cd_b-c x", 8, "b-c", Some(SubstringMatch::NameWord)),
            ("a größe-ä", 1, "ße-ä", Some(SubstringMatch::Inside)),
            ("a x", 1, "b-c", None),
        ] {
            let found = best_match(line, name_length, needle, &Finder::new(needle));
            assert_eq!(found, expected, "{needle:?} in {line:?}");
        }
    }
}

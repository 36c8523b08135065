//! Query -> tools.

use climax_catalog::Tables;
use climax_catalog::index::{FLAG_BITS, IN_NAME, IS_NAME, IS_RANGE, WordIndex};
use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::words::fold;
use memchr::memmem::Finder;

use super::Query;
use super::set::Set;
use crate::catalog::selection::Selection;

/// What was found: the best, and how many in all.
pub(super) struct Hits {
    pub(super) best: Vec<ToolRow>,
    pub(super) total: usize,
}

/// The tools that have a text, by where they have it. One that is in several sets counts for the
/// first of them.
struct Matches {
    /// It is the tool's name.
    exact_name: Set,
    /// It is a word of the tool's name.
    word_of_name: Set,
    /// It is in the tool's name.
    part_of_name: Set,
    /// It is anywhere.
    all: Set,
}

impl Matches {
    fn none(tables: &Tables) -> Self {
        let empty = Set::empty(tables.tools.rows().len());
        Self {
            exact_name: empty.clone(),
            word_of_name: empty.clone(),
            part_of_name: empty.clone(),
            all: empty,
        }
    }

    fn sets(&self) -> [&Set; 4] {
        [
            &self.exact_name,
            &self.word_of_name,
            &self.part_of_name,
            &self.all,
        ]
    }

    /// The best of them, in catalog order where they are as good.
    fn into_hits(self, tables: &Tables, limit: usize) -> Hits {
        let total = self.all.len();
        let mut left = self.all.clone();
        let mut best = Vec::new();
        for set in self.sets() {
            for tool in set.iter() {
                if best.len() == limit {
                    return Hits { best, total };
                }
                if left.remove(tool) {
                    best.push(tables.tools.rows().get(tool));
                }
            }
        }
        Hits { best, total }
    }
}

/// The tools whose text contains the needle.
pub(super) fn substring_hits(selection: &Selection, query: &Query, needle: &str) -> Hits {
    let offered = offered(selection, query.category.as_deref(), query.cli.as_deref());
    let tables = selection.tables;
    matches(tables, &offered, needle).into_hits(tables, query.limit)
}

fn matches(tables: &Tables, offered: &Set, needle: &str) -> Matches {
    let mut matches = Matches::none(tables);
    if needle.is_empty() {
        matches.all = offered.clone();
        return matches;
    }
    if needle.chars().all(char::is_alphanumeric) {
        look_up(&tables.word_index, needle, &mut matches);
    } else {
        scan(tables, needle, &mut matches);
    }
    matches.all.intersect_with(offered);
    matches
}

/// The tools of CLIs that are offered and pass the filters.
pub(super) fn offered(selection: &Selection, category: Option<&str>, cli: Option<&str>) -> Set {
    let mut offered = Set::empty(selection.tools().len());
    let filter = |wanted: Option<&str>| wanted.map(fold).filter(|it| !it.is_empty());
    let (category, name) = (filter(category), filter(cli));
    if selection.is_all() && category.is_none() && name.is_none() {
        offered.insert(0..selection.tables.tools.len());
        return offered;
    }
    let passes = |cli: &CliRow| {
        let equals = |wanted: &Option<String>, key| {
            wanted
                .as_deref()
                .is_none_or(|wanted| selection.text(key) == wanted)
        };
        equals(&category, cli.category_key) && equals(&name, cli.name_key)
    };
    for cli in selection.clis().filter(passes) {
        offered.insert(cli.tools.numbers());
    }
    offered
}

/// Finds a needle without a gap: it is within words, and there are far fewer words than text.
fn look_up(words: &WordIndex, needle: &str, matches: &mut Matches) {
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let (rows, _) = words.rows.as_chunks::<8>();
    let (places, _) = words.occurrences.as_chunks::<4>();
    let text_of = |row: &[u8; 8]| row.first_chunk().map_or(0, number) as usize;
    let places_of = |row: &[u8; 8]| row.last_chunk().map_or(0, number) as usize;
    let finder = Finder::new(needle);
    let mut from = 0;
    while let Some(rest) = words.text.as_bytes().get(from..)
        && let Some(offset) = finder.find(rest)
    {
        let at = from + offset;
        let after = rows.partition_point(|row| text_of(row) <= at);
        let (Some(row), Some(next)) = (
            after.checked_sub(1).and_then(|row| rows.get(row)),
            rows.get(after),
        ) else {
            return;
        };
        from = text_of(next);
        let is_whole = text_of(row) == at && at + needle.len() + 1 == from;
        let places = &places[places_of(row)..places_of(next)];
        let mut places = places.iter().map(number);
        while let Some(place) = places.next() {
            let first = place >> FLAG_BITS;
            let end = if place & IS_RANGE == 0 {
                first + 1
            } else {
                places.next().unwrap_or(first)
            };
            matches.all.insert(first..end);
            if place & IN_NAME != 0 {
                let in_name = if is_whole {
                    &mut matches.word_of_name
                } else {
                    &mut matches.part_of_name
                };
                in_name.insert(first..end);
            }
            if is_whole && place & IS_NAME != 0 {
                matches.exact_name.insert(first..end);
            }
        }
    }
}

/// Finds a needle that may go across words.
fn scan(tables: &Tables, needle: &str, matches: &mut Matches) {
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
        // A needle with a line break can match across two lines.
        if start(&tool) > at {
            continue;
        }
        matches.all.insert(number..number + 1);
        // A tool's name is ASCII, so folding keeps its length.
        let name = &tool.haystack.of(haystack)[..tool.name.1 as usize];
        if name == needle {
            matches.exact_name.insert(number..number + 1);
        } else if name.contains(needle) {
            matches.part_of_name.insert(number..number + 1);
        }
        number += 1;
    }
}

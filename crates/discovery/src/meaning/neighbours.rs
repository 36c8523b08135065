//! Finds the terms of the index that are closest in meaning to a word.

use std::cmp::Reverse;
use std::ops::Range;
use std::thread;

use climax_catalog::rows::to_u32;

use super::dot::Multiplicand;
use super::table::{DIMENSIONS, Levels, WordTable, squared_length};
use super::{COARSE_DIMENSIONS, Meaning, MeaningIndex};
use crate::index::{Index, round_to_u32};

/// The maximum number of neighbours of a word.
const MAX_NEIGHBOURS: usize = 10;
/// The cosine that a neighbour must exceed.
const MIN_COSINE: f64 = 0.25;
/// How many terms are compared in all dimensions.
const MAX_CANDIDATES: usize = 32;
/// The byte that represents 1 in the components of a term's vector of length 1. Few components are larger than
/// 0.5, the largest that fits.
const COMPONENT_SCALE: f64 = 254.0;
/// In an index with more terms, neighbours are baked. In a smaller one, comparing a word with all terms takes
/// about ten microseconds, and the baked lists would take a megabyte.
pub(super) const MAX_SCANNED_TERMS: usize = 1_500;
/// The closeness of a term with cosine 1.
const MAX_CLOSENESS: f64 = 255.0;

/// A term that is close in meaning to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// The term's row in the index.
    pub(crate) row: usize,
    /// From 0 (cosine [`MIN_COSINE`]) to 255 (cosine 1).
    closeness: u8,
}

impl Neighbour {
    /// From 0 for the least to 1 for the greatest closeness.
    pub(crate) fn closeness(self) -> f64 {
        f64::from(self.closeness) / MAX_CLOSENESS
    }
}

/// A term of the index that is in the word table.
#[derive(Clone, Copy)]
struct Term {
    row: usize,
    word: usize,
    /// The length of its vector in steps.
    length: f64,
}

impl Term {
    fn decode(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, word_low, word_high, length_low, length_high] = bytes;
        Self {
            row: u32::from_le_bytes([a, b, c, d]) as usize,
            word: usize::from(u16::from_le_bytes([word_low, word_high])),
            length: f64::from(u16::from_le_bytes([length_low, length_high])).sqrt(),
        }
    }
}

/// Adds the terms of the index that are in the word table.
pub(super) fn add_terms(
    meaning: &mut Meaning,
    table: &WordTable<'_>,
    index: &Index,
    tool_count: usize,
) {
    let index = index.term_index(tool_count);
    for row in 0..index.len() {
        let Some(word) = table.find(index.term(row).as_bytes()) else {
            continue;
        };
        let levels = table.levels(word);
        let word = u16::try_from(word).expect("the word table has less than 2^16 words");
        let terms = meaning.terms.to_mut();
        terms.extend(to_u32(row).to_le_bytes());
        terms.extend(word.to_le_bytes());
        terms.extend(squared_length(&levels).to_le_bytes());
        let coarse = coarse_components(&levels).map(i8::cast_unsigned);
        meaning.term_components.to_mut().extend(coarse);
    }
}

/// Replaces the components of terms by the neighbours of all words.
pub(super) fn bake_neighbours(meaning: &mut Meaning, table: &WordTable<'_>) {
    let lists = neighbours_of_all_words(meaning, table);
    let mut starts = Vec::new();
    let mut neighbours = Vec::new();
    for list in lists {
        starts.extend(to_u32(neighbours.len() / 4).to_le_bytes());
        for Neighbour { row, closeness } in list {
            neighbours.extend((to_u32(row) << 8 | u32::from(closeness)).to_le_bytes());
        }
    }
    starts.extend(to_u32(neighbours.len() / 4).to_le_bytes());
    meaning.neighbour_starts = starts.into();
    meaning.neighbours = neighbours.into();
    meaning.term_components = Vec::new().into();
}

/// The neighbours of each word of the table, computed by one thread per processor.
fn neighbours_of_all_words(meaning: &Meaning, table: &WordTable<'_>) -> Vec<Vec<Neighbour>> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let chunk = table.len().div_ceil(processors);
    let neighbours_of = |words: Range<usize>| -> Vec<Vec<Neighbour>> {
        let words = words.map(|word| nearest_terms(meaning, table, word));
        words.collect()
    };
    thread::scope(|scope| {
        let chunks = (0..table.len()).step_by(chunk);
        let threads: Vec<_> = chunks
            .map(|start| {
                let words = start..(start + chunk).min(table.len());
                scope.spawn(|| neighbours_of(words))
            })
            .collect();
        let lists = threads.into_iter().map(thread::ScopedJoinHandle::join);
        lists
            .flat_map(|lists| lists.expect("comparing vectors does not panic"))
            .collect()
    })
}

/// The terms with the largest cosine to a word, the closest first, without the word itself. The best ones by
/// their first dimensions are compared in all.
fn nearest_terms(meaning: &Meaning, table: &WordTable<'_>, word: usize) -> Vec<Neighbour> {
    let levels = table.levels(word);
    let terms = meaning.terms.as_chunks::<8>().0;
    let components = coarse_components(&levels);
    let components: Multiplicand<{ COARSE_DIMENSIONS / 16 }> =
        Multiplicand::new(|position| components[position].into());
    let term_components = meaning.term_components.as_chunks::<COARSE_DIMENSIONS>().0;
    // The best candidates so far, the best first.
    let mut candidates = [(0, 0); MAX_CANDIDATES];
    for (number, other) in term_components.iter().enumerate() {
        let product = components.dot(other);
        if product > candidates[MAX_CANDIDATES - 1].0 {
            let position = candidates.partition_point(|(better, _)| *better >= product);
            candidates[position..].rotate_right(1);
            candidates[position] = (product, number);
        }
    }
    let length = f64::from(squared_length(&levels)).sqrt();
    let levels: Multiplicand<{ DIMENSIONS / 16 }> =
        Multiplicand::new(|position| levels[position].into());
    let found = candidates.iter().filter(|(product, _)| *product > 0);
    let others = found.map(|(_, number)| Term::decode(terms[*number]));
    let neighbours = others.filter(|term| term.word != word).filter_map(|term| {
        let other_levels = table.levels(term.word).map(i8::cast_unsigned);
        let cosine = f64::from(levels.dot(&other_levels)) / (length * term.length);
        let closeness = (cosine - MIN_COSINE) / (1.0 - MIN_COSINE) * MAX_CLOSENESS;
        let closeness = u8::try_from(round_to_u32(closeness)).unwrap_or(u8::MAX);
        (closeness > 0).then_some(Neighbour {
            row: term.row,
            closeness,
        })
    });
    let mut neighbours: Vec<Neighbour> = neighbours.collect();
    neighbours.sort_unstable_by_key(|neighbour| (Reverse(neighbour.closeness), neighbour.row));
    neighbours.truncate(MAX_NEIGHBOURS);
    neighbours
}

/// The first components of a vector, scaled to length 1.
fn coarse_components(levels: &Levels) -> [i8; COARSE_DIMENSIONS] {
    let length = f64::from(squared_length(levels)).sqrt().max(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "casts from floats saturate"
    )]
    std::array::from_fn(|position| {
        (f64::from(levels[position]) / length * COMPONENT_SCALE).round() as i8
    })
}

impl MeaningIndex<'_> {
    /// The terms of the index that are closest in meaning to a word of the table, the closest first.
    pub(crate) fn neighbours(&self, word: usize) -> Vec<Neighbour> {
        let starts = self.meaning.neighbour_starts.as_chunks::<4>().0;
        let Some([start, end]) = starts.get(word..word + 2) else {
            return nearest_terms(self.meaning, &self.table, word);
        };
        let [start, end] = [start, end].map(|position| u32::from_le_bytes(*position) as usize);
        let neighbours = &self.meaning.neighbours.as_chunks::<4>().0[start..end];
        let decoded = neighbours.iter().map(|bytes| {
            let [closeness, row @ ..] = *bytes;
            let [low, middle, high] = row;
            Neighbour {
                row: u32::from_le_bytes([low, middle, high, 0]) as usize,
                closeness,
            }
        });
        decoded.collect()
    }
}

#[cfg(all(test, feature = "meaning"))]
mod tests {
    use climax_catalog::facts::{Facts, ToolFacts};

    use super::super::{build_meaning, built_in_table};
    use super::*;
    use crate::index::build_index;

    #[test]
    fn baked_neighbours_are_those_that_a_search_finds() {
        let description = "delete a file, copy a folder, print text, download pages, count words";
        let facts = Facts {
            clis: vec![crate::test_facts::cli("cli")],
            tools: vec![ToolFacts {
                name: "tool",
                description,
                ..crate::test_facts::tool(Vec::new())
            }],
            has_policy: false,
        };
        let table = built_in_table().expect("the feature is enabled");
        let index = build_index(&facts);
        let scanned = build_meaning(&facts, &index);
        let mut baked = build_meaning(&facts, &index);
        bake_neighbours(&mut baked, &table);
        assert!(baked.term_components.is_empty());
        let [scanned, baked] =
            [&scanned, &baked].map(|meaning| MeaningIndex::new(meaning).expect("it has tools"));
        for word in 0..table.len() {
            assert_eq!(scanned.neighbours(word), baked.neighbours(word));
        }
        let erase = table.find(b"eras").expect("a frequent word");
        let term_index = index.term_index(1);
        assert_eq!(term_index.term(baked.neighbours(erase)[0].row), "delet");
    }
}

//! Turns terms into a trigram index, which finds similarly spelled terms. Computes edit distances.

use std::borrow::Cow;
use std::collections::BTreeMap;

use climax_catalog::rows::to_u32;

climax_catalog::tables! {
    /// The terms that contain each trigram. Numbers are four bytes, little-endian.
    Trigrams {
        /// For each trigram, and once more for the end: the trigram, and where its terms begin in `terms`.
        rows: Cow<'static, [u8]>,
        /// The numbers of terms.
        terms: Cow<'static, [u8]>,
    }
}

/// A trigram index that can be searched: borrows the tables of [`Trigrams`].
#[derive(Clone, Copy)]
pub struct TrigramIndex<'t> {
    /// See [`Trigrams`].
    pub rows: &'t [[u8; 8]],
    /// See [`Trigrams`].
    pub terms: &'t [[u8; 4]],
}

/// Whether a term takes part in fuzzy matching. Short terms, and those with other characters than ASCII
/// letters, only match exactly.
pub(crate) fn is_fuzzy_matchable(term: &str) -> bool {
    term.len() >= 4 && term.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The distinct trigrams of a term, including those with its start and its end. Each letter takes five bits.
fn trigrams(term: &str) -> Vec<u32> {
    const BOUNDARY: u32 = 27;
    let letters = term.bytes().map(|byte| u32::from(byte - b'a'));
    let letters: Vec<u32> = [BOUNDARY]
        .into_iter()
        .chain(letters)
        .chain([BOUNDARY])
        .collect();
    let mut trigrams: Vec<u32> = letters
        .windows(3)
        .map(|window| {
            window
                .iter()
                .fold(0, |trigram, letter| trigram << 5 | letter)
        })
        .collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Indexes terms by their trigrams.
pub(crate) fn build_trigram_index<'w>(terms: impl Iterator<Item = &'w str>) -> Trigrams {
    let mut terms_by_trigram: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, term) in (0..).zip(terms) {
        if is_fuzzy_matchable(term) {
            for trigram in trigrams(term) {
                terms_by_trigram.entry(trigram).or_default().push(number);
            }
        }
    }
    let mut index = Trigrams::default();
    let end = (u32::MAX, Vec::new());
    for (trigram, terms) in terms_by_trigram.into_iter().chain([end]) {
        let start = to_u32(index.terms.len() / 4);
        index
            .rows
            .to_mut()
            .extend([trigram, start].into_iter().flat_map(u32::to_le_bytes));
        index
            .terms
            .to_mut()
            .extend(terms.into_iter().flat_map(u32::to_le_bytes));
    }
    index
}

impl TrigramIndex<'_> {
    /// Calls `visit` for each indexed term that has trigrams in common with `term`, with the number of common
    /// trigrams. `counts` has a zero for each indexed term, before and after the call.
    pub(crate) fn for_each_candidate(
        &self,
        term: &str,
        counts: &mut [u8],
        mut visit: impl FnMut(usize, usize),
    ) {
        let mut candidates = Vec::new();
        for trigram in trigrams(term) {
            for number in self.terms_with(trigram) {
                let number = u32::from_le_bytes(*number) as usize;
                let Some(count) = counts.get_mut(number) else {
                    continue;
                };
                if *count == 0 {
                    candidates.push(number);
                }
                *count = count.saturating_add(1);
            }
        }
        for number in candidates {
            visit(number, usize::from(counts[number]));
            counts[number] = 0;
        }
    }

    fn terms_with(&self, trigram: u32) -> &[[u8; 4]] {
        let number_at = |row: &[u8; 8], offset: usize| {
            let bytes = row[offset..].first_chunk().expect("a row has two numbers");
            u32::from_le_bytes(*bytes)
        };
        let position = self.rows.partition_point(|row| number_at(row, 0) < trigram);
        match self.rows.get(position..position + 2) {
            Some([row, next]) if number_at(row, 0) == trigram => {
                let range = number_at(row, 4) as usize..number_at(next, 4) as usize;
                &self.terms[range]
            }
            _ => &[],
        }
    }
}

/// Longer words have no edit distance.
const MAX_WORD_BYTES: usize = 64;

/// The edit distance of two words (optimal string alignment: insertions, deletions, substitutions and
/// transpositions of neighbours), if it is at most `max_distance`.
#[must_use]
pub fn edit_distance(one: &str, other: &str, max_distance: u8) -> Option<u8> {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // Cheap lower bounds, because most pairs are far apart.
    let is_too_far = one.len().abs_diff(other.len()) > usize::from(max_distance)
        || one.len().max(other.len()) > MAX_WORD_BYTES
        || (letter_set(one) ^ letter_set(other)).count_ones() > 2 * u32::from(max_distance);
    if is_too_far {
        return None;
    }
    // Three rows of the matrix in rotation: two earlier ones and the next one.
    let mut rows = [[0_u8; MAX_WORD_BYTES + 1]; 3];
    for (cell, distance) in rows[0].iter_mut().zip(0..) {
        *cell = distance;
    }
    for (i, letter) in one.iter().enumerate() {
        let [before_last, last, next] = [(i + 2) % 3, i % 3, (i + 1) % 3];
        rows[next][0] = rows[last][0] + 1;
        let mut row_minimum = rows[next][0];
        for (j, other_letter) in other.iter().enumerate() {
            let substitution = rows[last][j] + u8::from(letter != other_letter);
            let insertion_or_deletion = rows[last][j + 1].min(rows[next][j]) + 1;
            let mut distance = substitution.min(insertion_or_deletion);
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *other_letter {
                let transposition = rows[before_last][j - 1] + 1;
                distance = distance.min(transposition);
            }
            rows[next][j + 1] = distance;
            row_minimum = row_minimum.min(distance);
        }
        if row_minimum > max_distance {
            return None;
        }
    }
    let distance = rows[one.len() % 3][other.len()];
    (distance <= max_distance).then_some(distance)
}

/// The letters of a word as bits. Other characters share bits with letters.
fn letter_set(word: &[u8]) -> u32 {
    word.iter().fold(0, |set, letter| set | 1 << (letter & 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_terms_with_common_trigrams_and_their_number() {
        let terms = ["commit", "committee", "remit", "git", "push"];
        let tables = build_trigram_index(terms.into_iter());
        let index = TrigramIndex {
            rows: tables.rows.as_chunks().0,
            terms: tables.terms.as_chunks().0,
        };
        let mut counts = [0; 5];
        let mut candidates = Vec::new();
        index.for_each_candidate("commit", &mut counts, |term, common| {
            candidates.push((terms[term], common));
        });
        candidates.sort_unstable();
        // `^co com omm mmi mit it$`; `git` is too short for fuzzy matching.
        assert_eq!(candidates, [("commit", 6), ("committee", 5), ("remit", 2)]);
        assert_eq!(counts, [0; 5]);
    }

    #[test]
    fn edit_distance_counts_edits_and_transpositions_up_to_the_maximum() {
        for (one, other, expected) in [
            ("grep", "grep", Some(0)),
            ("gerp", "grep", Some(1)),
            ("comit", "commit", Some(1)),
            ("comitt", "commit", Some(2)),
            ("abcd", "badc", Some(2)),
            ("abc", "xyz", None),
            ("a", "abcd", None),
        ] {
            assert_eq!(edit_distance(one, other, 2), expected, "{one} {other}");
        }
    }
}

//! Finds words that are written alike: which have three letters in a row in common.

use std::borrow::Cow;
use std::collections::BTreeMap;

climax_catalog::tables! {
    /// The words that have each trigram. Numbers are little-endian, of four bytes.
    Trigrams {
        /// Two numbers for each trigram, and for the end: the trigram, and where its words begin.
        rows: Cow<'static, [u8]>,
        /// The numbers of words.
        words: Cow<'static, [u8]>,
    }
}

/// The same, baked or not.
#[derive(Clone, Copy)]
pub struct View<'t> {
    /// See [`Trigrams`].
    pub rows: &'t [[u8; 8]],
    /// See [`Trigrams`].
    pub words: &'t [[u8; 4]],
}

/// Whether a word is looked at at all: short ones and those with other signs are known or not.
pub(crate) fn is_plain(word: &str) -> bool {
    word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The trigrams of a word with its ends, each once: five bits a letter.
fn trigrams(word: &str) -> Vec<u32> {
    const END: u32 = 27;
    let letters = word.bytes().map(|byte| u32::from(byte - b'a'));
    let letters: Vec<u32> = [END].into_iter().chain(letters).chain([END]).collect();
    let mut keys: Vec<u32> = letters
        .windows(3)
        .map(|three| three.iter().fold(0, |key, letter| key << 5 | letter))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Indexes words by their trigrams.
pub(crate) fn index<'w>(words: impl Iterator<Item = &'w str>) -> Trigrams {
    let mut words_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, word) in (0..).zip(words) {
        if is_plain(word) {
            for key in trigrams(word) {
                words_of.entry(key).or_default().push(number);
            }
        }
    }
    let mut index = Trigrams::default();
    let end = u32::MAX;
    for (key, words) in words_of.into_iter().chain([(end, Vec::new())]) {
        let start = u32::try_from(index.words.len() / 4).expect("less than 4 GiB");
        index
            .rows
            .to_mut()
            .extend([key, start].into_iter().flat_map(u32::to_le_bytes));
        index
            .words
            .to_mut()
            .extend(words.into_iter().flat_map(u32::to_le_bytes));
    }
    index
}

impl View<'_> {
    /// Hands over the words that have a trigram in common with a word, and how many. `counts` has a zero
    /// for each word, and has so again afterwards.
    pub(crate) fn alike(&self, word: &str, counts: &mut [u8], mut take: impl FnMut(usize, usize)) {
        let mut met = Vec::new();
        for key in trigrams(word) {
            for number in self.words_of(key) {
                let number = u32::from_le_bytes(*number) as usize;
                let Some(count) = counts.get_mut(number) else {
                    continue;
                };
                if *count == 0 {
                    met.push(number);
                }
                *count = count.saturating_add(1);
            }
        }
        for number in met {
            take(number, usize::from(counts[number]));
            counts[number] = 0;
        }
    }

    fn words_of(&self, key: u32) -> &[[u8; 4]] {
        let half = |row: &[u8; 8], at: usize| {
            let bytes = row[at..].first_chunk().expect("a row has two numbers");
            u32::from_le_bytes(*bytes)
        };
        let at = self.rows.partition_point(|row| half(row, 0) < key);
        match self.rows.get(at..at + 2) {
            Some([row, next]) if half(row, 0) == key => {
                let range = half(row, 4) as usize..half(next, 4) as usize;
                &self.words[range]
            }
            _ => &[],
        }
    }
}

/// How alike two words are that have so many trigrams in common: 0 not at all, 1 the same. A word with its
/// ends has as many trigrams as letters.
pub(crate) fn dice(word: &str, other: &str, common: usize) -> f64 {
    let counts = [common, word.len(), other.len()];
    let [common, one, two] = counts.map(|count| u32::try_from(count).map_or(0.0, f64::from));
    2.0 * common / (one + two)
}

/// The longest words that are compared letter by letter.
const LONGEST: usize = 64;

/// How many letters have to be put in, taken out, changed or swapped with the next to make one word of
/// another, if that is not more than `most`.
#[must_use]
pub fn distance(one: &str, other: &str, most: u8) -> Option<u8> {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let is_far = one.len().abs_diff(other.len()) > usize::from(most)
        || one.len().max(other.len()) > LONGEST
        || (letters(one) ^ letters(other)).count_ones() > 2 * u32::from(most);
    if is_far {
        return None;
    }
    // The row before the last, the last, and the one that is made, in turn.
    let mut rows = [[0_u8; LONGEST + 1]; 3];
    for (cell, distance) in rows[0].iter_mut().zip(0..) {
        *cell = distance;
    }
    for (i, letter) in one.iter().enumerate() {
        let [before, row, next] = [(i + 2) % 3, i % 3, (i + 1) % 3];
        rows[next][0] = rows[row][0] + 1;
        let mut least_of_row = rows[next][0];
        for (j, theirs) in other.iter().enumerate() {
            let changed = rows[row][j] + u8::from(letter != theirs);
            let one_more = rows[row][j + 1].min(rows[next][j]) + 1;
            let mut least = changed.min(one_more);
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *theirs {
                least = least.min(rows[before][j - 1] + 1);
            }
            rows[next][j + 1] = least;
            least_of_row = least_of_row.min(least);
        }
        if least_of_row > most {
            return None;
        }
    }
    Some(rows[one.len() % 3][other.len()]).filter(|distance| *distance <= most)
}

/// Which letters a word has.
fn letters(word: &[u8]) -> u32 {
    word.iter()
        .fold(0, |letters, letter| letters | 1 << (letter & 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_common_trigrams_are_found_with_their_number() {
        let words = ["commit", "committee", "remit", "git", "push"];
        let index = index(words.into_iter());
        let view = View {
            rows: index.rows.as_chunks().0,
            words: index.words.as_chunks().0,
        };
        let mut counts = [0; 5];
        let mut found = Vec::new();
        view.alike("commit", &mut counts, |word, common| {
            found.push((words[word], common));
        });
        found.sort_unstable();
        // `^co com omm mmi mit it$`, and `git` is too short to be looked at.
        assert_eq!(found, [("commit", 6), ("committee", 5), ("remit", 2)]);
        assert_eq!(counts, [0; 5]);
        assert!((dice("commit", "commit", 6) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_distance_counts_letters_and_swaps() {
        for (one, other, expected) in [
            ("grep", "grep", Some(0)),
            ("gerp", "grep", Some(1)),
            ("comit", "commit", Some(1)),
            ("comitt", "commit", Some(2)),
            ("abcd", "badc", Some(2)),
            ("abc", "xyz", None),
            ("a", "abcd", None),
        ] {
            assert_eq!(distance(one, other, 2), expected, "{one} {other}");
        }
    }
}

//! Reads the table of word vectors, `vectors/words.bin`, which `vectors/pack.py` makes.
//!
//! The file has, one after the other and little-endian:
//! - eight bytes that identify the format, and the number of dimensions (four bytes);
//! - the median length of a vector (four bytes);
//! - for each word length from 1 to [`MAX_WORD_BYTES`], the number of words of that length (four bytes each);
//! - the words, which are stems, without separators, by length and then alphabetically;
//! - for each word, its step (two bytes);
//! - for each word, one bit that says whether it is everyday English;
//! - for each word, its vector: a level from -7 to 7 for each dimension, the most significant dimensions first.
//!   A block of 64 dimensions takes 32 bytes, the first 32 dimensions in the low halves, and a byte half is the
//!   level plus 8.
//!
//! A component of a vector is its level times the step of the word.

use std::ops::Range;

/// The number of components of a vector.
pub(crate) const DIMENSIONS: usize = 256;
/// Longer words have no vector.
pub(crate) const MAX_WORD_BYTES: usize = 24;

const IDENTIFICATION: &[u8; 8] = b"CLXVEC1\0";
const BLOCK_BYTES: usize = 32;
const ROW_BYTES: usize = DIMENSIONS / 2;
/// A word that is not in the table has a vector if it has at least this many letters.
const MIN_COMPOUND_BYTES: usize = 5;
/// The minimum length of the parts that such a word is split into.
const MIN_PART_BYTES: usize = 3;

/// The levels of a word's vector.
pub(crate) type Levels = [i8; DIMENSIONS];
/// A sum of word vectors. Words are added in the order of the text, so every machine gets the same sum.
pub(crate) type VectorSum = [f32; DIMENSIONS];

/// The table that is built into this binary.
#[cfg(feature = "meaning")]
const BUILT_IN: Option<&[u8]> = Some(include_bytes!("../../../../vectors/words.bin"));
#[cfg(not(feature = "meaning"))]
const BUILT_IN: Option<&[u8]> = None;

/// The table that is built into this binary, if the feature `meaning` is enabled.
pub(crate) fn built_in_table() -> Option<WordTable<'static>> {
    BUILT_IN.map(WordTable::new)
}

/// A table of word vectors. A word is identified by its number in the table.
#[derive(Clone, Copy)]
pub(crate) struct WordTable<'t> {
    words: &'t [u8],
    /// For each word length: the number of its first word, and where that begins in `words`.
    groups: [(usize, usize); MAX_WORD_BYTES + 1],
    steps: &'t [[u8; 2]],
    everyday: &'t [u8],
    rows: &'t [[u8; ROW_BYTES]],
    /// The median length of a vector.
    pub(crate) median_length: f64,
}

impl<'t> WordTable<'t> {
    /// Opens a table.
    ///
    /// # Panics
    /// If the bytes are not a table.
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        let mut rest = bytes;
        let mut take = |length: usize| {
            let (part, after) = rest.split_at(length);
            rest = after;
            part
        };
        assert_eq!(take(8), IDENTIFICATION, "the table has another format");
        assert_eq!(number(take(4)), DIMENSIONS, "the table has other vectors");
        let median_length = to_f64(number(take(4)));
        let mut groups = [(0, 0); MAX_WORD_BYTES + 1];
        let (mut count, mut position) = (0, 0);
        for (group, length) in groups.iter_mut().zip(1..=MAX_WORD_BYTES) {
            *group = (count, position);
            let words = number(take(4));
            count += words;
            position += words * length;
        }
        groups[MAX_WORD_BYTES] = (count, position);
        Self {
            words: take(position),
            groups,
            steps: take(2 * count).as_chunks().0,
            everyday: take(count.div_ceil(8)),
            rows: take(ROW_BYTES * count).as_chunks().0,
            median_length,
        }
    }

    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of a word.
    pub(crate) fn find(&self, word: &[u8]) -> Option<usize> {
        let length = word.len();
        if !(1..=MAX_WORD_BYTES).contains(&length) {
            return None;
        }
        let (first, position) = self.groups[length - 1];
        let (_, end) = self.groups[length];
        let (mut low, mut high) = (0, (end - position) / length);
        while low < high {
            let middle = usize::midpoint(low, high);
            let start = position + middle * length;
            match self.words[start..start + length].cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(first + middle),
            }
        }
        None
    }

    /// Whether a word is everyday English.
    pub(crate) fn is_everyday(&self, word: usize) -> bool {
        self.everyday[word / 8] >> (word % 8) & 1 != 0
    }

    /// The levels of a word's vector.
    pub(crate) fn levels(&self, word: usize) -> Levels {
        let mut levels = [0; DIMENSIONS];
        let blocks = self.rows[word].as_chunks::<BLOCK_BYTES>().0;
        for (block, levels) in blocks.iter().zip(levels.chunks_exact_mut(2 * BLOCK_BYTES)) {
            let (low, high) = levels.split_at_mut(BLOCK_BYTES);
            for ((byte, low), high) in block.iter().zip(low).zip(high) {
                *low = (byte & 15).cast_signed() - 8;
                *high = (byte >> 4).cast_signed() - 8;
            }
        }
        levels
    }

    /// The length of a word's vector.
    pub(crate) fn length(&self, word: usize) -> f64 {
        let squared = squared_length(&self.levels(word));
        f64::from(squared).sqrt() * f64::from(self.step(word))
    }

    /// Adds the vector of a stem to a sum, multiplied by a weight. Half the mean of its parts stands for the
    /// vector of a stem that is not in the table.
    pub(crate) fn add(&self, stem: &str, weight: f32, sum: &mut VectorSum) {
        if let Some(word) = self.find(stem.as_bytes()) {
            self.add_word(word, weight, sum);
            return;
        }
        let parts = self.parts(stem.as_bytes());
        let part_weight = weight / (2.0 * parts.iter().map(|_| 1.0).sum::<f32>());
        for part in parts {
            self.add_word(part, part_weight, sum);
        }
    }

    /// Adds the vector of a word to a sum, multiplied by a weight.
    fn add_word(&self, word: usize, weight: f32, sum: &mut VectorSum) {
        let factor = f32::from(self.step(word)) * weight;
        for (sum, level) in sum.iter_mut().zip(self.levels(word)) {
            *sum += factor * f32::from(level);
        }
    }

    fn step(&self, word: usize) -> u16 {
        u16::from_le_bytes(self.steps[word])
    }

    /// Splits a stem that is not in the table into the longest words of the table, from left to right.
    fn parts(&self, stem: &[u8]) -> Vec<usize> {
        let mut parts = Vec::new();
        let mut start = 0;
        let is_compound = (MIN_COMPOUND_BYTES..=MAX_WORD_BYTES).contains(&stem.len());
        while is_compound && start < stem.len() {
            let lengths: Range<usize> = MIN_PART_BYTES..stem.len() - start + 1;
            let longest = lengths.rev().find_map(|length| {
                let part = self.find(&stem[start..start + length])?;
                Some((part, length))
            });
            match longest {
                Some((part, length)) => {
                    parts.push(part);
                    start += length;
                }
                None => start += 1,
            }
        }
        parts
    }
}

/// The square of the length of a vector, in steps.
pub(crate) fn squared_length(levels: &Levels) -> u16 {
    let squares = levels.iter().map(|level| u16::from(level.unsigned_abs()));
    squares.map(|level| level * level).sum()
}

fn number(bytes: &[u8]) -> usize {
    let bytes = bytes.first_chunk().expect("a number has four bytes");
    u32::from_le_bytes(*bytes) as usize
}

fn to_f64(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}

#[cfg(all(test, feature = "meaning"))]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete_and_sorted() {
        let table = built_in_table().expect("the feature is enabled");
        assert!(table.len() > 20_000);
        // Terms of the index store the number of a word in two bytes.
        assert!(table.len() < usize::from(u16::MAX));
        for length in 1..=MAX_WORD_BYTES {
            let [(_, start), (_, end)] = [length - 1, length].map(|group| table.groups[group]);
            assert!(table.words[start..end].chunks(length).is_sorted());
        }
        let lengths = (0..table.len()).map(|word| table.length(word));
        let longer = lengths.filter(|length| *length > table.median_length);
        assert!(longer.count().abs_diff(table.len() / 2) < 10);
    }

    #[test]
    fn words_are_found_and_others_consist_of_parts() {
        let table = built_in_table().expect("the feature is enabled");
        assert!(table.find(b"file").is_some());
        assert_eq!(table.find(b"qqqxzzq"), None);
        assert_eq!(table.find(b""), None);
        let [lock, file] = [&b"lock"[..], b"file"].map(|word| table.find(word).expect("known"));
        assert_eq!(table.parts(b"lockqqfile"), [lock, file]);
        assert_eq!(table.parts(b"lckf"), [0; 0]);
        let sum_of = |stem: &str| {
            let mut sum = [0.0; DIMENSIONS];
            table.add(stem, 4.0, &mut sum);
            sum
        };
        let [lock, file, both] = ["lock", "file", "lockqqfile"].map(sum_of);
        assert!((both[0] - lock[0] / 4.0 - file[0] / 4.0).abs() < 0.01);
        assert!(sum_of("qqqxzzq").iter().all(|component| *component == 0.0));
    }

    #[test]
    fn everyday_words_are_marked() {
        let table = built_in_table().expect("the feature is enabled");
        let is_everyday = |word: &str| {
            table
                .find(word.as_bytes())
                .map(|word| table.is_everyday(word))
        };
        assert_eq!(is_everyday("find"), Some(true));
        assert_ne!(is_everyday("kubectl"), Some(true));
    }
}

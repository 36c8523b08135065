//! Turns the searchable text of tools into an inverted index for substring search: every word once, and the
//! tools that contain it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use climax_core::words::words;

use crate::rows::to_u32;

/// Flag of an occurrence: the word is part of the tool's name.
pub const IN_NAME: u32 = 1;
/// Flag of an occurrence: the word is the tool's whole name.
pub const IS_NAME: u32 = 2;
/// Flag of an occurrence: it holds for consecutive tools. The number after the last one follows.
pub const IS_RANGE: u32 = 4;
/// The number of low bits that hold flags. The tool's number is in the bits above.
pub const FLAG_BITS: u32 = 3;

crate::tables! {
    /// The inverted index of words. Numbers are four bytes, little-endian.
    WordIndex {
        /// All words, sorted, one per line.
        text: Cow<'static, str>,
        /// For each word, and once more for the end: where it begins in `text`, and where its occurrences begin
        /// in `occurrences`.
        rows: Cow<'static, [u8]>,
        /// The occurrences of all words: a tool's number and flags, followed by the end of a range.
        occurrences: Cow<'static, [u8]>,
    }
}

/// A range of consecutive tools that contain a word, with the same flags for each.
#[derive(Clone, Copy)]
struct WordOccurrence {
    first_tool: u32,
    end_tool: u32,
    flags: u32,
}

/// Indexes the words of tools. For each tool, `lines` has its folded text and the length of the name at the
/// beginning of that text.
///
/// # Panics
/// If the lines have 4 GiB or more.
#[must_use]
pub fn build_word_index<'l>(lines: impl Iterator<Item = (&'l str, usize)>) -> WordIndex {
    let mut occurrences_of: BTreeMap<&str, Vec<WordOccurrence>> = BTreeMap::new();
    for (tool, (line, name_length)) in (0..).zip(lines) {
        // A tool's name is ASCII, so folding keeps its length.
        let (name, rest) = line.split_at(name_length);
        let mut flags_of: BTreeMap<&str, u32> = words(rest).map(|word| (word, 0)).collect();
        for word in words(name) {
            let is_name = if word == name { IS_NAME } else { 0 };
            flags_of.insert(word, IN_NAME | is_name);
        }
        for (word, flags) in flags_of {
            add_occurrence(occurrences_of.entry(word).or_default(), tool, flags);
        }
    }
    let mut index = WordIndex::default();
    for (word, occurrences) in occurrences_of {
        index.start_row();
        index.text.to_mut().extend([word, "\n"]);
        for occurrence in occurrences {
            index.push(occurrence);
        }
    }
    index.start_row();
    index
}

/// Adds a tool, or extends the last range by it.
fn add_occurrence(occurrences: &mut Vec<WordOccurrence>, tool: u32, flags: u32) {
    match occurrences.last_mut() {
        Some(last) if last.end_tool == tool && last.flags == flags => last.end_tool += 1,
        _ => occurrences.push(WordOccurrence {
            first_tool: tool,
            end_tool: tool + 1,
            flags,
        }),
    }
}

impl WordIndex {
    fn push(&mut self, occurrence: WordOccurrence) {
        let WordOccurrence {
            first_tool,
            end_tool,
            flags,
        } = occurrence;
        let is_single = end_tool == first_tool + 1;
        let range_flag = if is_single { 0 } else { IS_RANGE };
        let occurrences = self.occurrences.to_mut();
        occurrences.extend((first_tool << FLAG_BITS | range_flag | flags).to_le_bytes());
        if !is_single {
            occurrences.extend(end_tool.to_le_bytes());
        }
    }

    /// Adds the row of the next word. It also ends the row before, so there is one more than there are words.
    fn start_row(&mut self) {
        for position in [self.text.len(), self.occurrences.len() / size_of::<u32>()] {
            let position = to_u32(position);
            self.rows.to_mut().extend(position.to_le_bytes());
        }
    }
}

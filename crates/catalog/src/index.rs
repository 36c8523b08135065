//! The words of all tools, and in which tools each is: what a search for a word looks into.
//!
//! Where a word is, is told by a number for each tool that has it: the tool's own times eight, plus
//! the marks below.

use std::borrow::Cow;
use std::collections::BTreeMap;

use climax_core::words::words;

use crate::rows::count;

/// The word is in the tool's name.
pub const IN_NAME: u32 = 1;
/// The word is the tool's name.
pub const IS_NAME: u32 = 2;
/// It is so for several tools in a row; the number of the first that is not one of them follows.
pub const RANGE: u32 = 4;
/// How far the tool's number is shifted to make room for the marks.
pub const SHIFT: u32 = 3;

crate::tables! {
    /// The words of all tools, and in which tools each is. Numbers are little-endian, of four bytes.
    Words {
        /// Each word once, sorted, one a line.
        text: Cow<'static, str>,
        /// Two numbers for each word, and for the end: where it begins in the text, and where its
        /// places begin.
        rows: Cow<'static, [u8]>,
        /// Where each word is.
        places: Cow<'static, [u8]>,
    }
}

/// Tools in a row that have a word, and the marks that it has there.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    end: u32,
    marks: u32,
}

/// Indexes what is searched in: for each tool a folded line, and how long the name is with which the
/// line begins.
///
/// # Panics
/// The lines have 4 GiB.
#[must_use]
pub fn index<'l>(lines: impl Iterator<Item = (&'l str, usize)>) -> Words {
    let mut places_of: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for (number, (line, name_length)) in (0..).zip(lines) {
        // A tool's name is ASCII, so folding keeps its length.
        let (name, rest) = line.split_at(name_length);
        let mut marks_of: BTreeMap<&str, u32> = words(rest).map(|word| (word, 0)).collect();
        for word in words(name) {
            let is_name = if word == name { IS_NAME } else { 0 };
            marks_of.insert(word, IN_NAME | is_name);
        }
        for (word, marks) in marks_of {
            add(places_of.entry(word).or_default(), number, marks);
        }
    }
    let mut index = Words::default();
    for (word, places) in places_of {
        index.end_row();
        index.text.to_mut().extend([word, "\n"]);
        for place in places {
            index.push(place);
        }
    }
    index.end_row();
    index
}

fn add(places: &mut Vec<Place>, tool: u32, marks: u32) {
    match places.last_mut() {
        Some(last) if last.end == tool && last.marks == marks => last.end += 1,
        _ => places.push(Place {
            first: tool,
            end: tool + 1,
            marks,
        }),
    }
}

impl Words {
    fn push(&mut self, place: Place) {
        let Place { first, end, marks } = place;
        let is_one = end == first + 1;
        let range = if is_one { 0 } else { RANGE };
        let places = self.places.to_mut();
        places.extend((first << SHIFT | range | marks).to_le_bytes());
        if !is_one {
            places.extend(end.to_le_bytes());
        }
    }

    /// Where the next row begins, and the one before ends.
    fn end_row(&mut self) {
        for position in [self.text.len(), self.places.len() / size_of::<u32>()] {
            let position = count(position);
            self.rows.to_mut().extend(position.to_le_bytes());
        }
    }
}

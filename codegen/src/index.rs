//! The words of all tools, and in which tools each is: what a search for a word looks into.

use std::collections::BTreeMap;

use climax_core::places::{IN_NAME, IS_NAME, RANGE, SHIFT};
use climax_core::words::words;

use crate::layout::{Layout, count};

/// Tools in a row that have a word, and the marks that it has there.
#[derive(Clone, Copy)]
struct Place {
    first: u32,
    end: u32,
    marks: u32,
}

/// The index, as the binary holds it. See the runtime's `Words` for each field's meaning.
#[expect(missing_docs, reason = "the runtime documents them")]
pub struct Index {
    pub text: String,
    pub rows: Vec<u8>,
    pub places: Vec<u8>,
}

/// Indexes what is searched in.
#[must_use]
pub fn index(layout: &Layout) -> Index {
    let haystack = layout.haystack.parts.concat();
    let mut places_of: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for (number, tool) in (0..).zip(&layout.tools) {
        let start = tool.haystack.at as usize;
        let line = &haystack[start..start + tool.haystack.len as usize];
        // A tool's name is ASCII, so folding keeps its length.
        let (name, rest) = line.split_at(tool.name.len as usize);
        let mut marks_of: BTreeMap<&str, u32> = words(rest).map(|word| (word, 0)).collect();
        for word in words(name) {
            let is_name = if word == name { IS_NAME } else { 0 };
            marks_of.insert(word, IN_NAME | is_name);
        }
        for (word, marks) in marks_of {
            add(places_of.entry(word).or_default(), number, marks);
        }
    }
    let mut index = Index {
        text: String::new(),
        rows: Vec::new(),
        places: Vec::new(),
    };
    for (word, places) in places_of {
        index.end_row();
        index.text += word;
        index.text.push('\n');
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

impl Index {
    fn push(&mut self, place: Place) {
        let Place { first, end, marks } = place;
        let is_one = end == first + 1;
        let range = if is_one { 0 } else { RANGE };
        self.places
            .extend((first << SHIFT | range | marks).to_le_bytes());
        if !is_one {
            self.places.extend(end.to_le_bytes());
        }
    }

    /// Where the next row begins, and the one before ends.
    fn end_row(&mut self) {
        self.rows.extend(count(self.text.len()).to_le_bytes());
        self.rows
            .extend(count(self.places.len() / size_of::<u32>()).to_le_bytes());
    }
}

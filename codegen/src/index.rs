//! The words of all tools, and in which tools each is: what a search for a word looks into.

use std::collections::BTreeMap;

use climax_core::words::words;

use crate::layout::{Layout, count};

/// Marks a word that the tool's name has.
const IN_NAME: u32 = 1;
/// Marks a word that is the tool's name.
const IS_NAME: u32 = 2;

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
    let mut tools_of: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (number, tool) in (0..).zip(&layout.tools) {
        let start = tool.haystack.at as usize;
        let line = &haystack[start..start + tool.haystack.len as usize];
        // A tool's name is ASCII, so folding keeps its length.
        let (name, rest) = line.split_at(tool.name.len as usize);
        for word in words(name) {
            let flags = if word == name {
                IS_NAME | IN_NAME
            } else {
                IN_NAME
            };
            add(&mut tools_of, word, number, flags);
        }
        for word in words(rest) {
            add(&mut tools_of, word, number, 0);
        }
    }
    let mut index = Index {
        text: String::new(),
        rows: Vec::new(),
        places: Vec::new(),
    };
    for (word, places) in tools_of {
        index.end_row();
        index.text += word;
        index.text.push('\n');
        for place in places {
            index.places.extend(place.to_le_bytes());
        }
    }
    index.end_row();
    index
}

fn add<'h>(tools_of: &mut BTreeMap<&'h str, Vec<u32>>, word: &'h str, tool: u32, flags: u32) {
    let places = tools_of.entry(word).or_default();
    match places.last_mut() {
        // A word may be there twice.
        Some(last) if *last >> 2 == tool => *last |= flags,
        _ => places.push(tool << 2 | flags),
    }
}

impl Index {
    /// Where the next row begins, and the one before ends.
    fn end_row(&mut self) {
        self.rows.extend(count(self.text.len()).to_le_bytes());
        self.rows
            .extend(count(self.places.len() / size_of::<u32>()).to_le_bytes());
    }
}

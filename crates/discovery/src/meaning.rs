//! Search by meaning: turns words into vectors, and compares queries with tools and with the terms of the index.
//!
//! Vectors come from a table that is built into the binary. Everything that does not depend on the query is
//! computed when the catalog is built.

mod dot;
mod neighbours;
pub(crate) mod query;
mod table;
mod tools;

use std::borrow::Cow;

use climax_catalog::facts::Facts;

use crate::index::Index;
pub(crate) use neighbours::Neighbour;
pub(crate) use table::built_in_table;
use table::{DIMENSIONS, WordTable};

climax_catalog::tables! {
    /// Vectors of tools and of index terms. All tables are empty if search by meaning is not built in. Numbers
    /// are little-endian.
    Meaning {
        /// For each tool, the first [`COARSE_DIMENSIONS`] components of its vector, one signed byte each.
        coarse: Cow<'static, [u8]>,
        /// For each tool, the other components.
        fine: Cow<'static, [u8]>,
        /// For each tool, the number by which its components must be multiplied (an `f32`).
        steps: Cow<'static, [u8]>,
        /// For each term of the index that is in the word table: its row in the index (four bytes), its number in
        /// the word table and the squared length of its vector (two bytes each).
        terms: Cow<'static, [u8]>,
        /// For each of these terms, the first [`COARSE_DIMENSIONS`] components of its vector, scaled to length 1, one
        /// signed byte each. Empty if neighbours are baked.
        term_components: Cow<'static, [u8]>,
        /// For each word of the word table, and once more for the end: where its neighbours begin in
        /// `neighbours` (four bytes). Empty if the index is so small that a search finds neighbours itself.
        neighbour_starts: Cow<'static, [u8]>,
        /// The neighbours of all words: a row of the index, and the closeness in the lowest byte (four bytes).
        neighbours: Cow<'static, [u8]>,
    }
}

/// The number of components that a first comparison uses. They are the most significant ones.
const COARSE_DIMENSIONS: usize = 64;
const FINE_DIMENSIONS: usize = DIMENSIONS - COARSE_DIMENSIONS;

/// Whether search by meaning is built in.
#[must_use]
pub fn is_built_in() -> bool {
    built_in_table().is_some()
}

/// Computes the vectors of tools and terms.
pub(crate) fn build_meaning(facts: &Facts<'_>, index: &Index) -> Meaning {
    let Some(table) = built_in_table() else {
        return Meaning::default();
    };
    let mut meaning = Meaning::default();
    tools::add_tools(&mut meaning, &table, facts);
    neighbours::add_terms(&mut meaning, &table, index, facts.tools.len());
    meaning
}

impl Meaning {
    /// Bakes the neighbours of all words of the word table, unless the index is so small that a search finds them
    /// quickly. Searches return the same results either way.
    pub fn bake_neighbours(&mut self) {
        if let Some(table) = built_in_table()
            && self.terms.len() / 8 > neighbours::MAX_SCANNED_TERMS
        {
            neighbours::bake_neighbours(self, &table);
        }
    }
}

/// The tables of [`Meaning`] together with the word table.
#[derive(Clone, Copy)]
pub(crate) struct MeaningIndex<'m> {
    meaning: &'m Meaning,
    table: WordTable<'static>,
}

impl<'m> MeaningIndex<'m> {
    /// The vectors of a catalog, if it has any.
    pub(crate) fn new(meaning: &'m Meaning) -> Option<Self> {
        let table = built_in_table()?;
        (!meaning.steps.is_empty()).then_some(Self { meaning, table })
    }
}

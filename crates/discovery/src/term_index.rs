//! Looks up terms and their postings in the tables of the index.

use std::ops::Range;

use crate::index::{IMPACT_BITS, inverse_document_frequency};
use crate::trigrams::TrigramIndex;

/// An index that can be searched: borrows the tables of [`crate::index::Index`].
#[derive(Clone, Copy)]
pub struct TermIndex<'i> {
    /// See [`crate::index::Index`].
    pub terms: &'i str,
    /// See [`crate::index::Index`].
    pub rows: &'i [[u8; 12]],
    /// See [`crate::index::Index`].
    pub postings: &'i [[u8; 4]],
    /// See [`crate::index::Index`].
    pub payloads: &'i [[u8; 3]],
    /// See [`crate::index::Index`].
    pub trigrams: TrigramIndex<'i>,
    /// The number of tools in the catalog.
    pub tools: usize,
}

impl<'i> TermIndex<'i> {
    /// The number of terms.
    pub(crate) fn len(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The row of a term.
    pub(crate) fn find(&self, term: &str) -> Option<usize> {
        let row = self.lower_bound(term);
        (row < self.len() && self.term(row) == term).then_some(row)
    }

    /// The first row whose term is not less than a text.
    pub(crate) fn lower_bound(&self, text: &str) -> usize {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = usize::midpoint(start, end);
            if self.term(middle) < text {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// The term of a row.
    #[must_use]
    pub fn term(&self, row: usize) -> &'i str {
        &self.terms[self.term_start(row)..self.term_start(row + 1)]
    }

    /// The length of a row's term in bytes.
    pub(crate) fn term_length(&self, row: usize) -> usize {
        self.term_start(row + 1) - self.term_start(row)
    }

    fn term_start(&self, row: usize) -> usize {
        number_at(self.rows[row], 0)
    }

    /// The number of tools that use a row's term as a word.
    pub(crate) fn word_count(&self, row: usize) -> usize {
        number_at(self.rows[row], 8)
    }

    /// How much a row's term says about a tool.
    pub(crate) fn inverse_document_frequency(&self, row: usize) -> f64 {
        inverse_document_frequency(self.tools, self.word_count(row))
    }

    /// The postings of a row's term: tool and impact.
    pub(crate) fn postings(&self, row: usize) -> impl Iterator<Item = (u32, u32)> {
        let postings = &self.postings[self.postings_range(row)];
        postings.iter().map(|posting| {
            let posting = u32::from_le_bytes(*posting);
            let impact = posting & ((1 << IMPACT_BITS) - 1);
            (posting >> IMPACT_BITS, impact)
        })
    }

    /// For each posting of a row's term: the term's share of the names of tool and CLI.
    pub(crate) fn name_shares(&self, row: usize) -> impl Iterator<Item = u8> {
        let payloads = &self.payloads[self.postings_range(row)];
        payloads.iter().map(|[_, _, name_share]| *name_share)
    }

    /// The mask of the [`crate::index::Field`]s of a tool that contain a row's term; 0 if none does.
    #[must_use]
    pub fn field_mask(&self, row: usize, tool: u32) -> u16 {
        let range = self.postings_range(row);
        let postings = &self.postings[range.clone()];
        let position = postings
            .binary_search_by_key(&tool, |posting| u32::from_le_bytes(*posting) >> IMPACT_BITS);
        position.map_or(0, |position| {
            let [low, high, _] = self.payloads[range.start + position];
            u16::from_le_bytes([low, high])
        })
    }

    fn postings_range(&self, row: usize) -> Range<usize> {
        number_at(self.rows[row], 4)..number_at(self.rows[row + 1], 4)
    }
}

/// The number at a byte offset of a row.
fn number_at(row: [u8; 12], offset: usize) -> usize {
    let bytes = row[offset..]
        .first_chunk()
        .expect("a row has three numbers");
    u32::from_le_bytes(*bytes) as usize
}

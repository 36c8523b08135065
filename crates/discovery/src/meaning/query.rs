//! Turns a query into a vector, and compares it with the vectors of tools.

use super::dot::Multiplicand;
use super::table::{DIMENSIONS, MAX_WORD_BYTES, VectorSum};
use super::tools::normalised;
use super::{COARSE_DIMENSIONS, FINE_DIMENSIONS, MeaningIndex};
use crate::quotations::weighted_parts;
use crate::tokens::{TermStemmer, for_each_word};

/// The components of a query's vector are integers: this one represents 1. The products with the components of
/// a tool are then below 2^31.
const COMPONENT_SCALE: f32 = 4096.0;

/// The vector of a query.
pub(crate) struct QueryVector {
    coarse: Multiplicand<{ COARSE_DIMENSIONS / 16 }>,
    fine: Multiplicand<{ FINE_DIMENSIONS / 16 }>,
}

/// What the table knows about a word.
#[derive(Clone, Copy)]
pub(crate) struct WordMeaning {
    /// Its number in the table.
    pub(crate) number: usize,
    /// The length of its vector, relative to the median: how much the word says.
    pub(crate) relative_length: f64,
}

impl MeaningIndex<'_> {
    /// What the table knows about a stem, if it has it.
    pub(crate) fn word(&self, stem: &str) -> Option<WordMeaning> {
        let number = self.table.find(stem.as_bytes())?;
        let relative_length = self.table.length(number) / self.table.median_length;
        Some(WordMeaning {
            number,
            relative_length,
        })
    }

    /// Whether a word is everyday English.
    pub(crate) fn is_everyday(&self, word: &str) -> bool {
        let number = self.table.find(word.as_bytes());
        number.is_some_and(|number| self.table.is_everyday(number))
    }

    /// The vector of a query: the sum of the vectors of its words, stop words included, because theirs are
    /// short. A query without known words has none.
    pub(crate) fn query_vector(&self, query: &str) -> Option<QueryVector> {
        let stemmer = TermStemmer::default();
        let mut sum: VectorSum = [0.0; DIMENSIONS];
        for (text, weight) in weighted_parts(query) {
            #[expect(clippy::cast_possible_truncation, reason = "two digits are enough")]
            let weight = weight as f32;
            for_each_word(text, &mut |word| {
                if word.len() <= MAX_WORD_BYTES {
                    self.table.add(&stemmer.stem(word), weight, &mut sum);
                }
            });
        }
        if sum.iter().all(|component| *component == 0.0) {
            return None;
        }
        let components = normalised(&sum);
        #[expect(clippy::cast_possible_truncation, reason = "from -4096 to 4096")]
        let component =
            |position: usize| (components[position] * f64::from(COMPONENT_SCALE)).round() as i16;
        Some(QueryVector {
            coarse: Multiplicand::new(component),
            fine: Multiplicand::new(|position| component(COARSE_DIMENSIONS + position)),
        })
    }

    /// Estimates the similarity of each tool to a query from the first dimensions.
    pub(crate) fn coarse_similarities(&self, query: &QueryVector) -> Vec<f32> {
        let rows = self.meaning.coarse.as_chunks::<COARSE_DIMENSIONS>().0;
        let steps = self.meaning.steps.as_chunks().0;
        let similarities = rows.iter().zip(steps);
        let similarities = similarities.map(|(row, step)| scaled(query.coarse.dot(row), *step));
        similarities.collect()
    }

    /// The similarity of a tool to a query: the sum of the cosines to its two vectors.
    pub(crate) fn similarity(&self, query: &QueryVector, tool: u32) -> f32 {
        let tool = tool as usize;
        let coarse = &self.meaning.coarse.as_chunks::<COARSE_DIMENSIONS>().0[tool];
        let fine = &self.meaning.fine.as_chunks::<FINE_DIMENSIONS>().0[tool];
        let step = self.meaning.steps.as_chunks().0[tool];
        scaled(query.coarse.dot(coarse) + query.fine.dot(fine), step)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the relative error is tiny")]
fn scaled(product: i32, step: [u8; 4]) -> f32 {
    product as f32 * f32::from_le_bytes(step) / COMPONENT_SCALE
}

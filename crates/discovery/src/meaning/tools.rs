//! Turns the texts of tools into vectors.

use std::collections::HashMap;

use climax_catalog::facts::{Facts, ToolFacts};

use super::table::{DIMENSIONS, MAX_WORD_BYTES, VectorSum, WordTable};
use super::{COARSE_DIMENSIONS, Meaning};
use crate::index::requests;
use crate::tokens::{TermStemmer, for_each_word};

/// The largest component of a tool's vector, as a byte.
const MAX_COMPONENT: f64 = 127.0;

/// Adds the vector of each tool: the sum of two vectors of length 1, one of the tool's name and description, and
/// one of everything that is known about it.
pub(super) fn add_tools(meaning: &mut Meaning, table: &WordTable<'_>, facts: &Facts<'_>) {
    let mut texts = TextVectors {
        table,
        stemmer: TermStemmer::default(),
        stems: HashMap::new(),
    };
    let clis = facts.clis.iter();
    let cli_sums: Vec<[VectorSum; 2]> = clis
        .map(|cli| [texts.sum(cli.name), texts.sum(cli.description)])
        .collect();
    for tool in &facts.tools {
        let mut own = total(&[texts.sum(tool.name), texts.sum(tool.description)]);
        for request in tool.keywords.iter().copied().chain(requests(tool)) {
            own = total(&[own, texts.sum(request)]);
        }
        let [cli_name, cli_description] = &cli_sums[tool.cli];
        let mut everything = total(&[own, *cli_name, texts.arguments_sum(tool)]);
        if facts.cli_of(tool).description != tool.description {
            everything = total(&[everything, *cli_description]);
        }
        let (own, everything) = (normalised(&own), normalised(&everything));
        let components: Vec<f64> = own.iter().zip(everything).map(|(a, b)| a + b).collect();
        let largest = components.iter().fold(0.0, |max: f64, c| max.max(c.abs()));
        let step = largest / MAX_COMPONENT;
        let bytes = components.iter().map(|component| {
            #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
            let level = (component / step).round() as i8;
            level.cast_unsigned()
        });
        let bytes: Vec<u8> = bytes.collect();
        let (coarse, fine) = bytes.split_at(COARSE_DIMENSIONS);
        meaning.coarse.to_mut().extend(coarse);
        meaning.fine.to_mut().extend(fine);
        #[expect(clippy::cast_possible_truncation, reason = "three digits are enough")]
        let step = step as f32;
        meaning.steps.to_mut().extend(step.to_le_bytes());
    }
}

/// Adds up the vectors of words.
struct TextVectors<'t> {
    table: &'t WordTable<'t>,
    stemmer: TermStemmer,
    /// The stem of each word that has occurred.
    stems: HashMap<String, String>,
}

impl TextVectors<'_> {
    fn sum(&mut self, text: &str) -> VectorSum {
        let mut sum = [0.0; DIMENSIONS];
        for_each_word(text, &mut |word| {
            if word.len() > MAX_WORD_BYTES {
                return;
            }
            if let Some(stem) = self.stems.get(word) {
                self.table.add(stem, 1.0, &mut sum);
                return;
            }
            let stem = self.stemmer.stem(word).into_owned();
            self.table.add(&stem, 1.0, &mut sum);
            self.stems.insert(word.to_owned(), stem);
        });
        sum
    }

    /// Names and descriptions of a tool's arguments. A description that repeats the name says nothing new.
    fn arguments_sum(&mut self, tool: &ToolFacts<'_>) -> VectorSum {
        let mut sum = [0.0; DIMENSIONS];
        for argument in &tool.arguments {
            sum = total(&[sum, self.sum(argument.name)]);
            if argument.description != argument.name {
                sum = total(&[sum, self.sum(argument.description)]);
            }
        }
        sum
    }
}

fn total(sums: &[VectorSum]) -> VectorSum {
    let mut total = [0.0; DIMENSIONS];
    for sum in sums {
        for (total, component) in total.iter_mut().zip(sum) {
            *total += component;
        }
    }
    total
}

/// A sum of vectors, scaled to length 1. Zero stays zero.
pub(super) fn normalised(sum: &VectorSum) -> [f64; DIMENSIONS] {
    let components = sum.map(f64::from);
    // Added up in order, so that every machine gets the same result.
    let squared = components
        .iter()
        .fold(0.0, |sum, component| sum + component * component);
    let length = squared.sqrt().max(f64::MIN_POSITIVE);
    components.map(|component| component / length)
}

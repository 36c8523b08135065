//! Turns the index into term vectors of tools, and compares tools by cosine similarity.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use climax_catalog::facts::Facts;
use climax_catalog::rows::to_u32;

use crate::index::Index;

/// The term vector of each tool: term numbers and impacts, sorted by term and normalised to length 1.
pub struct Vectors {
    tools: Vec<Vec<(u32, f64)>>,
}

impl Vectors {
    /// Inverts the index: from the tools of each term to the terms of each tool.
    #[must_use]
    pub fn new(facts: &Facts<'_>, index: &Index) -> Self {
        let mut tools: Vec<Vec<(u32, f64)>> = Vec::new();
        tools.resize_with(facts.tools.len(), Vec::new);
        let index = index.term_index(facts.tools.len());
        for row in 0..index.len() {
            let idf = index.inverse_document_frequency(row);
            for (tool, impact) in index.postings(row) {
                tools[tool as usize].push((to_u32(row), idf * f64::from(impact)));
            }
        }
        for vector in &mut tools {
            let norm = vector
                .iter()
                .map(|(_, impact)| impact * impact)
                .sum::<f64>()
                .sqrt();
            for (_, impact) in vector {
                *impact /= norm;
            }
        }
        Self { tools }
    }

    /// The cosine similarity of two tools: 0 without common terms, 1 for the same vector.
    #[must_use]
    pub fn similarity(&self, tool: usize, other_tool: usize) -> f64 {
        let (mut left, mut right) = (
            self.tools[tool].iter().peekable(),
            self.tools[other_tool].iter().peekable(),
        );
        let mut sum = 0.0;
        while let (Some((term, impact)), Some((other_term, other_impact))) =
            (left.peek(), right.peek())
        {
            match term.cmp(other_term) {
                Ordering::Less => drop(left.next()),
                Ordering::Greater => drop(right.next()),
                Ordering::Equal => {
                    sum += impact * other_impact;
                    left.next();
                    right.next();
                }
            }
        }
        sum
    }

    /// The mean similarity of each tool to all tools of its category, in thousandths.
    #[must_use]
    pub fn centrality(&self, facts: &Facts<'_>) -> Vec<u32> {
        let category = |tool: usize| facts.cli_of(&facts.tools[tool]).category;
        let mut vector_sums: BTreeMap<Option<&str>, BTreeMap<u32, f64>> = BTreeMap::new();
        let mut tool_counts: BTreeMap<Option<&str>, f64> = BTreeMap::new();
        for (tool, vector) in self.tools.iter().enumerate() {
            let vector_sum = vector_sums.entry(category(tool)).or_default();
            *tool_counts.entry(category(tool)).or_default() += 1.0;
            for (term, impact) in vector {
                *vector_sum.entry(*term).or_default() += impact;
            }
        }
        let centrality = |(tool, vector): (usize, &Vec<(u32, f64)>)| {
            let vector_sum = &vector_sums[&category(tool)];
            let products = vector
                .iter()
                .map(|(term, impact)| impact * vector_sum[term]);
            let similarity_sum: f64 = products.sum();
            let thousandths = similarity_sum / tool_counts[&category(tool)] * 1000.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 1000"
            )]
            let thousandths = thousandths.round() as u32;
            thousandths
        };
        self.tools.iter().enumerate().map(centrality).collect()
    }
}

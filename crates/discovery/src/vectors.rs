//! Compares tools with each other: each is a list of terms and their impacts.

use climax_catalog::facts::Facts;

use crate::index::{Index, SHIFT};

/// The terms of each tool with their impacts, sorted by term.
pub struct Vectors {
    tools: Vec<Vec<(u32, f64)>>,
}

impl Vectors {
    /// Turns an index around.
    #[must_use]
    pub fn new(facts: &Facts<'_>, index: &Index) -> Self {
        let mut tools: Vec<Vec<(u32, f64)>> = Vec::new();
        tools.resize_with(facts.tools.len(), Vec::new);
        let (rows, _) = index.rows.as_chunks::<8>();
        let (postings, _) = index.postings.as_chunks::<4>();
        let start = |row: &[u8; 8]| {
            row.last_chunk()
                .map_or(0, |number| u32::from_le_bytes(*number) as usize)
        };
        for (term, pair) in (0..).zip(rows.windows(2)) {
            for posting in &postings[start(&pair[0])..start(&pair[1])] {
                let posting = u32::from_le_bytes(*posting);
                let impact = f64::from(posting & ((1 << SHIFT) - 1));
                tools[(posting >> SHIFT) as usize].push((term, impact));
            }
        }
        for tool in &mut tools {
            let length = tool
                .iter()
                .map(|(_, impact)| impact * impact)
                .sum::<f64>()
                .sqrt();
            for (_, impact) in tool {
                *impact /= length;
            }
        }
        Self { tools }
    }

    /// How much two tools have in common: 0 nothing, 1 everything.
    #[must_use]
    pub fn similarity(&self, one: usize, other: usize) -> f64 {
        let (mut left, mut right) = (
            self.tools[one].iter().peekable(),
            self.tools[other].iter().peekable(),
        );
        let mut sum = 0.0;
        while let (Some((term, impact)), Some((theirs, their_impact))) = (left.peek(), right.peek())
        {
            match term.cmp(theirs) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    sum += impact * their_impact;
                    left.next();
                    right.next();
                }
            }
        }
        sum
    }

    /// How much each tool has in common with the others of its category, in thousandths.
    #[must_use]
    pub fn centrality(&self, facts: &Facts<'_>) -> Vec<u32> {
        use std::collections::BTreeMap;
        let category = |tool: usize| facts.cli_of(&facts.tools[tool]).category;
        let mut sums: BTreeMap<Option<&str>, BTreeMap<u32, f64>> = BTreeMap::new();
        let mut counts: BTreeMap<Option<&str>, f64> = BTreeMap::new();
        for (tool, terms) in self.tools.iter().enumerate() {
            let sum = sums.entry(category(tool)).or_default();
            *counts.entry(category(tool)).or_default() += 1.0;
            for (term, impact) in terms {
                *sum.entry(*term).or_default() += impact;
            }
        }
        let centrality = |(tool, terms): (usize, &Vec<(u32, f64)>)| {
            let sum = &sums[&category(tool)];
            let shared: f64 = terms.iter().map(|(term, impact)| impact * sum[term]).sum();
            let share = shared / counts[&category(tool)] * 1000.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 1000"
            )]
            let share = share.round() as u32;
            share
        };
        self.tools.iter().enumerate().map(centrality).collect()
    }
}

//! How tools are found, and what follows from what is said about them. The code generator works it out
//! and bakes it; the server reads it, and works it out again for what a policy at its start has left.

pub mod complexity;
pub mod example;
pub mod guidance;
pub mod index;
pub mod notes;
mod quotations;
pub mod rank;
pub mod relations;
#[cfg(test)]
mod sample;
pub mod synonyms;
pub mod tokens;
pub mod tool_type;
pub mod trigrams;
pub mod vectors;

use climax_catalog::facts::Facts;

use index::{Index, index};
use notes::{Notes, notes};
use relations::relations;
use vectors::Vectors;

climax_catalog::tables! {
    /// All that follows from the facts, as a binary holds it.
    Discovery {
        /// By which tools are ranked.
        index: Index,
        /// What follows for each.
        notes: Notes,
    }
}

/// Works out all that follows from the facts.
#[must_use]
pub fn derive(facts: &Facts<'_>) -> Discovery {
    let index = index(facts);
    let vectors = Vectors::new(facts, &index);
    let relations = relations(facts, &vectors);
    let centrality = vectors.centrality(facts);
    Discovery {
        notes: notes(facts, &relations, &centrality),
        index,
    }
}

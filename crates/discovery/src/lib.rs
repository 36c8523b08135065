//! How tools are found, and what follows from what is said about them. The code generator works it out
//! and bakes it; the server reads it, and works it out again for what a policy at its start has left.

pub mod complexity;
pub mod example;
pub mod facts;
pub mod guidance;
pub mod index;
mod quotations;
pub mod rank;
pub mod relations;
pub mod synonyms;
pub mod tables;
pub mod tokens;
pub mod tool_type;
pub mod trigrams;
pub mod vectors;

use facts::Facts;
use index::{Index, index};
use relations::relations;
use tables::{Tables, tables};
use vectors::Vectors;

/// All that follows from the facts.
pub struct Derived {
    /// By which tools are ranked.
    pub index: Index,
    /// What follows for each.
    pub tables: Tables,
}

/// Works out all that follows from the facts.
#[must_use]
pub fn derive(facts: &Facts<'_>) -> Derived {
    let index = index(facts);
    let vectors = Vectors::new(facts, &index);
    let relations = relations(facts, &vectors);
    let centrality = vectors.centrality(facts);
    Derived {
        tables: tables(facts, &relations, &centrality),
        index,
    }
}

//! Derives the search index and further information about tools from facts: types, examples, guidance and
//! relations. The code generator bakes the result. After a policy at the start has narrowed the catalog, the
//! server derives it again.

pub mod complexity;
pub mod example;
pub mod guidance;
pub mod index;
pub mod notes;
mod quotations;
pub mod rank;
pub mod relations;
pub mod synonyms;
#[cfg(test)]
mod test_facts;
pub mod tokens;
pub mod tool_type;
pub mod trigrams;
pub mod vectors;

use climax_catalog::facts::Facts;

use index::{Index, build_index};
use notes::{Notes, notes};
use relations::relations;
use vectors::Vectors;

climax_catalog::tables! {
    /// Everything that is derived from the facts.
    Discovery {
        /// The index that ranks tools.
        index: Index,
        /// Derived information about each tool.
        notes: Notes,
    }
}

/// Derives index and notes from the facts.
#[must_use]
pub fn derive(facts: &Facts<'_>) -> Discovery {
    let index = build_index(facts);
    let vectors = Vectors::new(facts, &index);
    let relations = relations(facts, &vectors);
    let centrality = vectors.centrality(facts);
    Discovery {
        notes: notes(facts, &relations, &centrality),
        index,
    }
}

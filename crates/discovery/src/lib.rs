//! Derives the search index and further information about tools from facts: types, examples, guidance and
//! relations. The code generator bakes the result. After a policy at the start has narrowed the catalog, the
//! server derives it again.

pub mod cli_mentions;
pub mod complexity;
pub mod example;
pub mod guidance;
pub mod index;
pub mod meaning;
pub mod notes;
pub mod query;
mod quotations;
pub mod rank;
pub mod ranking;
pub mod relations;
pub mod synonyms;
pub mod term_index;
#[cfg(test)]
mod test_facts;
pub mod tokens;
pub mod tool_type;
pub mod trigrams;
pub mod vectors;

use climax_catalog::facts::Facts;
use climax_catalog::rows::Table;

use cli_mentions::{CliNames, build_cli_names};
use index::{Index, build_index};
use meaning::{Meaning, build_meaning};
use notes::{Notes, notes};
use relations::relations;
use tool_type::system_tools;
use vectors::Vectors;

climax_catalog::tables! {
    /// Everything that is derived from the facts.
    Discovery {
        /// The index that ranks tools.
        index: Index,
        /// Vectors for search by meaning.
        meaning: Meaning,
        /// The names of CLIs, to recognise them in queries.
        cli_names: CliNames,
        /// The tools that start a base command of the operating system, in ascending order.
        system_tools: Table<u32>,
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
        meaning: build_meaning(facts, &index),
        cli_names: build_cli_names(facts),
        system_tools: system_tools(facts),
        index,
    }
}

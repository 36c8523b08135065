//! Everything that generated code uses, and nothing else does from outside this crate.
//!
//! Generated code holds one struct a tool: `read` builds it from a call's JSON with an [`ArgumentReader`],
//! `write` turns it into a command line with an [`Argv`].

pub use std::borrow::Cow;

pub use climax_catalog::Tables;
pub use climax_catalog::index::Words;
pub use climax_catalog::rows::{Piece, Table};
pub use climax_core::scalar::Number;
pub use climax_discovery::Discovery;
pub use climax_discovery::index::Index;
pub use climax_discovery::notes::Notes;
pub use climax_discovery::trigrams::Trigrams;
pub use phf;
pub use phf_shared::PhfBorrow;

pub use crate::call::arguments::{ArgumentReader, ChoiceType, choice, choice_text};
pub use crate::call::argv::Argv;
pub use crate::catalog::{Catalog, Container, Env, Surroundings};

//! The items that generated code uses. Nothing else outside this crate uses them.
//!
//! Generated code has one struct per tool: `read` builds it from a call's JSON with a [`ArgumentReader`], and
//! `write` turns it into a command line with an [`Argv`].

pub use std::borrow::Cow;

pub use climax_catalog::Tables;
pub use climax_catalog::index::WordIndex;
pub use climax_catalog::rows::{ByteRange, Table};
pub use climax_core::scalar::Number;
pub use climax_discovery::Discovery;
pub use climax_discovery::cli_mentions::CliNames;
pub use climax_discovery::index::Index;
pub use climax_discovery::meaning::Meaning;
pub use climax_discovery::notes::Notes;
pub use climax_discovery::trigrams::Trigrams;
pub use climax_policy::rules::InheritedVariables;
pub use phf;
pub use phf_shared::PhfBorrow;

pub use crate::catalog::{BakedContainer, BakedEnvironment, BakedExecutionRules, Catalog};
pub use climax_arguments::argv::Argv;
pub use climax_arguments::reader::{ArgumentReader, ChoiceType, choice, choice_text};

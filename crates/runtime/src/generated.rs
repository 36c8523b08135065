//! Everything that generated code uses, and nothing else does from outside this crate.
//!
//! Generated code holds one struct a tool: `read` builds it from a call's JSON with a [`Reader`],
//! `write` turns it into a command line with an [`Argv`].

pub use climax_core::scalar::Number;
pub use phf;
pub use phf_shared::PhfBorrow;

pub use crate::call::arguments::{Kind, Reader, choice, choice_text};
pub use crate::call::argv::Argv;
pub use crate::catalog::{
    Catalog, Cli, Container, Discovery, Env, Limit, Piece, Risk, Surroundings, Tool, Words,
};

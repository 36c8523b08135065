//! The catalog of a server, built in the same way when a server is built and when a policy narrows it at
//! the start: [`facts`] describe the tools, [`narrow`] applies policies to them, [`schema`] makes JSON
//! Schema of arguments, [`build`] makes the [`tables`] that a binary holds, and [`Tables::facts`] reads
//! the facts back.

pub mod baked;
mod build;
pub mod facts;
pub mod index;
mod narrow;
pub mod rows;
pub mod schema;
pub mod tables;

pub use build::build;
pub use narrow::{Kept, narrow};
pub use tables::Tables;

//! Turns facts about tools into the tables that a binary holds, and back.
//!
//! Builds and servers share this code, so a policy gives the same catalog whether it is baked or passed at
//! startup. [`facts`] describe the tools, [`narrow`] applies policies to them, [`schema`] makes
//! JSON Schema from arguments, [`build`] makes the [`tables`], and [`Tables::facts`] reads the facts back.

pub mod baked;
mod build;
pub mod facts;
pub mod index;
mod narrow;
pub mod rows;
pub mod schema;
pub mod tables;

pub use build::build;
pub use narrow::{OriginalNumbers, narrow};
pub use tables::Tables;

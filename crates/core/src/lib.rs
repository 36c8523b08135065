//! Rules that must be the same when a catalog is built and when it is used: how text becomes a typed value,
//! how values are printed, how text is compared in a search, and what a failure to print means.

pub mod output;
pub mod risk;
pub mod scalar;
pub mod words;

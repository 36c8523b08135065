//! Rules that must be the same when a catalog is built and when it is used: how text becomes a
//! typed value, how numbers are printed, and how text is compared in a search.

pub mod scalar;
pub mod words;

//! Rules that must be the same when a catalog is built and when it is used: how text becomes a
//! typed value, how numbers are printed, how text is compared in a search, and how words are indexed.

pub mod index;
pub mod pieces;
pub mod risk;
pub mod scalar;
pub mod words;

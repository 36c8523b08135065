//! Rules that must be the same when a catalog is built and when it is used: how text becomes a
//! typed value, how numbers are printed, how text is compared in a search, how words are indexed, and what
//! it means that a text cannot be printed.

pub mod index;
pub mod output;
pub mod pieces;
pub mod risk;
pub mod scalar;
pub mod words;

//! Rules that must be the same when a catalog is built and when it is used: how text becomes a
//! typed value, how numbers are printed, how text is compared in a search, and how the index of words
//! is read.

pub mod places;
pub mod scalar;
pub mod words;

//! Rules that the code generator and the server share: conversion and formatting of scalars, case folding and
//! word splitting for search, risk levels, reserved names, and writing to standard output.

pub mod output;
pub mod reserved;
pub mod risk;
pub mod scalar;
pub mod words;

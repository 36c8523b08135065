//! Turns the YAML of configs and policies into nodes with positions, and errors into diagnostics that show
//! the source line and a fix. Build time and run time share it, so a policy gets the same messages in both.

pub mod code;
pub mod diagnostic;
pub mod draw;
pub mod fields;
mod plain;
pub mod source;
pub mod yaml;

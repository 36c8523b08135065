//! Reads what people write in YAML, configs and policies, and tells them what is wrong with it: what,
//! where, and what to do. A config is read when a server is built, a policy then or at its start; both
//! get the same messages.

pub mod code;
pub mod diagnostic;
pub mod draw;
pub mod fields;
mod plain;
pub mod source;
pub mod yaml;

//! The runtime of CLImax: an MCP server for a catalog of command-line tools generated at build time.
//!
//! To build a server of its own, a crate calls `climax_codegen::bake("tools")` in its build script and
//! has this `main.rs`:
//!
//! ```text
//! climax_runtime::catalog!();
//! fn main() -> std::process::ExitCode { climax_runtime::main(&CATALOG) }
//! ```
//!
//! The path of a call: [`service`] takes the request; [`call`] finds the tool, and generated code turns
//! JSON into typed arguments and those into a command line; [`climax_runner`] runs it.

mod call;
mod catalog;
mod commands;
mod discovery;
mod fronts;
pub mod generated;
#[doc(hidden)]
pub mod internals;
mod lock;
mod log;
mod output;
mod registration;
mod search;
mod service;
mod supported;

pub use catalog::Catalog;
pub use commands::main;

/// Includes the catalog that the crate's build script baked, as `CATALOG`. A crate with several catalogs
/// passes the file name.
#[macro_export]
macro_rules! catalog {
    () => {
        $crate::catalog!("catalog.rs");
    };
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file));
    };
}

//! The runtime of CLImax: an MCP server over a catalog of command-line tools that was generated
//! when the binary was built.
//!
//! A crate that wants a server of its own has `climax_codegen::bake("tools")` in its build script,
//! and this as its `main.rs`:
//!
//! ```text
//! climax_runtime::catalog!();
//! fn main() -> std::process::ExitCode { climax_runtime::main(&CATALOG) }
//! ```
//!
//! A call's path: [`service`] takes the request, [`call`] finds the tool and has generated code turn
//! JSON into typed arguments and these into a command line, [`climax_runner`] runs it.

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
mod registration;
mod search;
mod service;
mod supported;

pub use catalog::Catalog;
pub use commands::main;

/// Includes the catalog that the crate's build script baked, as `CATALOG`. A crate that bakes several
/// names the file.
#[macro_export]
macro_rules! catalog {
    () => {
        $crate::catalog!("catalog.rs");
    };
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $file));
    };
}

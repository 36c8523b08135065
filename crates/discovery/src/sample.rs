//! Facts for tests.

use climax_catalog::facts::{Argument, Cli, PlacementKind, Tool};
use climax_core::scalar::ArgumentType;

/// A CLI that has nothing but a name.
pub(crate) fn cli(name: &str) -> Cli<'_> {
    Cli {
        stem: name,
        name,
        description: "",
        command: name,
        env: Vec::new(),
        working_dir: None,
        category: None,
        tags: Vec::new(),
    }
}

/// A tool that has nothing but arguments.
pub(crate) fn tool(arguments: Vec<Argument<'_>>) -> Tool<'_> {
    Tool {
        cli: 0,
        name: "tool",
        description: "",
        command: "",
        arguments,
        timeout_ms: 30_000,
        risk: None,
    }
}

/// An argument that may be left out.
pub(crate) fn argument(name: &str, kind: ArgumentType) -> Argument<'_> {
    Argument {
        name,
        description: "",
        kind,
        required: false,
        default: None,
        choices: Vec::new(),
        placement: PlacementKind::Positional,
        limits: Vec::new(),
    }
}

//! Facts for tests.

use climax_catalog::facts::{ArgumentFacts, CliFacts, PlacementKind, ToolFacts};
use climax_core::scalar::{ArgumentType, ValueShape};

/// A CLI with nothing but a name.
pub(crate) fn cli(name: &str) -> CliFacts<'_> {
    CliFacts {
        stem: name,
        name,
        description: "",
        command: name,
        env: Vec::new(),
        working_dir: None,
        category: None,
        tags: Vec::new(),
        pass_env: Vec::new(),
    }
}

/// A tool with nothing but arguments.
pub(crate) fn tool(arguments: Vec<ArgumentFacts<'_>>) -> ToolFacts<'_> {
    ToolFacts {
        cli: 0,
        name: "tool",
        description: "",
        command: "",
        arguments,
        timeout_ms: 30_000,
        risk: None,
        combinations: Vec::new(),
        ok_exit_codes: Vec::new(),
        examples: Vec::new(),
        keywords: Vec::new(),
        has_json_output: false,
    }
}

/// An optional argument.
pub(crate) fn argument(name: &str, kind: ArgumentType) -> ArgumentFacts<'_> {
    ArgumentFacts {
        name,
        description: "",
        kind,
        shape: ValueShape::Single,
        required: false,
        default: Vec::new(),
        choices: Vec::new(),
        placement: PlacementKind::Positional,
        flag: "",
        is_path: false,
        limits: Vec::new(),
    }
}

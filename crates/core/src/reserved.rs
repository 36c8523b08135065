//! The names of built-in tools, which tools of configs cannot have.

const RESERVED_TOOL_NAMES: [&str; 6] = [
    "climax_search",
    "climax_call",
    "climax_read",
    "climax_write",
    "climax_destructive",
    "climax_output",
];

/// Whether a built-in tool has this name, in any case.
#[must_use]
pub fn is_reserved_tool_name(name: &str) -> bool {
    let mut names = RESERVED_TOOL_NAMES.iter();
    names.any(|reserved| reserved.eq_ignore_ascii_case(name))
}

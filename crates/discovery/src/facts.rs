//! What configs and policies say about tools: all that the rest follows from.

use climax_core::risk::Risk;
use climax_core::scalar::Kind;
use climax_policy::limit::Bounds;
use serde_json::Value;

/// What is known of all tools.
pub struct Facts<'f> {
    /// The CLIs, in order.
    pub clis: Vec<Cli<'f>>,
    /// The tools, in order.
    pub tools: Vec<Tool<'f>>,
}

impl<'f> Facts<'f> {
    /// The CLI of a tool.
    #[must_use]
    pub fn cli_of(&self, tool: &Tool<'f>) -> &Cli<'f> {
        &self.clis[tool.cli]
    }
}

/// One CLI.
pub struct Cli<'f> {
    /// Its name.
    pub name: &'f str,
    /// What it is for.
    pub description: &'f str,
    /// The base command as written.
    pub command: &'f str,
    /// What it belongs to.
    pub category: Option<&'f str>,
    /// More words to be found by.
    pub tags: Vec<&'f str>,
}

/// One tool.
pub struct Tool<'f> {
    /// Its CLI's number.
    pub cli: usize,
    /// Its name.
    pub name: &'f str,
    /// What it does.
    pub description: &'f str,
    /// The words after the base command.
    pub command: &'f str,
    /// Its arguments in definition order.
    pub arguments: Vec<Argument<'f>>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What a call may do, where the config says so.
    pub risk: Option<Risk>,
}

impl<'f> Tool<'f> {
    /// The arguments that a call must have.
    pub fn required(&self) -> impl Iterator<Item = &Argument<'f>> {
        self.arguments.iter().filter(|argument| argument.required)
    }
}

/// One argument.
pub struct Argument<'f> {
    /// Its name.
    pub name: &'f str,
    /// What it is; may be empty.
    pub description: &'f str,
    /// The type of its value.
    pub kind: Kind,
    /// Whether a call must have it.
    pub required: bool,
    /// What an absent one is taken for.
    pub default: Option<Value>,
    /// The only values it may have, or nothing.
    pub choices: Vec<Value>,
    /// Where its value goes.
    pub place: Place,
    /// What policies allow.
    pub limits: Vec<Bounds<'f>>,
}

impl Argument<'_> {
    /// Whether policies allow a value.
    pub(crate) fn allows(&self, value: &Value) -> bool {
        self.limits.iter().all(|limit| limit.allows(value))
    }
}

/// Where a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into the command line, as a word of its own.
    Positional,
    /// Into the command line, with a flag.
    Flag,
    /// It is the directory in which the command runs.
    Directory,
    /// It is what the command reads.
    Stdin,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
    pub(crate) fn argument(name: &str, kind: Kind) -> Argument<'_> {
        Argument {
            name,
            description: "",
            kind,
            required: false,
            default: None,
            choices: Vec::new(),
            place: Place::Positional,
            limits: Vec::new(),
        }
    }
}

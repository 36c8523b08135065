//! What configs and policies say about tools: all that the rest follows from.

use std::cmp::Ordering;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar};
use climax_policy::check::{KnownArgument, KnownTool};
use climax_policy::limit::Bounds;

/// What is known of all tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts<'f> {
    /// The CLIs, in order.
    pub clis: Vec<Cli<'f>>,
    /// The tools; those of a CLI are neighbours, in the order of the CLIs.
    pub tools: Vec<Tool<'f>>,
    /// Whether a policy has been applied.
    pub has_policy: bool,
}

impl<'f> Facts<'f> {
    /// The CLI of a tool.
    #[must_use]
    pub fn cli_of(&self, tool: &Tool<'f>) -> &Cli<'f> {
        &self.clis[tool.cli]
    }

    /// What a policy needs to know of the tools.
    #[must_use]
    pub fn known_tools(&self) -> Vec<KnownTool<'_>> {
        let known = self.tools.iter().map(|tool| KnownTool {
            name: tool.name,
            risk: tool.risk,
            arguments: tool.arguments.iter().map(known_argument).collect(),
        });
        known.collect()
    }
}

fn known_argument<'k>(argument: &'k Argument<'_>) -> KnownArgument<'k> {
    KnownArgument {
        name: argument.name,
        kind: argument.kind,
        default: argument.default.as_ref(),
        choices: &argument.choices,
    }
}

/// One CLI.
#[derive(Clone, Debug, PartialEq)]
pub struct Cli<'f> {
    /// The config's file name without its ending.
    pub stem: &'f str,
    /// Its name.
    pub name: &'f str,
    /// What it is for.
    pub description: &'f str,
    /// The base command as written.
    pub command: &'f str,
    /// Variables for the commands, each as `NAME=value`.
    pub env: Vec<&'f str>,
    /// Where commands run, unless a call says otherwise.
    pub working_dir: Option<&'f str>,
    /// What it belongs to.
    pub category: Option<&'f str>,
    /// More words to be found by.
    pub tags: Vec<&'f str>,
}

/// One tool.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Argument<'f> {
    /// Its name.
    pub name: &'f str,
    /// What it is; may be empty.
    pub description: &'f str,
    /// The type of its value.
    pub kind: ArgumentType,
    /// Whether a call must have it.
    pub required: bool,
    /// What an absent one is taken for.
    pub default: Option<Scalar<'f>>,
    /// The only values it may have, or nothing.
    pub choices: Vec<Scalar<'f>>,
    /// Where its value goes.
    pub placement: PlacementKind,
    /// What policies allow. All of these hold.
    pub limits: Vec<Limit<'f>>,
}

impl<'f> Argument<'f> {
    /// Whether policies allow a value.
    #[must_use]
    pub fn allows(&self, value: &Scalar<'_>) -> bool {
        self.limits.iter().all(|limit| limit.bounds().allows(value))
    }

    /// The least value that all limits allow, if one says so.
    #[must_use]
    pub fn minimum(&self) -> Option<Number> {
        strictest(
            self.limits.iter().filter_map(|it| it.min),
            Ordering::Greater,
        )
    }

    /// The greatest value that all limits allow, if one says so.
    #[must_use]
    pub fn maximum(&self) -> Option<Number> {
        strictest(self.limits.iter().filter_map(|it| it.max), Ordering::Less)
    }

    /// The patterns that a value must match.
    pub fn patterns(&self) -> impl Iterator<Item = Pattern<'f>> {
        self.limits.iter().filter_map(|limit| limit.pattern)
    }
}

fn strictest(bounds: impl Iterator<Item = Number>, stricter: Ordering) -> Option<Number> {
    bounds.reduce(|one, other| {
        if other.compare(one) == Some(stricter) {
            other
        } else {
            one
        }
    })
}

/// Where a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// Into the command line, as a word of its own.
    Positional,
    /// Into the command line, with a flag.
    Flag,
    /// It is the directory in which the command runs.
    Directory,
    /// It is what the command reads.
    Stdin,
}

/// What a policy allows as value of an argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit<'f> {
    /// Its text matches this in full.
    pub pattern: Option<Pattern<'f>>,
    /// It is not below this.
    pub min: Option<Number>,
    /// It is not above this.
    pub max: Option<Number>,
    /// Whether the value is meant to begin with a dash: all that the pattern matches does.
    pub begins_with_dash: bool,
}

impl<'f> Limit<'f> {
    /// The limit as it is checked. An automaton that is not part of the binary is not used.
    #[must_use]
    pub fn bounds(&self) -> Bounds<'f> {
        Bounds {
            pattern: self.pattern.map_or("", |pattern| pattern.text),
            automaton: &[],
            min: self.min,
            max: self.max,
        }
    }
}

/// A pattern of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern<'f> {
    /// As it is written.
    pub text: &'f str,
    /// As JSON Schema says it, if it can.
    pub schema: Option<&'f str>,
    /// Its automaton; empty if there is none.
    pub automaton: &'f [u8],
}

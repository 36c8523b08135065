//! Facts about tools, as configs and policies state them. Everything else in a catalog is derived from them.

use std::cmp::Ordering;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar};
use climax_policy::check::{KnownArgument, KnownTool};
use climax_policy::limit::LimitRef;

/// The facts about all tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts<'f> {
    /// The CLIs, in order.
    pub clis: Vec<CliFacts<'f>>,
    /// The tools, grouped by CLI, in the order of the CLIs.
    pub tools: Vec<ToolFacts<'f>>,
    /// Whether a policy has been applied.
    pub has_policy: bool,
}

impl<'f> Facts<'f> {
    /// The CLI of a tool.
    #[must_use]
    pub fn cli_of(&self, tool: &ToolFacts<'f>) -> &CliFacts<'f> {
        &self.clis[tool.cli]
    }

    /// The tools as a policy check needs them.
    #[must_use]
    pub fn known_tools(&self) -> Vec<KnownTool<'_>> {
        let tools = self.tools.iter().map(|tool| KnownTool {
            name: tool.name,
            risk: tool.risk,
            arguments: tool.arguments.iter().map(known_argument).collect(),
        });
        tools.collect()
    }
}

fn known_argument<'k>(argument: &'k ArgumentFacts<'_>) -> KnownArgument<'k> {
    KnownArgument {
        name: argument.name,
        kind: argument.kind,
        default: argument.default.as_ref(),
        choices: &argument.choices,
    }
}

/// The facts about one CLI.
#[derive(Clone, Debug, PartialEq)]
pub struct CliFacts<'f> {
    /// The config's file name without its extension.
    pub stem: &'f str,
    /// Its name.
    pub name: &'f str,
    /// What it is for; may be empty.
    pub description: &'f str,
    /// The base command as written.
    pub command: &'f str,
    /// Environment variables for its commands, each as `NAME=value`.
    pub env: Vec<&'f str>,
    /// The working directory of its commands, unless a call sets one.
    pub working_dir: Option<&'f str>,
    /// Its category.
    pub category: Option<&'f str>,
    /// Additional search words.
    pub tags: Vec<&'f str>,
}

/// The facts about one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFacts<'f> {
    /// The number of its CLI: the index in [`Facts::clis`].
    pub cli: usize,
    /// Its name.
    pub name: &'f str,
    /// What it does.
    pub description: &'f str,
    /// The words after the CLI's base command.
    pub command: &'f str,
    /// Its arguments in definition order.
    pub arguments: Vec<ArgumentFacts<'f>>,
    /// The timeout of a call in milliseconds.
    pub timeout_ms: u64,
    /// The risk of a call, if the config states one.
    pub risk: Option<Risk>,
}

impl<'f> ToolFacts<'f> {
    /// The required arguments.
    pub fn required(&self) -> impl Iterator<Item = &ArgumentFacts<'f>> {
        self.arguments.iter().filter(|argument| argument.required)
    }
}

/// The facts about one argument.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentFacts<'f> {
    /// Its name.
    pub name: &'f str,
    /// What it means; may be empty.
    pub description: &'f str,
    /// The type of its value.
    pub kind: ArgumentType,
    /// Whether a call must provide it.
    pub required: bool,
    /// The value if a call does not provide one.
    pub default: Option<Scalar<'f>>,
    /// The allowed values; empty if any value is allowed.
    pub choices: Vec<Scalar<'f>>,
    /// How the command receives its value.
    pub placement: PlacementKind,
    /// The limits that policies set. A value must be within all of them.
    pub limits: Vec<LimitFacts<'f>>,
}

impl<'f> ArgumentFacts<'f> {
    /// Whether a value is within all limits.
    #[must_use]
    pub fn allows(&self, value: &Scalar<'_>) -> bool {
        self.limits
            .iter()
            .all(|limit| limit.borrowed().allows(value))
    }

    /// The largest `min` of all limits.
    #[must_use]
    pub fn minimum(&self) -> Option<Number> {
        let limit_ref = self.limits.iter().filter_map(|limit| limit.min);
        strictest(limit_ref, Ordering::Greater)
    }

    /// The smallest `max` of all limits.
    #[must_use]
    pub fn maximum(&self) -> Option<Number> {
        let limit_ref = self.limits.iter().filter_map(|limit| limit.max);
        strictest(limit_ref, Ordering::Less)
    }

    /// The patterns that a value must match.
    pub fn patterns(&self) -> impl Iterator<Item = PatternFacts<'f>> {
        self.limits.iter().filter_map(|limit| limit.pattern)
    }
}

fn strictest(limit_ref: impl Iterator<Item = Number>, stricter: Ordering) -> Option<Number> {
    limit_ref.reduce(|strictest, bound| {
        if bound.compare(strictest) == Some(stricter) {
            bound
        } else {
            strictest
        }
    })
}

/// How a command receives the value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// As a word of the command line.
    Positional,
    /// With a flag in the command line.
    Flag,
    /// As its working directory.
    Directory,
    /// On standard input.
    Stdin,
}

/// A limit that a policy sets for the values of an argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitFacts<'f> {
    /// The pattern that the whole value must match.
    pub pattern: Option<PatternFacts<'f>>,
    /// The smallest allowed value.
    pub min: Option<Number>,
    /// The largest allowed value.
    pub max: Option<Number>,
    /// Whether the limit lets values begin with a dash: everything that the pattern matches does, and an earlier
    /// policy, if there is one, allows it too.
    pub begins_with_dash: bool,
}

impl<'f> LimitFacts<'f> {
    /// Borrows the limit for checking. The pattern is matched without its automaton, because [`LimitRef`] needs a
    /// `'static` one.
    #[must_use]
    pub fn borrowed(&self) -> LimitRef<'f> {
        LimitRef {
            pattern: self.pattern.map_or("", |pattern| pattern.text),
            automaton: &[],
            min: self.min,
            max: self.max,
        }
    }
}

/// A pattern that a policy sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternFacts<'f> {
    /// The pattern as written.
    pub text: &'f str,
    /// The same pattern for JSON Schema, if it can be expressed there.
    pub schema: Option<&'f str>,
    /// The compiled automaton; empty if there is none.
    pub automaton: &'f [u8],
}

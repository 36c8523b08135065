//! Facts about tools, as configs and policies state them. Everything else in a catalog is derived from them.

use std::borrow::Cow;
use std::cmp::Ordering;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar, ValueShape};
use climax_policy::check::{KnownArgument, KnownTool};
use climax_policy::limit::{Limit, LimitRef, LimitTarget};

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
        shape: argument.shape,
        default: &argument.default,
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
    /// Variables that its commands inherit although they look like secrets: names, or prefixes followed by `*`.
    pub pass_env: Vec<&'f str>,
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
    /// Which arguments a call may combine.
    pub combinations: Vec<CombinationFacts>,
    /// Exit codes other than 0 that are not errors.
    pub ok_exit_codes: Vec<i64>,
    /// Example calls that the config gives.
    pub examples: Vec<ExampleFacts<'f>>,
    /// Search words that are not shown.
    pub keywords: Vec<&'f str>,
    /// Whether the output is a JSON object, which a call also returns as such.
    pub has_json_output: bool,
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
    /// The type of its value, or of each of its values.
    pub kind: ArgumentType,
    /// Whether it has one value or several.
    pub shape: ValueShape,
    /// Whether a call must provide it.
    pub required: bool,
    /// The value if a call does not provide one; empty if there is none. A list may have several.
    pub default: Vec<Scalar<'f>>,
    /// The allowed values; empty if any value is allowed.
    pub choices: Vec<Scalar<'f>>,
    /// How the command receives its value.
    pub placement: PlacementKind,
    /// Its flag without dashes, if that is not its name; else empty.
    pub flag: &'f str,
    /// Whether its value is a path.
    pub is_path: bool,
    /// The limits that the config and policies set. A value must be within all of them.
    pub limits: Vec<LimitFacts<'f>>,
}

impl<'f> ArgumentFacts<'f> {
    /// Whether a value is within all limits.
    #[must_use]
    pub fn allows(&self, value: &Scalar<'_>) -> bool {
        self.limits_of(LimitTarget::Value)
            .all(|limit| limit.borrowed().allows(value))
    }

    /// The limits that apply to a target.
    pub fn limits_of(&self, target: LimitTarget) -> impl Iterator<Item = &LimitFacts<'f>> {
        let limits = self.limits.iter();
        limits.filter(move |limit| limit.target == target)
    }

    /// The largest `min` of all limits that apply to a target.
    #[must_use]
    pub fn minimum(&self, target: LimitTarget) -> Option<Number> {
        let bounds = self.limits_of(target).filter_map(|limit| limit.min);
        strictest(bounds, Ordering::Greater)
    }

    /// The smallest `max` of all limits that apply to a target.
    #[must_use]
    pub fn maximum(&self, target: LimitTarget) -> Option<Number> {
        let bounds = self.limits_of(target).filter_map(|limit| limit.max);
        strictest(bounds, Ordering::Less)
    }

    /// The patterns that a target must match.
    pub fn patterns(&self, target: LimitTarget) -> impl Iterator<Item = PatternFacts<'f>> {
        self.limits_of(target).filter_map(|limit| limit.pattern)
    }
}

fn strictest(bounds: impl Iterator<Item = Number>, stricter: Ordering) -> Option<Number> {
    bounds.reduce(|strictest, bound| {
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
    /// As a word of the command line after `--`.
    SeparatedWord,
}

/// A rule about which arguments a call combines. Arguments are numbers within the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CombinationFacts {
    /// The rule.
    pub kind: CombinationKind,
    /// The arguments to which it applies.
    pub arguments: Vec<u32>,
}

/// A kind of rule about which arguments a call combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombinationKind {
    /// A call gives at most one of the arguments.
    Exclusive,
    /// A call gives at least one of the arguments.
    AtLeastOne,
    /// A call that gives the first argument gives all of them.
    Requires,
}

/// An example call that the config gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleFacts<'f> {
    /// What a person would ask for.
    pub request: Cow<'f, str>,
    /// The arguments of the call.
    pub values: Vec<ExampleValue<'f>>,
}

/// A value in an example call. A list has one for each item, a map one for each key.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleValue<'f> {
    /// The argument's number within the tool.
    pub argument: usize,
    /// The key, if the argument is a map.
    pub key: Option<Cow<'f, str>>,
    /// The value.
    pub value: Scalar<'f>,
}

/// Who sets a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitOrigin {
    /// The config
    Config,
    /// A policy
    #[default]
    Policy,
}

/// A limit for the values of an argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitFacts<'f> {
    /// Who sets it.
    pub origin: LimitOrigin,
    /// What it applies to.
    pub target: LimitTarget,
    /// The pattern that the whole value must match.
    pub pattern: Option<PatternFacts<'f>>,
    /// The smallest allowed value.
    pub min: Option<Number>,
    /// The largest allowed value.
    pub max: Option<Number>,
    /// Whether the limit lets values begin with a dash: everything that the pattern matches does, and an earlier
    /// policy, if there is one, allows it too.
    pub begins_with_dash: bool,
    /// Whether a call must give a value.
    pub is_required: bool,
}

impl<'f> LimitFacts<'f> {
    /// The facts about a limit.
    #[must_use]
    pub fn new(origin: LimitOrigin, target: LimitTarget, limit: &'f Limit) -> Self {
        let pattern = limit.pattern.as_ref();
        Self {
            origin,
            target,
            pattern: pattern.map(|pattern| PatternFacts {
                text: &pattern.text,
                schema: pattern.schema.as_deref(),
            }),
            min: limit.min,
            max: limit.max,
            begins_with_dash: pattern.is_some_and(|pattern| pattern.begins_with_dash),
            is_required: limit.is_required,
        }
    }

    /// Borrows the limit for checking.
    #[must_use]
    pub fn borrowed(&self) -> LimitRef<'f> {
        LimitRef {
            target: self.target,
            pattern: self.pattern.map_or("", |pattern| pattern.text),
            min: self.min,
            max: self.max,
        }
    }
}

/// A pattern of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternFacts<'f> {
    /// The pattern as written.
    pub text: &'f str,
    /// The same pattern for JSON Schema, if it can be expressed there.
    pub schema: Option<&'f str>,
}

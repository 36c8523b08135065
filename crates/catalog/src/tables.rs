//! What a binary holds about its tools: texts, rows that refer to them, and the index of words.

use std::borrow::Cow;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number};

use crate::facts::{self, Facts, PlacementKind};
use crate::index::Words;
use crate::rows::{Piece, RowRange, Scalar, Table};

crate::tables! {
    /// Everything that a binary holds about its tools, except code.
    Tables {
        /// The text that rows refer to, and the JSON that responses are made of.
        text: Cow<'static, str>,
        /// What is searched in: a folded line for each tool.
        haystack: Cow<'static, str>,
        /// In which tools each word is.
        words: Words,
        /// The CLIs, in the order read.
        clis: Table<Cli>,
        /// The tools; those of a CLI are neighbours.
        tools: Table<Tool>,
        /// The arguments of all tools, in the order of the tools.
        arguments: Table<Argument>,
        /// The values of enums.
        choices: Table<Scalar>,
        /// What policies allow as values, in the order of the tools.
        limits: Table<Limit>,
        /// Lists of texts.
        lists: Table<Piece>,
        /// The automata of patterns.
        automata: Cow<'static, [u8]>,
        /// Whether a policy has been applied.
        has_policy: bool,
    }
}

crate::row! {
    /// One config.
    Cli {
        /// The file's name without its ending.
        stem: Piece,
        /// The config's name.
        name: Piece,
        /// The name as filters compare it.
        name_key: Piece,
        /// What it is for.
        description: Piece,
        /// What it belongs to.
        category: Option<Piece>,
        /// The category as filters compare it; empty if there is none.
        category_key: Piece,
        /// More words to be found by: a list of texts.
        tags: RowRange,
        /// The base command as written.
        command: Piece,
        /// Variables, each as `NAME=value`: a list of texts.
        env: RowRange,
        /// Where commands run.
        working_dir: Option<Piece>,
        /// JSON: its entry in a summary.
        summary: Piece,
        /// Its tools.
        tools: RowRange,
    }
}

crate::row! {
    /// One tool.
    Tool {
        /// Its CLI's number.
        cli: u32,
        /// Its name.
        name: Piece,
        /// What it does.
        description: Piece,
        /// The words after the base command, separated by single spaces.
        command: Piece,
        /// Its arguments in definition order.
        arguments: RowRange,
        /// What policies allow as values of them.
        limits: RowRange,
        /// JSON: its entry in the results of a search.
        entry: Piece,
        /// Its line in the haystack; it begins with the name.
        haystack: Piece,
        /// How long a call may take.
        timeout_ms: u64,
        /// What a call may do, where the config says so.
        risk: Option<Risk>,
    }
}

crate::row! {
    /// One argument.
    Argument {
        /// Its name.
        name: Piece,
        /// What it is; may be empty.
        description: Piece,
        /// The type of its value.
        kind: ArgumentType,
        /// Whether a call must have it.
        required: bool,
        /// Where its value goes.
        placement: PlacementKind,
        /// What an absent one is taken for.
        default: Option<Scalar>,
        /// The only values it may have, or nothing.
        choices: RowRange,
    }
}

crate::row! {
    /// What a policy allows as value of an argument.
    Limit {
        /// The argument's name.
        argument: Piece,
        /// The pattern as written.
        pattern: Option<Piece>,
        /// The pattern as JSON Schema says it.
        pattern_schema: Option<Piece>,
        /// The pattern's automaton; empty if there is none.
        automaton: Piece,
        /// The least value.
        min: Option<Number>,
        /// The greatest value.
        max: Option<Number>,
        /// Whether the value is meant to begin with a dash.
        begins_with_dash: bool,
    }
}

impl Tables {
    /// Reads back the facts that the tables were made of.
    #[must_use]
    pub fn facts(&self) -> Facts<'_> {
        let clis = self.clis.rows().iter().map(|cli| self.cli(&cli));
        let tools = self.tools.rows().iter().map(|tool| self.tool(&tool));
        Facts {
            clis: clis.collect(),
            tools: tools.collect(),
            has_policy: self.has_policy,
        }
    }

    fn cli(&self, cli: &Cli) -> facts::Cli<'_> {
        facts::Cli {
            stem: cli.stem.of(&self.text),
            name: cli.name.of(&self.text),
            description: cli.description.of(&self.text),
            command: cli.command.of(&self.text),
            env: self.list(cli.env).collect(),
            working_dir: cli.working_dir.map(|piece| piece.of(&self.text)),
            category: cli.category.map(|piece| piece.of(&self.text)),
            tags: self.list(cli.tags).collect(),
        }
    }

    fn tool(&self, tool: &Tool) -> facts::Tool<'_> {
        facts::Tool {
            cli: tool.cli as usize,
            name: tool.name.of(&self.text),
            description: tool.description.of(&self.text),
            command: tool.command.of(&self.text),
            arguments: self.arguments_of(tool),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        }
    }

    /// What is known of the arguments of a tool.
    #[must_use]
    pub fn arguments_of(&self, tool: &Tool) -> Vec<facts::Argument<'_>> {
        let limits = self.limits.rows().slice(tool.limits);
        let arguments = self.arguments.rows().slice(tool.arguments);
        let argument = |argument: Argument| {
            let name = argument.name.of(&self.text);
            let limits = limits.iter();
            let limits = limits.filter(|limit| limit.argument.of(&self.text) == name);
            let choices = self.choices.rows().slice(argument.choices).iter();
            facts::Argument {
                name,
                description: argument.description.of(&self.text),
                kind: argument.kind,
                required: argument.required,
                default: argument.default.map(|value| value.of(&self.text)),
                choices: choices.map(|value| value.of(&self.text)).collect(),
                placement: argument.placement,
                limits: limits.map(|limit| self.limit(&limit)).collect(),
            }
        };
        arguments.iter().map(argument).collect()
    }

    fn limit(&self, limit: &Limit) -> facts::Limit<'_> {
        facts::Limit {
            pattern: limit.pattern.map(|pattern| facts::Pattern {
                text: pattern.of(&self.text),
                schema: limit.pattern_schema.map(|piece| piece.of(&self.text)),
                automaton: limit.automaton.of_bytes(&self.automata),
            }),
            min: limit.min,
            max: limit.max,
            begins_with_dash: limit.begins_with_dash,
        }
    }

    /// The texts of a list.
    pub fn list(&self, list: RowRange) -> impl Iterator<Item = &str> {
        let pieces = self.lists.rows().slice(list);
        pieces.iter().map(|piece| piece.of(&self.text))
    }
}

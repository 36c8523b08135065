//! Declares the tables of a catalog (rows, the texts that they refer to, and the word index), and turns them
//! back into facts.

use std::borrow::Cow;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number};

use crate::facts::{
    ArgumentFacts, CliFacts, Facts, LimitFacts, PatternFacts, PlacementKind, ToolFacts,
};
use crate::index::WordIndex;
use crate::rows::{ByteRange, RowRange, ScalarRow, Table};

crate::tables! {
    /// The data about tools that is baked into a binary.
    Tables {
        /// The text that rows refer to. It includes the JSON that responses are assembled from.
        text: Cow<'static, str>,
        /// The text that substring search scans: one folded line per tool.
        haystack: Cow<'static, str>,
        /// The index of the words in the haystack.
        word_index: WordIndex,
        /// The CLIs, in the order of the configs.
        clis: Table<CliRow>,
        /// The tools, grouped by CLI.
        tools: Table<ToolRow>,
        /// The arguments of all tools, in the order of the tools.
        arguments: Table<ArgumentRow>,
        /// The allowed values of all arguments.
        choices: Table<ScalarRow>,
        /// The limits that policies set, in the order of the tools.
        limits: Table<LimitRow>,
        /// The elements of all lists of texts.
        lists: Table<ByteRange>,
        /// The compiled automata of all patterns.
        automata: Cow<'static, [u8]>,
        /// Whether a policy has been applied.
        has_policy: bool,
    }
}

crate::row! {
    /// One CLI.
    CliRow {
        /// The config's file name without its extension.
        stem: ByteRange,
        /// Its name.
        name: ByteRange,
        /// The folded name, which filters compare.
        name_key: ByteRange,
        /// What it is for; may be empty.
        description: ByteRange,
        /// Its category.
        category: Option<ByteRange>,
        /// The folded category, which filters compare; empty if there is none.
        category_key: ByteRange,
        /// Additional search words: a list of texts.
        tags: RowRange,
        /// The base command as written.
        command: ByteRange,
        /// Environment variables, each as `NAME=value`: a list of texts.
        env: RowRange,
        /// The working directory of its commands.
        working_dir: Option<ByteRange>,
        /// JSON: its entry in the summary of all CLIs.
        summary: ByteRange,
        /// Its tools.
        tools: RowRange,
    }
}

crate::row! {
    /// One tool.
    ToolRow {
        /// The number of its CLI.
        cli: u32,
        /// Its name.
        name: ByteRange,
        /// What it does.
        description: ByteRange,
        /// The words after the CLI's base command, separated by single spaces.
        command: ByteRange,
        /// Its arguments in definition order.
        arguments: RowRange,
        /// The limits that policies set for its arguments.
        limits: RowRange,
        /// JSON: its entry in search results.
        entry: ByteRange,
        /// Its line in the haystack, which begins with its name.
        haystack: ByteRange,
        /// The timeout of a call in milliseconds.
        timeout_ms: u64,
        /// The risk of a call, if the config states one.
        risk: Option<Risk>,
    }
}

crate::row! {
    /// One argument.
    ArgumentRow {
        /// Its name.
        name: ByteRange,
        /// What it means; may be empty.
        description: ByteRange,
        /// The type of its value.
        kind: ArgumentType,
        /// Whether a call must provide it.
        required: bool,
        /// How the command receives its value.
        placement: PlacementKind,
        /// The value if a call does not provide one.
        default: Option<ScalarRow>,
        /// The allowed values; empty if any value is allowed.
        choices: RowRange,
    }
}

crate::row! {
    /// A limit that a policy sets for the values of an argument.
    LimitRow {
        /// The argument's name.
        argument: ByteRange,
        /// The pattern as written.
        pattern: Option<ByteRange>,
        /// The same pattern for JSON Schema, if it can be expressed there.
        pattern_schema: Option<ByteRange>,
        /// The compiled automaton; empty if there is none.
        automaton: ByteRange,
        /// The smallest allowed value.
        min: Option<Number>,
        /// The largest allowed value.
        max: Option<Number>,
        /// Whether everything that the pattern matches begins with a dash.
        begins_with_dash: bool,
    }
}

impl Tables {
    /// Reads back the facts that the tables were built from.
    #[must_use]
    pub fn facts(&self) -> Facts<'_> {
        let clis = self.clis.rows().iter().map(|cli| self.cli_facts(&cli));
        let tools = self.tools.rows().iter().map(|tool| self.tool_facts(&tool));
        Facts {
            clis: clis.collect(),
            tools: tools.collect(),
            has_policy: self.has_policy,
        }
    }

    fn cli_facts(&self, cli: &CliRow) -> CliFacts<'_> {
        CliFacts {
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

    fn tool_facts(&self, tool: &ToolRow) -> ToolFacts<'_> {
        ToolFacts {
            cli: tool.cli as usize,
            name: tool.name.of(&self.text),
            description: tool.description.of(&self.text),
            command: tool.command.of(&self.text),
            arguments: self.arguments_of(tool),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        }
    }

    /// The facts about a tool's arguments.
    #[must_use]
    pub fn arguments_of(&self, tool: &ToolRow) -> Vec<ArgumentFacts<'_>> {
        let limits = self.limits.rows().slice(tool.limits);
        let arguments = self.arguments.rows().slice(tool.arguments);
        let argument_facts = |argument: ArgumentRow| {
            let name = argument.name.of(&self.text);
            let limits = limits.iter();
            let limits = limits.filter(|limit| limit.argument.of(&self.text) == name);
            let choices = self.choices.rows().slice(argument.choices).iter();
            ArgumentFacts {
                name,
                description: argument.description.of(&self.text),
                kind: argument.kind,
                required: argument.required,
                default: argument.default.map(|value| value.of(&self.text)),
                choices: choices.map(|value| value.of(&self.text)).collect(),
                placement: argument.placement,
                limits: limits.map(|limit| self.limit_facts(&limit)).collect(),
            }
        };
        arguments.iter().map(argument_facts).collect()
    }

    fn limit_facts(&self, limit: &LimitRow) -> LimitFacts<'_> {
        LimitFacts {
            pattern: limit.pattern.map(|pattern| PatternFacts {
                text: pattern.of(&self.text),
                schema: limit.pattern_schema.map(|piece| piece.of(&self.text)),
                automaton: limit.automaton.of_bytes(&self.automata),
            }),
            min: limit.min,
            max: limit.max,
            begins_with_dash: limit.begins_with_dash,
        }
    }

    /// The elements of a list of texts.
    pub fn list(&self, list: RowRange) -> impl Iterator<Item = &str> {
        let pieces = self.lists.rows().slice(list);
        pieces.iter().map(|piece| piece.of(&self.text))
    }
}

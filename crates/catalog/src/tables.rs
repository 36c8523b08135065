//! Declares the tables of a catalog (rows, the texts that they refer to, and the word index), and turns them
//! back into facts.

use std::borrow::Cow;

use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, ValueShape};
use climax_policy::limit::LimitTarget;

use crate::facts::{
    ArgumentFacts, CliFacts, CombinationFacts, CombinationKind, ExampleFacts, ExampleValue, Facts,
    LimitFacts, LimitOrigin, PatternFacts, PlacementKind, ToolFacts,
};
use crate::index::WordIndex;
use crate::rows::{ByteRange, RowRange, ScalarRow, Table, to_u32};

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
        /// The allowed values and the defaults of all arguments.
        scalars: Table<ScalarRow>,
        /// The limits that configs and policies set, in the order of the tools.
        limits: Table<LimitRow>,
        /// The rules about combinations of arguments, in the order of the tools.
        combinations: Table<CombinationRow>,
        /// The example calls of configs, in the order of the tools.
        examples: Table<ExampleRow>,
        /// The argument values of all example calls.
        example_values: Table<ExampleValueRow>,
        /// The elements of all lists of numbers.
        numbers: Table<u32>,
        /// The elements of all lists of texts.
        lists: Table<ByteRange>,
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
        /// Variables that its commands inherit although they look like secrets: a list of texts.
        pass_env: RowRange,
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
        /// The limits for its arguments.
        limits: RowRange,
        /// The rules about combinations of its arguments.
        combinations: RowRange,
        /// Its example calls that the config gives.
        examples: RowRange,
        /// Search words that are not shown: a list of texts.
        keywords: RowRange,
        /// Exit codes other than 0 that are not errors: a list of scalars.
        ok_exit_codes: RowRange,
        /// Whether the output is a JSON object.
        has_json_output: bool,
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
        /// The type of its value, or of each of its values.
        kind: ArgumentType,
        /// Whether it has one value or several.
        shape: ValueShape,
        /// Whether a call must provide it.
        required: bool,
        /// How the command receives its value.
        placement: PlacementKind,
        /// Its flag without dashes, if that is not its name; else empty.
        flag: ByteRange,
        /// Whether its value is a path.
        is_path: bool,
        /// The value if a call does not provide one; empty if there is none.
        default: RowRange,
        /// The allowed values; empty if any value is allowed.
        choices: RowRange,
    }
}

crate::row! {
    /// A limit for the values of an argument.
    LimitRow {
        /// The argument's name.
        argument: ByteRange,
        /// Who sets it.
        origin: LimitOrigin,
        /// What it applies to.
        target: LimitTarget,
        /// The pattern as written.
        pattern: Option<ByteRange>,
        /// The same pattern for JSON Schema, if it can be expressed there.
        pattern_schema: Option<ByteRange>,
        /// The smallest allowed value.
        min: Option<Number>,
        /// The largest allowed value.
        max: Option<Number>,
        /// Whether everything that the pattern matches begins with a dash.
        begins_with_dash: bool,
        /// Whether a call must give a value.
        is_required: bool,
    }
}

crate::row! {
    /// A rule about which arguments a call combines.
    CombinationRow {
        /// The rule.
        kind: CombinationKind,
        /// The numbers of the arguments within the tool: a list of numbers.
        arguments: RowRange,
    }
}

crate::row! {
    /// An example call that the config gives.
    ExampleRow {
        /// What a person would ask for.
        request: ByteRange,
        /// The arguments of the call: a range of `example_values`.
        values: RowRange,
    }
}

crate::row! {
    /// An argument value of an example call.
    ExampleValueRow {
        /// The argument's number within the tool.
        argument: u32,
        /// The key, if the argument is a map.
        key: Option<ByteRange>,
        /// The value.
        value: ScalarRow,
    }
}

impl ExampleValueRow {
    /// The value. `text` is the text that the row refers to.
    #[must_use]
    pub fn of(self, text: &str) -> ExampleValue<'_> {
        ExampleValue {
            argument: self.argument as usize,
            key: self.key.map(|key| key.of(text).into()),
            value: self.value.of(text),
        }
    }

    /// Makes the row for a value. `push` stores text.
    ///
    /// # Panics
    /// If the tool has 2^32 arguments or more.
    pub fn new(value: &ExampleValue<'_>, mut push: impl FnMut(&str) -> ByteRange) -> Self {
        Self {
            argument: to_u32(value.argument),
            key: value.key.as_ref().map(|key| push(key)),
            value: ScalarRow::new(&value.value, push),
        }
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
            pass_env: self.list(cli.pass_env).collect(),
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
            combinations: self.combinations_of(tool).collect(),
            ok_exit_codes: self.ok_exit_codes_of(tool).collect(),
            examples: self.examples_of(tool).collect(),
            keywords: self.list(tool.keywords).collect(),
            has_json_output: tool.has_json_output,
        }
    }

    /// The rules about which arguments a call of a tool combines.
    pub fn combinations_of(&self, tool: &ToolRow) -> impl Iterator<Item = CombinationFacts> {
        let rules = self.combinations.rows().slice(tool.combinations);
        rules.iter().map(|rule| CombinationFacts {
            kind: rule.kind,
            arguments: self.numbers.rows().slice(rule.arguments).iter().collect(),
        })
    }

    /// The exit codes of a tool, other than 0, that are not errors.
    pub fn ok_exit_codes_of(&self, tool: &ToolRow) -> impl Iterator<Item = i64> {
        let codes = self.scalars.rows().slice(tool.ok_exit_codes).iter();
        codes.filter_map(|code| match code {
            ScalarRow::Integer(code) => Some(code),
            _ => None,
        })
    }

    fn examples_of(&self, tool: &ToolRow) -> impl Iterator<Item = ExampleFacts<'_>> {
        let examples = self.examples.rows().slice(tool.examples).iter();
        examples.map(|example| {
            let values = self.example_values.rows().slice(example.values);
            ExampleFacts {
                request: example.request.of(&self.text).into(),
                values: values.iter().map(|value| value.of(&self.text)).collect(),
            }
        })
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
            let scalars = |range| {
                let rows = self.scalars.rows().slice(range).iter();
                rows.map(|value| value.of(&self.text)).collect()
            };
            ArgumentFacts {
                name,
                description: argument.description.of(&self.text),
                kind: argument.kind,
                shape: argument.shape,
                required: argument.required,
                default: scalars(argument.default),
                choices: scalars(argument.choices),
                placement: argument.placement,
                flag: argument.flag.of(&self.text),
                is_path: argument.is_path,
                limits: limits.map(|limit| self.limit_facts(&limit)).collect(),
            }
        };
        arguments.iter().map(argument_facts).collect()
    }

    fn limit_facts(&self, limit: &LimitRow) -> LimitFacts<'_> {
        LimitFacts {
            origin: limit.origin,
            target: limit.target,
            pattern: limit.pattern.map(|pattern| PatternFacts {
                text: pattern.of(&self.text),
                schema: limit.pattern_schema.map(|piece| piece.of(&self.text)),
            }),
            min: limit.min,
            max: limit.max,
            begins_with_dash: limit.begins_with_dash,
            is_required: limit.is_required,
        }
    }

    /// The elements of a list of texts.
    pub fn list(&self, list: RowRange) -> impl Iterator<Item = &str> {
        let pieces = self.lists.rows().slice(list);
        pieces.iter().map(|piece| piece.of(&self.text))
    }
}

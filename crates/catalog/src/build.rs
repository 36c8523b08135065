//! Turns facts into tables.

use climax_core::risk::Risk;
use climax_core::words::fold;
use serde_json::json;

use crate::facts::{
    ArgumentFacts, CliFacts, CombinationFacts, ExampleFacts, Facts, LimitFacts, ToolFacts,
};
use crate::index::build_word_index;
use crate::rows::{ByteRange, RowRange, ScalarRow, to_u32};
use crate::schema::input_schema;
use crate::tables::{
    ArgumentRow, CliRow, CombinationRow, ExampleRow, ExampleValueRow, LimitRow, Tables, ToolRow,
};

/// Builds the tables of a catalog.
///
/// # Panics
/// If its text has 4 GiB or more.
#[must_use]
pub fn build(facts: &Facts<'_>) -> Tables {
    let mut builder = TablesBuilder::default();
    builder.tables.has_policy = facts.has_policy;
    let mut first_tool = 0;
    for (number, cli) in facts.clis.iter().enumerate() {
        let tools = facts.tools[first_tool..].iter();
        let tool_count = tools.take_while(|tool| tool.cli == number).count();
        builder.push_cli(
            cli,
            RowRange {
                first: to_u32(first_tool),
                count: to_u32(tool_count),
            },
        );
        first_tool += tool_count;
    }
    for tool in &facts.tools {
        builder.push_tool(facts.cli_of(tool), tool);
    }
    builder.finish()
}

#[derive(Default)]
struct TablesBuilder {
    tables: Tables,
}

impl TablesBuilder {
    fn push_cli(&mut self, cli: &CliFacts<'_>, tools: RowRange) {
        let summary = json!({
            "name": cli.name,
            "description": cli.description,
            "tool_count": tools.count,
            "category": cli.category,
            "tags": cli.tags,
        });
        let summary = self.push_text(&summary.to_string());
        let category_key = fold(cli.category.unwrap_or_default());
        let tags: Vec<ByteRange> = cli
            .tags
            .iter()
            .map(|tag| self.find_or_push(summary, tag))
            .collect();
        let env = self.push_texts(&cli.env);
        let pass_env = self.push_texts(&cli.pass_env);
        let row = CliRow {
            stem: self.find_or_push(summary, cli.stem),
            name: self.find_or_push(summary, cli.name),
            name_key: self.find_or_push(summary, &fold(cli.name)),
            description: self.find_or_push(summary, cli.description),
            category: cli
                .category
                .map(|category| self.find_or_push(summary, category)),
            category_key: self.find_or_push(summary, &category_key),
            tags: self.tables.lists.extend(tags),
            command: self.find_or_push(summary, cli.command),
            env,
            working_dir: cli.working_dir.map(|directory| self.push_text(directory)),
            pass_env,
            summary,
            tools,
        };
        self.tables.clis.push(&row);
    }

    fn push_tool(&mut self, cli: &CliFacts<'_>, tool: &ToolFacts<'_>) {
        let entry = self.push_text(&entry_json(cli, tool));
        let limits: Vec<LimitRow> = tool
            .arguments
            .iter()
            .flat_map(|argument| argument.limits.iter().map(|limit| (argument.name, limit)))
            .map(|(argument, limit)| self.limit_row(entry, argument, limit))
            .collect();
        let arguments: Vec<ArgumentRow> = tool
            .arguments
            .iter()
            .map(|argument| self.argument_row(entry, argument))
            .collect();
        let mut line = vec![tool.name, tool.description, cli.name];
        line.extend(cli.category);
        line.extend(&cli.tags);
        line.extend(&tool.keywords);
        let line = fold(&line.join(" "));
        let combinations: Vec<CombinationRow> = tool
            .combinations
            .iter()
            .map(|rule| self.combination_row(rule))
            .collect();
        let examples: Vec<ExampleRow> = tool
            .examples
            .iter()
            .map(|example| self.example_row(example))
            .collect();
        let ok_exit_codes = tool.ok_exit_codes.iter().copied().map(ScalarRow::Integer);
        let row = ToolRow {
            cli: to_u32(tool.cli),
            name: self.find_or_push(entry, tool.name),
            description: self.find_or_push(entry, tool.description),
            command: self.find_or_push(entry, tool.command),
            arguments: self.tables.arguments.extend(arguments),
            limits: self.tables.limits.extend(limits),
            combinations: self.tables.combinations.extend(combinations),
            examples: self.tables.examples.extend(examples),
            keywords: self.push_texts(&tool.keywords),
            ok_exit_codes: self.tables.scalars.extend(ok_exit_codes),
            has_json_output: tool.has_json_output,
            entry,
            haystack: ByteRange(to_u32(self.tables.haystack.len()), to_u32(line.len())),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        };
        self.tables.haystack.to_mut().extend([&line, "\n"]);
        self.tables.tools.push(&row);
    }

    fn argument_row(&mut self, entry: ByteRange, argument: &ArgumentFacts<'_>) -> ArgumentRow {
        let mut scalar_row = |value| ScalarRow::new(value, |text| self.find_or_push(entry, text));
        let default: Vec<ScalarRow> = argument.default.iter().map(&mut scalar_row).collect();
        let choices: Vec<ScalarRow> = argument.choices.iter().map(scalar_row).collect();
        ArgumentRow {
            name: self.find_or_push(entry, argument.name),
            description: self.find_or_push(entry, argument.description),
            kind: argument.kind,
            shape: argument.shape,
            required: argument.required,
            placement: argument.placement,
            flag: self.find_or_push(entry, argument.flag),
            is_path: argument.is_path,
            default: self.tables.scalars.extend(default),
            choices: self.tables.scalars.extend(choices),
        }
    }

    fn combination_row(&mut self, rule: &CombinationFacts) -> CombinationRow {
        CombinationRow {
            kind: rule.kind,
            arguments: self.tables.numbers.extend(rule.arguments.iter().copied()),
        }
    }

    fn example_row(&mut self, example: &ExampleFacts<'_>) -> ExampleRow {
        let values: Vec<ExampleValueRow> = example
            .values
            .iter()
            .map(|value| ExampleValueRow::new(value, |text| self.push_text(text)))
            .collect();
        ExampleRow {
            request: self.push_text(&example.request),
            values: self.tables.example_values.extend(values),
        }
    }

    fn limit_row(&mut self, entry: ByteRange, argument: &str, limit: &LimitFacts<'_>) -> LimitRow {
        let pattern = limit.pattern.as_ref();
        let schema = pattern.and_then(|pattern| pattern.schema);
        LimitRow {
            argument: self.find_or_push(entry, argument),
            origin: limit.origin,
            target: limit.target,
            pattern: pattern.map(|pattern| self.find_or_push(entry, pattern.text)),
            pattern_schema: schema.map(|schema| self.find_or_push(entry, schema)),
            min: limit.min,
            max: limit.max,
            begins_with_dash: limit.begins_with_dash,
            is_required: limit.is_required,
        }
    }

    /// Adds a list of texts.
    fn push_texts(&mut self, texts: &[&str]) -> RowRange {
        let pieces: Vec<ByteRange> = texts.iter().map(|text| self.push_text(text)).collect();
        self.tables.lists.extend(pieces)
    }

    /// Adds a text as a line of its own, to keep generated code readable.
    fn push_text(&mut self, part: &str) -> ByteRange {
        if part.is_empty() {
            return ByteRange::default();
        }
        let text = self.tables.text.to_mut();
        let piece = ByteRange(to_u32(text.len()), to_u32(part.len()));
        text.extend([part, "\n"]);
        piece
    }

    /// Finds a text within a piece that was added before. Adds it if it is not there.
    fn find_or_push(&mut self, whole: ByteRange, part: &str) -> ByteRange {
        match whole.of(&self.tables.text).find(part) {
            Some(offset) if !part.is_empty() => {
                ByteRange(whole.0 + to_u32(offset), to_u32(part.len()))
            }
            _ => self.push_text(part),
        }
    }

    fn finish(mut self) -> Tables {
        let tools = self.tables.tools.rows().iter();
        let haystack = &self.tables.haystack;
        let lines = tools.map(|tool| (tool.haystack.of(haystack), tool.name.1 as usize));
        self.tables.word_index = build_word_index(lines);
        self.tables
    }
}

/// A tool as search responses show it. Only tools that change something have a risk in it.
fn entry_json(cli: &CliFacts<'_>, tool: &ToolFacts<'_>) -> String {
    let mut entry = json!({
        "tool_name": tool.name,
        "description": tool.description,
        "cli_name": cli.name,
        "category": cli.category,
        "tags": cli.tags,
    });
    if let Some(risk @ (Risk::Write | Risk::Destructive)) = tool.risk {
        entry["risk"] = json!(risk.name());
    }
    entry["input_schema"] = json!(input_schema(&tool.arguments, &tool.combinations, tool.risk));
    entry.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baked::{Baked, BakedValue};
    use crate::facts::PlacementKind;
    use crate::narrow::narrow;
    use climax_core::scalar::{ArgumentType, Number, Scalar, ValueShape};
    use climax_policy::limit::Limit;
    use climax_policy::pattern::Pattern;
    use climax_policy::rules::{self, Policy};
    use serde_json::Value;

    fn argument(name: &str, kind: ArgumentType) -> ArgumentFacts<'_> {
        ArgumentFacts {
            name,
            description: "",
            kind,
            shape: ValueShape::Single,
            required: false,
            default: Vec::new(),
            choices: Vec::new(),
            placement: PlacementKind::Flag,
            flag: "",
            is_path: false,
            limits: Vec::new(),
        }
    }

    fn tool<'f>(cli: usize, name: &'f str, arguments: Vec<ArgumentFacts<'f>>) -> ToolFacts<'f> {
        ToolFacts {
            cli,
            name,
            description: "Says \"hi\"\nand more",
            command: "log --oneline",
            arguments,
            timeout_ms: 30_000,
            risk: Some(Risk::Write),
            combinations: Vec::new(),
            ok_exit_codes: Vec::new(),
            examples: Vec::new(),
            keywords: Vec::new(),
            has_json_output: false,
        }
    }

    /// Two CLIs; one tool has an argument of each type, two have no arguments.
    fn facts() -> Facts<'static> {
        let text = |text: &'static str| Scalar::Text(text.into());
        let arguments = vec![
            ArgumentFacts {
                description: "Größe in \\ und \"",
                required: true,
                choices: vec![text("a"), text("b\\c"), text("")],
                placement: PlacementKind::Positional,
                ..argument("text", ArgumentType::String)
            },
            ArgumentFacts {
                default: vec![Scalar::Integer(-3)],
                ..argument("count", ArgumentType::Integer)
            },
            ArgumentFacts {
                choices: vec![
                    Scalar::Number(Number::Integer(1)),
                    Scalar::Number(Number::Float(2.5)),
                ],
                ..argument("scale", ArgumentType::Number)
            },
            ArgumentFacts {
                default: vec![Scalar::Boolean(true)],
                placement: PlacementKind::Stdin,
                ..argument("verbose", ArgumentType::Boolean)
            },
        ];
        Facts {
            clis: vec![
                CliFacts {
                    stem: "git",
                    name: "Git",
                    description: "",
                    command: "git",
                    env: vec!["A=1", "B=x=y"],
                    working_dir: Some(""),
                    category: Some("VCS"),
                    tags: vec!["tag", "\"quoted\""],
                    pass_env: vec!["GH_*"],
                },
                CliFacts {
                    stem: "plain",
                    name: "plain",
                    description: "Plain",
                    command: "~/bin/plain",
                    env: Vec::new(),
                    working_dir: None,
                    category: None,
                    tags: Vec::new(),
                    pass_env: Vec::new(),
                },
            ],
            tools: vec![
                tool(0, "git_log", arguments),
                tool(0, "git_gone", Vec::new()),
                tool(1, "plain", Vec::new()),
            ],
            has_policy: false,
        }
    }

    fn limit(pattern: Option<&str>, min: Option<i64>) -> Limit {
        let parse = |text| Pattern::parse(text).expect("a pattern");
        Limit {
            pattern: pattern.map(parse),
            min: min.map(Number::Integer),
            max: None,
            ..Limit::default()
        }
    }

    fn policy() -> Policy {
        let limits = [
            ("count".to_owned(), limit(Some("-[0-9]"), Some(-5))),
            ("text".to_owned(), limit(Some("(?i)[a-z]"), None)),
        ];
        let log = rules::ToolRule {
            description: Some("Looks".to_owned()),
            limits: limits.into(),
        };
        Policy {
            tools: [("git_log".to_owned(), log)].into(),
            ..Policy::default()
        }
    }

    /// Everything that would be baked, as lines to compare.
    fn baked_lines(tables: &Tables) -> Vec<String> {
        fn push(name: &str, value: &BakedValue<'_>, lines: &mut Vec<String>) {
            match value {
                BakedValue::Text(text) => lines.push(format!("{name}: {text}")),
                BakedValue::Bytes(bytes) | BakedValue::Table(bytes) => {
                    lines.push(format!("{name}: {bytes:?}"));
                }
                BakedValue::Number(number) => lines.push(format!("{name}: {number}")),
                BakedValue::Flag(flag) => lines.push(format!("{name}: {flag}")),
                BakedValue::Struct(_, fields) => {
                    for (field, value) in fields {
                        push(&format!("{name}.{field}"), value, lines);
                    }
                }
            }
        }
        let mut lines = Vec::new();
        push("", &tables.baked_value(), &mut lines);
        lines
    }

    #[test]
    fn facts_read_back_from_tables_equal_the_original_facts() {
        let mut facts = facts();
        assert_eq!(build(&facts).facts(), facts);
        let policies = [policy()];
        narrow(&mut facts, &policies);
        assert_eq!(build(&facts).facts(), facts);
    }

    #[test]
    fn a_policy_gives_the_same_tables_at_build_time_and_at_start() {
        let policies = [policy()];
        let mut at_build = facts();
        let original_numbers = narrow(&mut at_build, &policies);
        let baked = build(&facts());
        let mut at_start = baked.facts();
        assert_eq!(narrow(&mut at_start, &policies), original_numbers);
        assert_eq!(
            baked_lines(&build(&at_start)),
            baked_lines(&build(&at_build))
        );
    }

    #[test]
    fn an_entry_is_json_that_ends_with_the_input_schema() {
        let mut facts = facts();
        facts.tools[0].risk = None;
        let tables = build(&facts);
        let tool = tables.tools.rows().get(0);
        let entry = tool.entry.of(&tables.text);
        let parsed: Value = serde_json::from_str(entry).expect("JSON");
        let keys: Vec<&String> = parsed.as_object().expect("an object").keys().collect();
        assert_eq!(
            keys,
            [
                "tool_name",
                "description",
                "cli_name",
                "category",
                "tags",
                "input_schema"
            ]
        );
        assert_eq!(
            parsed["input_schema"],
            Value::from(input_schema(&tables.arguments_of(&tool), &[], tool.risk))
        );
        let cli = tables.clis.rows().get(0);
        assert_eq!(
            cli.summary.of(&tables.text),
            r#"{"name":"Git","description":"","tool_count":2,"category":"VCS","tags":["tag","\"quoted\""]}"#
        );
    }

    #[test]
    fn an_entry_has_the_risk_of_a_tool_that_changes_something() {
        for (risk, expected) in [
            (None, "\"tags\":[],\"input_schema\":"),
            (Some(Risk::Read), "\"tags\":[],\"input_schema\":"),
            (
                Some(Risk::Write),
                "\"tags\":[],\"risk\":\"write\",\"input_schema\":",
            ),
            (
                Some(Risk::Destructive),
                "\"tags\":[],\"risk\":\"destructive\",\"input_schema\":",
            ),
        ] {
            let mut facts = facts();
            facts.tools[2].risk = risk;
            let tables = build(&facts);
            let entry = tables.tools.rows().get(2).entry.of(&tables.text);
            assert!(entry.contains(expected), "{entry}");
        }
    }
}

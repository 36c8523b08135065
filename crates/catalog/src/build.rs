//! Facts -> tables.

use std::collections::HashMap;

use climax_core::words::fold;
use serde_json::json;

use crate::facts::{self, Facts, Pattern};
use crate::index::index;
use crate::rows::{Piece, RowRange, Scalar, count};
use crate::schema::input_schema;
use crate::tables::{Argument, Cli, Limit, Tables, Tool};

/// Builds the tables of a catalog.
///
/// # Panics
/// Its text has 4 GiB.
#[must_use]
pub fn build(facts: &Facts<'_>) -> Tables {
    let mut builder = Builder::default();
    builder.tables.has_policy = facts.has_policy;
    let mut first = 0;
    for (number, cli) in facts.clis.iter().enumerate() {
        let tools = facts.tools[first..].iter();
        let tools = tools.take_while(|tool| tool.cli == number).count();
        builder.push_cli(
            cli,
            RowRange {
                first: count(first),
                count: count(tools),
            },
        );
        first += tools;
    }
    for tool in &facts.tools {
        builder.push_tool(facts.cli_of(tool), tool);
    }
    builder.finish()
}

#[derive(Default)]
struct Builder<'f> {
    tables: Tables,
    /// Where the automata of patterns are that several arguments may have.
    automata: HashMap<&'f str, Piece>,
}

impl<'f> Builder<'f> {
    fn push_cli(&mut self, cli: &facts::Cli<'f>, tools: RowRange) {
        let summary = json!({
            "name": cli.name,
            "description": cli.description,
            "tool_count": tools.count,
            "category": cli.category,
            "tags": cli.tags,
        });
        let summary = self.push(&summary.to_string());
        let category_key = fold(cli.category.unwrap_or_default());
        let tags: Vec<Piece> = cli
            .tags
            .iter()
            .map(|tag| self.within(summary, tag))
            .collect();
        let env: Vec<Piece> = cli.env.iter().map(|variable| self.push(variable)).collect();
        let row = Cli {
            stem: self.within(summary, cli.stem),
            name: self.within(summary, cli.name),
            name_key: self.within(summary, &fold(cli.name)),
            description: self.within(summary, cli.description),
            category: cli.category.map(|category| self.within(summary, category)),
            category_key: self.within(summary, &category_key),
            tags: self.tables.lists.extend(tags),
            command: self.within(summary, cli.command),
            env: self.tables.lists.extend(env),
            working_dir: cli.working_dir.map(|directory| self.push(directory)),
            summary,
            tools,
        };
        self.tables.clis.push(&row);
    }

    fn push_tool(&mut self, cli: &facts::Cli<'f>, tool: &facts::Tool<'f>) {
        let entry = json!({
            "tool_name": tool.name,
            "description": tool.description,
            "cli_name": cli.name,
            "category": cli.category,
            "tags": cli.tags,
            "input_schema": input_schema(&tool.arguments),
        });
        let entry = self.push(&entry.to_string());
        let limits: Vec<Limit> = tool
            .arguments
            .iter()
            .flat_map(|argument| argument.limits.iter().map(|limit| (argument.name, limit)))
            .map(|(argument, limit)| self.limit(entry, argument, limit))
            .collect();
        let arguments: Vec<Argument> = tool
            .arguments
            .iter()
            .map(|argument| self.argument(entry, argument))
            .collect();
        let mut line = vec![tool.name, tool.description, cli.name];
        line.extend(cli.category);
        line.extend(&cli.tags);
        let line = fold(&line.join(" "));
        let row = Tool {
            cli: count(tool.cli),
            name: self.within(entry, tool.name),
            description: self.within(entry, tool.description),
            command: self.within(entry, tool.command),
            arguments: self.tables.arguments.extend(arguments),
            limits: self.tables.limits.extend(limits),
            entry,
            haystack: Piece(count(self.tables.haystack.len()), count(line.len())),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        };
        self.tables.haystack.to_mut().extend([&line, "\n"]);
        self.tables.tools.push(&row);
    }

    fn argument(&mut self, entry: Piece, argument: &facts::Argument<'f>) -> Argument {
        let mut value = |value| Scalar::new(value, |text| self.within(entry, text));
        let default = argument.default.as_ref().map(&mut value);
        let choices: Vec<Scalar> = argument.choices.iter().map(value).collect();
        Argument {
            name: self.within(entry, argument.name),
            description: self.within(entry, argument.description),
            kind: argument.kind,
            required: argument.required,
            placement: argument.placement,
            default,
            choices: self.tables.choices.extend(choices),
        }
    }

    fn limit(&mut self, entry: Piece, argument: &str, limit: &facts::Limit<'f>) -> Limit {
        let pattern = limit.pattern.as_ref();
        let schema = pattern.and_then(|pattern| pattern.schema);
        Limit {
            argument: self.within(entry, argument),
            pattern: pattern.map(|pattern| self.within(entry, pattern.text)),
            pattern_schema: schema.map(|schema| self.within(entry, schema)),
            automaton: pattern.map_or(Piece::default(), |pattern| self.automaton(pattern)),
            min: limit.min,
            max: limit.max,
            begins_with_dash: limit.begins_with_dash,
        }
    }

    fn automaton(&mut self, pattern: &Pattern<'f>) -> Piece {
        let all = &mut self.tables.automata;
        *self.automata.entry(pattern.text).or_insert_with(|| {
            let piece = Piece(count(all.len()), count(pattern.automaton.len()));
            all.to_mut().extend(pattern.automaton);
            piece
        })
    }

    /// Adds a text, one a line, so that generated code can be read.
    fn push(&mut self, part: &str) -> Piece {
        if part.is_empty() {
            return Piece::default();
        }
        let text = self.tables.text.to_mut();
        let piece = Piece(count(text.len()), count(part.len()));
        text.extend([part, "\n"]);
        piece
    }

    /// Where a text is in a piece that has been added. It is added only if it is not there.
    fn within(&mut self, whole: Piece, part: &str) -> Piece {
        match whole.of(&self.tables.text).find(part) {
            Some(at) if !part.is_empty() => Piece(whole.0 + count(at), count(part.len())),
            _ => self.push(part),
        }
    }

    fn finish(mut self) -> Tables {
        let tools = self.tables.tools.rows().iter();
        let haystack = &self.tables.haystack;
        let words = index(tools.map(|tool| (tool.haystack.of(haystack), tool.name.1 as usize)));
        self.tables.words = words;
        self.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baked::{self, Baked};
    use crate::facts::PlacementKind;
    use crate::narrow::narrow;
    use climax_core::risk::Risk;
    use climax_core::scalar::{self, ArgumentType, Number};
    use climax_policy::limit;
    use climax_policy::pattern;
    use climax_policy::rules::{self, Policy};
    use serde_json::Value;

    fn argument(name: &str, kind: ArgumentType) -> facts::Argument<'_> {
        facts::Argument {
            name,
            description: "",
            kind,
            required: false,
            default: None,
            choices: Vec::new(),
            placement: PlacementKind::Flag,
            limits: Vec::new(),
        }
    }

    fn tool<'f>(cli: usize, name: &'f str, arguments: Vec<facts::Argument<'f>>) -> facts::Tool<'f> {
        facts::Tool {
            cli,
            name,
            description: "Says \"hi\"\nand more",
            command: "log --oneline",
            arguments,
            timeout_ms: 30_000,
            risk: Some(Risk::Write),
        }
    }

    /// Two CLIs with a tool that has arguments of all kinds, and two that have none.
    fn facts() -> Facts<'static> {
        let text = |text: &'static str| scalar::Scalar::Text(text.into());
        let arguments = vec![
            facts::Argument {
                description: "Größe in \\ und \"",
                required: true,
                choices: vec![text("a"), text("b\\c"), text("")],
                placement: PlacementKind::Positional,
                ..argument("text", ArgumentType::String)
            },
            facts::Argument {
                default: Some(scalar::Scalar::Integer(-3)),
                ..argument("count", ArgumentType::Integer)
            },
            facts::Argument {
                choices: vec![
                    scalar::Scalar::Number(Number::Integer(1)),
                    scalar::Scalar::Number(Number::Float(2.5)),
                ],
                ..argument("scale", ArgumentType::Number)
            },
            facts::Argument {
                default: Some(scalar::Scalar::Boolean(true)),
                placement: PlacementKind::Stdin,
                ..argument("verbose", ArgumentType::Boolean)
            },
        ];
        Facts {
            clis: vec![
                facts::Cli {
                    stem: "git",
                    name: "Git",
                    description: "",
                    command: "git",
                    env: vec!["A=1", "B=x=y"],
                    working_dir: Some(""),
                    category: Some("VCS"),
                    tags: vec!["tag", "\"quoted\""],
                },
                facts::Cli {
                    stem: "plain",
                    name: "plain",
                    description: "Plain",
                    command: "~/bin/plain",
                    env: Vec::new(),
                    working_dir: None,
                    category: None,
                    tags: Vec::new(),
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

    fn limit(pattern: Option<&str>, min: Option<i64>) -> limit::Limit {
        let parse = |text| pattern::Pattern::parse(text).expect("a pattern");
        limit::Limit {
            pattern: pattern.map(parse),
            min: min.map(Number::Integer),
            max: None,
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

    /// All that a binary would hold, to be compared.
    fn held(tables: &Tables) -> Vec<String> {
        fn push(name: &str, value: &baked::Value<'_>, all: &mut Vec<String>) {
            match value {
                baked::Value::Text(text) => all.push(format!("{name}: {text}")),
                baked::Value::Bytes(bytes) | baked::Value::Table(bytes) => {
                    all.push(format!("{name}: {bytes:?}"));
                }
                baked::Value::Number(number) => all.push(format!("{name}: {number}")),
                baked::Value::Flag(flag) => all.push(format!("{name}: {flag}")),
                baked::Value::Struct(_, fields) => {
                    for (field, value) in fields {
                        push(&format!("{name}.{field}"), value, all);
                    }
                }
            }
        }
        let mut all = Vec::new();
        push("", &tables.value(), &mut all);
        all
    }

    #[test]
    fn the_facts_that_are_read_back_are_those_that_the_tables_were_made_of() {
        let mut facts = facts();
        assert_eq!(build(&facts).facts(), facts);
        let policies = [policy()];
        narrow(&mut facts, &policies);
        assert_eq!(build(&facts).facts(), facts);
    }

    #[test]
    fn a_policy_makes_the_same_tables_at_build_time_and_at_the_start() {
        let policies = [policy()];
        let mut at_build = facts();
        let kept = narrow(&mut at_build, &policies);
        let baked = build(&facts());
        let mut at_start = baked.facts();
        assert_eq!(narrow(&mut at_start, &policies), kept);
        assert_eq!(held(&build(&at_start)), held(&build(&at_build)));
    }

    #[test]
    fn an_entry_is_json_and_ends_with_the_schema() {
        let tables = build(&facts());
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
            Value::from(input_schema(&tables.arguments_of(&tool)))
        );
        let cli = tables.clis.rows().get(0);
        assert_eq!(
            cli.summary.of(&tables.text),
            r#"{"name":"Git","description":"","tool_count":2,"category":"VCS","tags":["tag","\"quoted\""]}"#
        );
    }
}

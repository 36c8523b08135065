//! Turns the model into what the binary holds: one text with everything an answer is made of, one
//! text to search in, and rows of offsets into them. Offsets, because a pointer in a table costs
//! work at each start of the server.

use std::collections::HashMap;

use climax_core::pieces::{NAME_IN_HEAD, head, json, line, quoted};
use climax_core::scalar::Number;
use climax_core::words::fold;
use climax_policy::pattern::Pattern;

use crate::model::{Catalog, Cli, Limit, Risk, Tool};
use crate::schema::input_schema;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte.
    pub at: u32,
    /// How many bytes.
    pub len: u32,
}

/// A text that grows by pieces.
#[derive(Default)]
pub struct Text {
    /// The pieces, in order and without gaps.
    pub parts: Vec<String>,
    len: u32,
}

impl Text {
    fn push(&mut self, part: String) -> Piece {
        let piece = Piece {
            at: self.len,
            len: size(&part),
        };
        if !part.is_empty() {
            self.len += piece.len;
            self.parts.push(part);
        }
        piece
    }
}

fn size(part: &str) -> u32 {
    u32::try_from(part.len()).expect("configs of less than 4 GiB")
}

/// Everything that the binary holds besides code.
pub struct Layout {
    /// What answers are made of.
    pub text: Text,
    /// What is searched in.
    pub haystack: Text,
    /// A row for each CLI.
    pub clis: Vec<CliRow>,
    /// A row for each tool; those of a CLI are neighbours.
    pub tools: Vec<ToolRow>,
    /// A row for each limit; those of a tool are neighbours, in the order of the tools.
    pub limits: Vec<LimitRow>,
    /// The automata of all patterns.
    pub automata: Vec<u8>,
    patterns: HashMap<String, (Piece, Piece)>,
}

/// What is known of a CLI. See the runtime's type of the same name for each field's meaning.
#[expect(missing_docs, reason = "the runtime documents them")]
pub struct CliRow {
    pub stem: Piece,
    pub name: Piece,
    pub name_key: Piece,
    pub category_key: Piece,
    pub command: Piece,
    pub env: Piece,
    pub working_dir: Piece,
    pub summary_head: Piece,
    pub summary_tail: Piece,
    pub entry_middle: Piece,
    pub category: Piece,
    pub tags: Piece,
    pub description: Piece,
    pub first_tool: u32,
    pub tool_count: u32,
}

/// What is known of a tool. See the runtime's type of the same name for each field's meaning.
#[expect(missing_docs, reason = "the runtime documents them")]
pub struct ToolRow {
    pub cli: u32,
    pub name: Piece,
    pub head: Piece,
    pub schema: Piece,
    pub command: Piece,
    pub haystack: Piece,
    pub timeout_ms: u64,
    pub risk: Option<Risk>,
}

/// A limit of an argument. See the runtime's type of the same name for each field's meaning.
#[expect(missing_docs, reason = "the runtime documents them")]
pub struct LimitRow {
    pub tool: u32,
    pub argument: Piece,
    pub pattern: Piece,
    pub automaton: Piece,
    pub min: Option<Number>,
    pub max: Option<Number>,
    pub begins_with_dash: bool,
}

/// Lays out a catalog.
///
/// # Panics
/// Its text has 4 GiB.
#[must_use]
pub fn layout(catalog: &Catalog) -> Layout {
    let mut layout = Layout {
        text: Text::default(),
        haystack: Text::default(),
        clis: Vec::new(),
        tools: Vec::new(),
        limits: Vec::new(),
        automata: Vec::new(),
        patterns: HashMap::new(),
    };
    for cli in &catalog.clis {
        layout.push_cli(cli);
    }
    layout
}

impl Layout {
    fn push_cli(&mut self, cli: &Cli) {
        let text = &mut self.text;
        let name = json(&cli.name);
        let category = cli.category.as_deref().map_or("null".to_owned(), json);
        let tags: Vec<String> = cli.tags.iter().map(|tag| json(tag)).collect();
        let tags = tags.join(",");
        let env: Vec<String> = cli
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let row = CliRow {
            stem: text.push(cli.stem.clone()),
            name: text.push(cli.name.clone()),
            name_key: text.push(fold(&cli.name)),
            category_key: text.push(fold(cli.category.as_deref().unwrap_or_default())),
            command: text.push(cli.command.clone()),
            env: text.push(env.join("\0")),
            working_dir: text.push(cli.working_dir.clone().unwrap_or_default()),
            summary_head: text.push(quoted(&format!(
                r#"{{"name":{name},"description":{},"tool_count":"#,
                json(&cli.description)
            ))),
            summary_tail: text.push(quoted(&format!(
                r#","category":{category},"tags":[{tags}]}}"#
            ))),
            entry_middle: text.push(quoted(&format!(
                r#","cli_name":{name},"category":{category},"tags":[{tags}],"input_schema":"#
            ))),
            category: text.push(quoted(&category)),
            tags: text.push(quoted(&format!("[{tags}]"))),
            description: text.push(quoted(&json(&cli.description))),
            first_tool: count(self.tools.len()),
            tool_count: count(cli.tools.len()),
        };
        let number = count(self.clis.len());
        self.clis.push(row);
        for tool in &cli.tools {
            self.push_tool(number, cli, tool);
        }
    }

    fn push_tool(&mut self, cli_number: u32, cli: &Cli, tool: &Tool) {
        let number = count(self.tools.len());
        for arg in &tool.args {
            if let Some(limit) = &arg.limit {
                self.push_limit(number, &arg.name, limit);
            }
        }
        let head = self.text.push(head(&tool.name, &tool.description));
        let mut more = vec![cli.name.as_str()];
        more.extend(cli.category.as_deref());
        more.extend(cli.tags.iter().map(String::as_str));
        let line = line(&tool.name, &tool.description, &more);
        let haystack = self.haystack.push(line);
        self.haystack.push("\n".to_owned());
        self.tools.push(ToolRow {
            cli: cli_number,
            name: Piece {
                at: head.at + NAME_IN_HEAD,
                len: size(&tool.name),
            },
            head,
            schema: self.text.push(quoted(&input_schema(&tool.args))),
            command: self.text.push(tool.command.clone()),
            haystack,
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
        });
    }

    fn push_limit(&mut self, tool: u32, argument: &str, limit: &Limit) {
        let pattern = limit.pattern.as_ref();
        let pieces = pattern.map(|pattern| self.push_pattern(pattern));
        let nothing = Piece { at: 0, len: 0 };
        let (text, automaton) = pieces.unwrap_or((nothing, nothing));
        let row = LimitRow {
            tool,
            argument: self.text.push(argument.to_owned()),
            pattern: text,
            automaton,
            min: limit.min,
            max: limit.max,
            begins_with_dash: pattern.is_some_and(|pattern| pattern.begins_with_dash),
        };
        self.limits.push(row);
    }

    /// Where a pattern and its automaton are. Those that several arguments have are there once.
    fn push_pattern(&mut self, pattern: &Pattern) -> (Piece, Piece) {
        if let Some(pieces) = self.patterns.get(&pattern.text) {
            return *pieces;
        }
        let automaton = pattern.bake();
        let piece = Piece {
            at: count(self.automata.len()),
            len: count(automaton.len()),
        };
        self.automata.extend(automaton);
        let pieces = (self.text.push(pattern.text.clone()), piece);
        self.patterns.insert(pattern.text.clone(), pieces);
        pieces
    }
}

/// A row's number.
///
/// # Panics
/// There are 2^32 of them.
#[must_use]
pub fn count(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 tools")
}

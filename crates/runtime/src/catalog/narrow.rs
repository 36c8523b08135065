//! Turns a catalog and policies into a catalog of what the policies allow. What was baked stays as it
//! is; the new one has its own texts and tables, so that nothing else has to know of policies.

use climax_core::index::index;
use climax_core::pieces::{NAME_IN_HEAD, description, head, line_with, quoted, unquoted};
use climax_policy::limit::constrained;
use climax_policy::rules::{Policy, Tool as Rule};

use crate::catalog::selection::Numbers;
use crate::catalog::{Catalog, Cli, Limit, Piece, Tool, Words};

/// What policies have left of a catalog.
pub(crate) struct Narrowed {
    pub(crate) catalog: &'static Catalog,
    pub(crate) numbers: Numbers,
}

/// Narrows a catalog. A tool is left if all policies allow it, and all their limits hold for it.
pub(crate) fn narrow(catalog: &'static Catalog, policies: &[Policy]) -> Narrowed {
    let mut narrower = Narrower {
        catalog,
        text: String::new(),
        haystack: String::new(),
        tools: Vec::new(),
        limits: Vec::new(),
        numbers: Numbers {
            tools: Vec::new(),
            clis: Vec::new(),
        },
    };
    let mut clis = Vec::new();
    for (number, cli) in (0..).zip(catalog.clis) {
        let first_tool = count(narrower.tools.len());
        for tool in (cli.first_tool..).take(cli.tool_count as usize) {
            narrower.push_tool(count(clis.len()), tool, policies);
        }
        let tool_count = count(narrower.tools.len()) - first_tool;
        if tool_count > 0 {
            narrower.numbers.clis.push(number);
            clis.push(narrower.cli(cli, first_tool, tool_count));
        }
    }
    narrower.finish(clis)
}

struct Narrower {
    catalog: &'static Catalog,
    text: String,
    haystack: String,
    tools: Vec<Tool>,
    limits: Vec<Limit>,
    numbers: Numbers,
}

impl Narrower {
    /// Adds a tool if it is allowed.
    fn push_tool(&mut self, cli: u32, number: u32, policies: &[Policy]) {
        let catalog = self.catalog;
        let Some(tool) = catalog.tools.get(number as usize) else {
            return;
        };
        let name = tool.name.of(catalog.text);
        let rules: Option<Vec<Option<&Rule>>> =
            policies.iter().map(|policy| policy.tool(name)).collect();
        let Some(rules) = rules else { return };
        let rules: Vec<&Rule> = rules.into_iter().flatten().collect();
        let new_number = count(self.tools.len());

        let mut own_head = tool.head.of(catalog.text).to_owned();
        let mut line = tool.haystack.of(catalog.haystack).to_owned();
        // The last word counts.
        let described = rules
            .iter()
            .rev()
            .find_map(|rule| rule.description.as_ref());
        if let Some(described) = described {
            line = line_with(&line, name, &description(&own_head), described);
            own_head = head(name, described);
        }
        let mut schema = tool.schema.of(catalog.text).to_owned();
        let baked = catalog.limits_of(number);
        // Where a policy was baked, only that one lets options through.
        let may_be_dashed = |argument: &str| {
            let mut limits = baked.iter();
            catalog.surroundings.is_none()
                || limits.any(|it| it.argument.of(catalog.text) == argument && it.begins_with_dash)
        };
        for limit in baked {
            let limit = Limit {
                tool: new_number,
                argument: self.copy(limit.argument),
                pattern: self.copy(limit.pattern),
                ..*limit
            };
            self.limits.push(limit);
        }
        for rule in rules.iter().filter(|rule| !rule.limits.is_empty()) {
            schema = quoted(&constrained(&unquoted(&schema), &rule.limits));
            for (argument, limit) in &rule.limits {
                let pattern = limit.pattern.as_ref();
                let limit = Limit {
                    tool: new_number,
                    argument: self.push(argument),
                    pattern: self.push(pattern.map_or("", |pattern| &pattern.text)),
                    automaton: Piece(0, 0),
                    min: limit.min,
                    max: limit.max,
                    begins_with_dash: may_be_dashed(argument)
                        && pattern.is_some_and(|it| it.begins_with_dash),
                };
                self.limits.push(limit);
            }
        }
        let head = self.push(&own_head);
        let tool = Tool {
            cli,
            name: Piece(head.0 + NAME_IN_HEAD, tool.name.1),
            head,
            schema: self.push(&schema),
            command: self.copy(tool.command),
            haystack: Piece(count(self.haystack.len()), count(line.len())),
            ..*tool
        };
        self.haystack += &line;
        self.haystack.push('\n');
        self.tools.push(tool);
        self.numbers.tools.push(number);
    }

    fn cli(&mut self, cli: &Cli, first_tool: u32, tool_count: u32) -> Cli {
        Cli {
            stem: self.copy(cli.stem),
            name: self.copy(cli.name),
            name_key: self.copy(cli.name_key),
            category_key: self.copy(cli.category_key),
            command: self.copy(cli.command),
            env: self.copy(cli.env),
            working_dir: self.copy(cli.working_dir),
            summary_head: self.copy(cli.summary_head),
            summary_tail: self.copy(cli.summary_tail),
            entry_middle: self.copy(cli.entry_middle),
            category: self.copy(cli.category),
            tags: self.copy(cli.tags),
            description: self.copy(cli.description),
            first_tool,
            tool_count,
        }
    }

    fn copy(&mut self, piece: Piece) -> Piece {
        self.push(piece.of(self.catalog.text))
    }

    fn push(&mut self, text: &str) -> Piece {
        let piece = Piece(count(self.text.len()), count(text.len()));
        self.text += text;
        piece
    }

    /// The catalog serves until the process ends.
    fn finish(self, clis: Vec<Cli>) -> Narrowed {
        let haystack: &'static str = self.haystack.leak();
        let tools = self.tools.iter();
        let index = index(tools.map(|tool| (tool.haystack.of(haystack), tool.name.1 as usize)));
        let catalog = Catalog {
            text: self.text.leak(),
            haystack,
            words: Words {
                text: index.text.leak(),
                rows: index.rows.leak(),
                places: index.places.leak(),
            },
            clis: clis.leak(),
            tools: self.tools.leak(),
            limits: self.limits.leak(),
            ..*self.catalog
        };
        Narrowed {
            catalog: Box::leak(Box::new(catalog)),
            numbers: self.numbers,
        }
    }
}

/// Catalogs have less than 4 GiB, and what is left of one has not much more.
fn count(length: usize) -> u32 {
    u32::try_from(length).expect("less than 4 GiB")
}

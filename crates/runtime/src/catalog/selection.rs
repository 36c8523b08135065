//! The part of a catalog that a server offers.

use std::sync::OnceLock;

use climax_catalog::rows::{Piece, Rows};
use climax_catalog::schema::input_schema;
use climax_catalog::tables::{Cli, Tool};
use climax_catalog::{Kept, Tables};
use climax_discovery::{Discovery, derive};
use serde_json::{Map, Value};

use crate::call::arguments::{ArgumentLimits, ArgumentReader};
use crate::call::argv::Argv;
use crate::catalog::Catalog;

/// The part of a catalog that a server offers: all of it, or some of its CLIs.
pub(crate) struct Selection {
    /// What was baked.
    pub(crate) catalog: &'static Catalog,
    /// What is known of the tools: what was baked, or what policies have left of it.
    pub(crate) tables: &'static Tables,
    /// What each number meant when the catalog was baked, if it was narrowed since.
    kept: Option<Kept>,
    /// The numbers of the CLIs that are offered, in order, or `None` for all.
    chosen: Option<Vec<u32>>,
    /// How tools are found, if the catalog was narrowed.
    derived: OnceLock<Discovery>,
}

impl Selection {
    /// Everything.
    pub(crate) fn all(catalog: &'static Catalog) -> Self {
        Self {
            catalog,
            tables: catalog.tables,
            kept: None,
            chosen: None,
            derived: OnceLock::new(),
        }
    }

    /// What policies have left.
    pub(crate) fn narrowed(catalog: &'static Catalog, tables: &'static Tables, kept: Kept) -> Self {
        Self {
            tables,
            kept: Some(kept),
            ..Self::all(catalog)
        }
    }

    /// Only the CLIs that have one of the names, by file or config.
    ///
    /// # Errors
    /// The first name that no CLI has.
    pub(crate) fn named(mut self, names: &[String]) -> Result<Self, &String> {
        if names.is_empty() {
            return Ok(self);
        }
        let has =
            |cli: &Cli, name: &str| self.text(cli.stem) == name || self.text(cli.name) == name;
        let clis = || self.tables.clis.rows().iter();
        let is_unknown = |name: &&String| !clis().any(|cli| has(&cli, name));
        if let Some(unknown) = names.iter().find(is_unknown) {
            return Err(unknown);
        }
        let chosen = (0..)
            .zip(clis())
            .filter(|(_, cli)| names.iter().any(|name| has(cli, name)));
        self.chosen = Some(chosen.map(|(number, _)| number).collect());
        Ok(self)
    }

    /// How tools are found, and what follows from what is said about them. For a catalog that was narrowed
    /// it is worked out when it is first needed.
    pub(crate) fn discovery(&self) -> &Discovery {
        match &self.kept {
            None => self.catalog.discovery,
            Some(_) => self.derived.get_or_init(|| derive(&self.tables.facts())),
        }
    }

    /// Whether all that there is is offered.
    pub(crate) fn is_all(&self) -> bool {
        self.chosen.is_none()
    }

    /// The CLIs that are offered.
    pub(crate) fn clis(&self) -> impl Iterator<Item = Cli> {
        let clis = self.tables.clis.rows();
        let all = if self.is_all() { clis } else { Rows::default() };
        let chosen = self.chosen.iter().flatten();
        all.iter()
            .chain(chosen.map(move |number| clis.get(*number)))
    }

    /// The CLI of a tool.
    pub(crate) fn cli_of(&self, tool: &Tool) -> Cli {
        self.tables.clis.rows().get(tool.cli)
    }

    /// The tools that there are, offered or not.
    pub(crate) fn tools(&self) -> Rows<'static, Tool> {
        self.tables.tools.rows()
    }

    /// The tool that has a name, and its number, if it is offered.
    pub(crate) fn find(&self, name: &str) -> Option<(u32, Tool)> {
        let mut number = (self.catalog.find)(name)?;
        if let Some(kept) = &self.kept {
            number = u32::try_from(kept.tools.binary_search(&number).ok()?).ok()?;
        }
        let tool = self.tools().get(number);
        let offered = match &self.chosen {
            None => true,
            Some(chosen) => chosen.binary_search(&tool.cli).is_ok(),
        };
        offered.then_some((number, tool))
    }

    /// Reads a call of the tool that has a number, and writes its command line.
    pub(crate) fn call<'a>(
        &self,
        number: u32,
        tool: &Tool,
        reader: &mut ArgumentReader<'a>,
        argv: &mut Argv<'a>,
    ) {
        let (cli, number) = match &self.kept {
            None => (tool.cli, number),
            Some(kept) => (kept.clis[tool.cli as usize], kept.tools[number as usize]),
        };
        (self.catalog.call)(cli, number, reader, argv);
    }

    /// What policies allow as arguments of a tool.
    pub(crate) fn allowed(&self, tool: &Tool) -> ArgumentLimits<'static> {
        ArgumentLimits {
            rows: self.tables.limits.rows().slice(tool.limits),
            text: &self.tables.text,
            automata: &self.tables.automata,
        }
    }

    /// The input schema of a tool.
    pub(crate) fn schema(&self, tool: &Tool) -> Map<String, Value> {
        input_schema(&self.tables.arguments_of(tool))
    }

    /// The tools of a CLI.
    pub(crate) fn tools_of(&self, cli: &Cli) -> Rows<'static, Tool> {
        self.tools().slice(cli.tools)
    }

    /// How many tools are offered.
    pub(crate) fn tool_count(&self) -> u32 {
        self.clis().map(|cli| cli.tools.count).sum()
    }

    /// A part of the catalog's text.
    pub(crate) fn text(&self, piece: Piece) -> &'static str {
        piece.of(&self.tables.text)
    }
}

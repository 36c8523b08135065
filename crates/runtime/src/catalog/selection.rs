//! The part of a catalog that a server offers.

use std::sync::OnceLock;

use crate::call::arguments::{Allowed, Reader};
use crate::call::argv::Argv;
use crate::catalog::derived::derived;
use crate::catalog::narrow::Narrowed;
use crate::catalog::{Catalog, Cli, Discovery, Piece, Tool};

/// The part of a catalog that a server offers: all of it, or some of its CLIs.
pub(crate) struct Selection {
    /// What was baked.
    pub(crate) catalog: &'static Catalog,
    /// What each number meant when the catalog was baked, if it was narrowed since.
    baked: Option<Numbers>,
    /// The numbers of the CLIs that are offered, in order, or `None` for all.
    chosen: Option<Vec<u32>>,
    /// How tools are found, if the catalog was narrowed.
    derived: OnceLock<Discovery>,
}

/// The numbers that tools and CLIs had before others were taken out.
pub(crate) struct Numbers {
    /// Of the tools that are left, in order.
    pub(crate) tools: Vec<u32>,
    /// Of the CLIs that are left, in order.
    pub(crate) clis: Vec<u32>,
}

impl Selection {
    /// Everything.
    pub(crate) fn all(catalog: &'static Catalog) -> Self {
        Self {
            catalog,
            baked: None,
            chosen: None,
            derived: OnceLock::new(),
        }
    }

    /// What policies have left.
    pub(crate) fn narrowed(narrowed: Narrowed) -> Self {
        Self {
            catalog: narrowed.catalog,
            baked: Some(narrowed.numbers),
            chosen: None,
            derived: OnceLock::new(),
        }
    }

    /// Only the CLIs that have one of the names, by file or config.
    ///
    /// # Errors
    /// The first name that no CLI has.
    pub(crate) fn named(mut self, names: &[String]) -> Result<Self, &String> {
        let catalog = self.catalog;
        if names.is_empty() {
            return Ok(self);
        }
        let has = |cli: &Cli, name: &str| {
            cli.stem.of(catalog.text) == name || cli.name.of(catalog.text) == name
        };
        if let Some(unknown) = names
            .iter()
            .find(|name| !catalog.clis.iter().any(|cli| has(cli, name)))
        {
            return Err(unknown);
        }
        let chosen = (0..)
            .zip(catalog.clis)
            .filter(|(_, cli)| names.iter().any(|name| has(cli, name)));
        self.chosen = Some(chosen.map(|(number, _)| number).collect());
        Ok(self)
    }

    /// How tools are found, and what follows from what is said about them.
    pub(crate) fn discovery(&self) -> &Discovery {
        match &self.baked {
            None => &self.catalog.discovery,
            Some(numbers) => self.derived.get_or_init(|| derived(self.catalog, numbers)),
        }
    }

    /// Whether all that there is is offered.
    pub(crate) fn is_all(&self) -> bool {
        self.chosen.is_none()
    }

    /// The CLIs that are offered.
    pub(crate) fn clis(&self) -> impl Iterator<Item = &'static Cli> {
        let clis = self.catalog.clis;
        let all: &[Cli] = if self.chosen.is_none() { clis } else { &[] };
        let chosen = self.chosen.iter().flatten();
        all.iter()
            .chain(chosen.filter_map(|number| clis.get(*number as usize)))
    }

    /// The tool that has a name, and its number, if it is offered.
    pub(crate) fn find(&self, name: &str) -> Option<(u32, &'static Tool)> {
        let mut number = (self.catalog.find)(name)?;
        if let Some(baked) = &self.baked {
            number = u32::try_from(baked.tools.binary_search(&number).ok()?).ok()?;
        }
        let tool = self.catalog.tools.get(number as usize)?;
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
        reader: &mut Reader<'a>,
        argv: &mut Argv<'a>,
    ) {
        let (cli, number) = match &self.baked {
            None => (tool.cli, number),
            Some(baked) => (baked.clis[tool.cli as usize], baked.tools[number as usize]),
        };
        (self.catalog.call)(cli, number, reader, argv);
    }

    /// What policies allow as arguments of the tool that has a number.
    pub(crate) fn allowed(&self, number: u32) -> Allowed<'static> {
        Allowed {
            limits: self.catalog.limits_of(number),
            text: self.catalog.text,
            automata: self.catalog.automata,
        }
    }

    /// The tools of a CLI.
    pub(crate) fn tools_of(&self, cli: &Cli) -> &'static [Tool] {
        let first = cli.first_tool as usize;
        self.catalog
            .tools
            .get(first..first + cli.tool_count as usize)
            .unwrap_or_default()
    }

    /// How many tools are offered.
    pub(crate) fn tool_count(&self) -> u32 {
        self.clis().map(|cli| cli.tool_count).sum()
    }

    /// A part of the catalog's text.
    pub(crate) fn text(&self, piece: Piece) -> &'static str {
        piece.of(self.catalog.text)
    }
}

//! The part of a catalog that a server offers.

use crate::catalog::{Catalog, Cli, Piece, Tool};

/// The part of a catalog that a server offers: all of it, or some of its CLIs.
pub(crate) struct Selection {
    /// What was baked.
    pub(crate) catalog: &'static Catalog,
    /// The numbers of the CLIs that are offered, in order, or `None` for all.
    chosen: Option<Vec<u32>>,
}

impl Selection {
    /// Everything.
    pub(crate) fn all(catalog: &'static Catalog) -> Self {
        Self {
            catalog,
            chosen: None,
        }
    }

    /// Only the CLIs that have one of the names, by file or config.
    ///
    /// # Errors
    /// The first name that no CLI has.
    pub(crate) fn named<'n>(
        catalog: &'static Catalog,
        names: &'n [String],
    ) -> Result<Self, &'n str> {
        if names.is_empty() {
            return Ok(Self::all(catalog));
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
        Ok(Self {
            catalog,
            chosen: Some(chosen.map(|(number, _)| number).collect()),
        })
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
        let number = (self.catalog.find)(name)?;
        let tool = self.catalog.tools.get(number as usize)?;
        let offered = match &self.chosen {
            None => true,
            Some(chosen) => chosen.binary_search(&tool.cli).is_ok(),
        };
        offered.then_some((number, tool))
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

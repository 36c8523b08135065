//! Narrows a catalog to the part that a server offers: the CLIs and tools that policies and names leave.

use std::sync::OnceLock;

use climax_catalog::rows::{ByteRange, Rows};
use climax_catalog::schema::input_schema;
use climax_catalog::tables::{CliRow, ToolRow};
use climax_catalog::{OriginalNumbers, Tables};
use climax_core::risk::{Risk, assumed_risk};
use climax_discovery::tokens::normalised_name;
use climax_discovery::trigrams::edit_distance;
use climax_discovery::{Discovery, derive};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::registration::CallTools;
use climax_arguments::argv::Argv;
use climax_arguments::read_call;
use climax_arguments::reader::{ArgumentLimits, CallRefusal};

/// The maximum edit distance of a suggested name.
const MAX_EDIT_DISTANCE: u8 = 2;

/// The largest edit distance between the name of a tool and a typo of it. It is smaller if they differ in a short part:
/// `git_tag` is no typo of `git_log`.
fn max_edit_distance(typo: &str, name: &str) -> u8 {
    const LETTERS_PER_EDIT: usize = 5;
    let pairs = typo.bytes().zip(name.bytes());
    let common = pairs.take_while(|(one, other)| one == other).count();
    let words_in_common = name.as_bytes()[..common]
        .iter()
        .rposition(|byte| *byte == b'_');
    let differing = name.len() - words_in_common.map_or(0, |position| position + 1);
    let max_distance = u8::try_from(1 + differing / LETTERS_PER_EDIT).unwrap_or(u8::MAX);
    max_distance.min(MAX_EDIT_DISTANCE)
}

/// The part of a catalog that a server offers. Tool and CLI numbers are positions in `tables`.
pub(crate) struct Selection {
    /// The baked catalog.
    pub(crate) catalog: &'static Catalog,
    /// The baked tables, or new ones without what policies exclude.
    pub(crate) tables: &'static Tables,
    /// Maps numbers in `tables` to numbers in the baked tables, if policies narrowed the catalog.
    baked_numbers: Option<OriginalNumbers>,
    /// The numbers of the offered CLIs, ascending. `None` means all.
    offered_clis: Option<Vec<u32>>,
    /// The discovery tables of a narrowed catalog.
    derived_discovery: OnceLock<Discovery>,
    /// The meta tools that call the offered tools.
    pub(crate) call_tools: CallTools,
    offered_risks: OnceLock<Vec<Risk>>,
}

impl Selection {
    /// Selects the whole catalog.
    pub(crate) fn all(catalog: &'static Catalog) -> Self {
        Self {
            catalog,
            tables: catalog.tables,
            baked_numbers: None,
            offered_clis: None,
            derived_discovery: OnceLock::new(),
            call_tools: CallTools::default(),
            offered_risks: OnceLock::new(),
        }
    }

    /// Selects what policies leave of a catalog.
    pub(crate) fn narrowed(
        catalog: &'static Catalog,
        tables: &'static Tables,
        baked_numbers: OriginalNumbers,
    ) -> Self {
        Self {
            tables,
            baked_numbers: Some(baked_numbers),
            ..Self::all(catalog)
        }
    }

    /// Keeps only the CLIs with these names. A name is that of the config or of its file. No names keep all.
    ///
    /// # Errors
    /// The first name that no CLI has.
    pub(crate) fn with_clis_named(mut self, names: &[String]) -> Result<Self, &String> {
        if names.is_empty() {
            return Ok(self);
        }
        let has_name =
            |cli: &CliRow, name: &str| self.text(cli.stem) == name || self.text(cli.name) == name;
        let clis = || self.tables.clis.rows().iter();
        let is_unknown = |name: &&String| !clis().any(|cli| has_name(&cli, name));
        if let Some(unknown) = names.iter().find(is_unknown) {
            return Err(unknown);
        }
        let offered = (0..)
            .zip(clis())
            .filter(|(_, cli)| names.iter().any(|name| has_name(cli, name)));
        self.offered_clis = Some(offered.map(|(number, _)| number).collect());
        Ok(self)
    }

    /// The search index and what was derived about the tools. For a narrowed catalog, the first call derives
    /// them.
    pub(crate) fn discovery(&self) -> &Discovery {
        match &self.baked_numbers {
            None => self.catalog.discovery,
            Some(_) => self
                .derived_discovery
                .get_or_init(|| derive(&self.tables.facts())),
        }
    }

    /// Whether all CLIs in the tables are offered.
    pub(crate) fn offers_all_clis(&self) -> bool {
        self.offered_clis.is_none()
    }

    /// The offered CLIs.
    pub(crate) fn clis(&self) -> impl Iterator<Item = CliRow> {
        let clis = self.tables.clis.rows();
        let all = if self.offers_all_clis() {
            clis
        } else {
            Rows::default()
        };
        let offered = self.offered_clis.iter().flatten();
        all.iter()
            .chain(offered.map(move |number| clis.get(*number)))
    }

    /// The CLI of a tool.
    pub(crate) fn cli_of(&self, tool: &ToolRow) -> CliRow {
        self.tables.clis.rows().get(tool.cli)
    }

    /// All tools in the tables, including those of CLIs that are not offered.
    pub(crate) fn tools(&self) -> Rows<'static, ToolRow> {
        self.tables.tools.rows()
    }

    /// Looks up an offered tool by name. Returns its number and its row.
    pub(crate) fn find_tool(&self, name: &str) -> Option<(u32, ToolRow)> {
        let mut number = (self.catalog.find)(name)?;
        if let Some(baked_numbers) = &self.baked_numbers {
            number = u32::try_from(baked_numbers.tools.binary_search(&number).ok()?).ok()?;
        }
        let tool = self.tools().get(number);
        let is_offered = match &self.offered_clis {
            None => true,
            Some(offered) => offered.binary_search(&tool.cli).is_ok(),
        };
        is_offered.then_some((number, tool))
    }

    /// The assumed risks of the offered tools, ascending. It is determined when it is first needed, because it
    /// takes time for each tool.
    pub(crate) fn offered_risks(&self) -> &[Risk] {
        self.offered_risks.get_or_init(|| {
            let tools = self.clis().flat_map(|cli| self.tools_of(&cli).iter());
            let mut is_offered = [false; Risk::ALL.len()];
            for tool in tools {
                is_offered[assumed_risk(tool.risk) as usize] = true;
            }
            let risks = Risk::ALL.into_iter();
            risks.filter(|risk| is_offered[*risk as usize]).collect()
        })
    }

    /// The names of offered tools that an unknown name may be a typo of, the closest first.
    pub(crate) fn names_similar_to(&self, unknown_name: &str) -> Vec<&'static str> {
        let unknown_key = normalised_name(unknown_name);
        let mut similar: Vec<(u8, &'static str)> = Vec::new();
        for tool in self.clis().flat_map(|cli| self.tools_of(&cli).iter()) {
            let name = self.text(tool.name);
            let key = name.to_ascii_lowercase();
            let max_distance = max_edit_distance(&unknown_key, &key);
            let distance = edit_distance(&unknown_key, &key, max_distance);
            similar.extend(distance.map(|distance| (distance, name)));
        }
        // The sort is stable, so ties stay in catalog order.
        similar.sort_by_key(|(distance, _)| *distance);
        similar.into_iter().map(|(_, name)| name).collect()
    }

    /// Completes a command line with the arguments of a call, by generated code.
    ///
    /// # Errors
    /// Everything that is wrong with the arguments, and `other_errors` after that.
    pub(crate) fn command_line<'a>(
        &self,
        (number, tool): (u32, &ToolRow),
        arguments: &'a Map<String, Value>,
        argv: Argv<'a>,
        other_errors: Vec<String>,
    ) -> Result<Argv<'a>, CallRefusal> {
        let (cli, number) = match &self.baked_numbers {
            None => (tool.cli, number),
            Some(baked_numbers) => (
                baked_numbers.clis[tool.cli as usize],
                baked_numbers.tools[number as usize],
            ),
        };
        let limits = ArgumentLimits {
            rows: self.tables.limits.rows().slice(tool.limits),
            text: &self.tables.text,
        };
        let write = |reader: &mut _, argv: &mut _| (self.catalog.call)(cli, number, reader, argv);
        read_call(
            self.tables,
            tool,
            limits,
            arguments,
            argv,
            other_errors,
            write,
        )
    }

    /// The JSON Schema of a tool's arguments.
    pub(crate) fn input_schema(&self, tool: &ToolRow) -> Map<String, Value> {
        let combinations: Vec<_> = self.tables.combinations_of(tool).collect();
        input_schema(&self.tables.arguments_of(tool), &combinations, tool.risk)
    }

    /// The tools of a CLI.
    pub(crate) fn tools_of(&self, cli: &CliRow) -> Rows<'static, ToolRow> {
        self.tools().slice(cli.tools)
    }

    /// The number of offered tools.
    pub(crate) fn tool_count(&self) -> u32 {
        self.clis().map(|cli| cli.tools.count).sum()
    }

    /// Resolves a piece of the tables' text.
    pub(crate) fn text(&self, piece: ByteRange) -> &'static str {
        piece.of(&self.tables.text)
    }
}

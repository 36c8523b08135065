//! What follows from the facts, as a binary holds it: one text, and numbers that refer to it. Numbers are
//! of four bytes, the lowest first, in plain bytes: the compiler reads them fastest so.

use std::collections::HashMap;

use climax_core::pieces::{json, quoted};
use climax_core::scalar::Kind;
use serde_json::Value;

use crate::complexity::{Complexity, complexity};
use crate::example::examples;
use crate::facts::{Argument, Facts, Place, Tool};
use crate::guidance::guidance;
use crate::relations::Relations;
use crate::tool_type::{ToolType, tool_type};

/// How many numbers a tool's row has: where its lists begin, its type and complexity, how long its first
/// sentence is, and how central it is.
const ROW: usize = 4;
/// How many lists a tool has.
const LISTS: usize = 7;

/// What follows for each tool.
#[derive(Default)]
pub struct Tables {
    /// JSON as it stands in a string of JSON, each piece once.
    pub text: String,
    /// A row for each tool.
    pub rows: Vec<u8>,
    /// The lists of all tools: each begins with the number of its entries.
    pub lists: Vec<u8>,
}

/// The same, baked or not.
#[derive(Clone, Copy)]
pub struct View<'t> {
    /// See [`Tables`].
    pub text: &'t str,
    /// See [`Tables`].
    pub rows: &'t [u8],
    /// See [`Tables`].
    pub lists: &'t [u8],
}

/// What follows for one tool.
pub struct Record<'t> {
    text: &'t str,
    /// Where its program comes from.
    pub tool_type: ToolType,
    /// How much there is to it.
    pub complexity: Complexity,
    /// How many bytes the first sentence of its description has, as it stands in a string of JSON.
    pub sentence: usize,
    /// How much it has in common with the others of its category.
    pub centrality: u32,
    lists: [&'t [[u8; 4]]; LISTS],
}

/// An argument of a tool.
#[derive(Clone, Copy)]
pub struct Parameter<'t> {
    /// Its name, as it stands in a string of JSON.
    pub name: &'t str,
    /// The type of its value.
    pub kind: Kind,
    /// Whether a call must have it.
    pub required: bool,
    /// Where its value goes.
    pub place: Place,
}

const KINDS: [Kind; 4] = [Kind::String, Kind::Integer, Kind::Number, Kind::Boolean];
const PLACES: [Place; 4] = [
    Place::Positional,
    Place::Flag,
    Place::Directory,
    Place::Stdin,
];

impl<'t> View<'t> {
    /// What follows for the tool that has a number.
    #[must_use]
    pub fn record(&self, tool: u32) -> Option<Record<'t>> {
        let (rows, _) = self.rows.as_chunks::<4>();
        let (mut lists, _) = self.lists.as_chunks::<4>();
        let row = rows.get(tool as usize * ROW..)?.first_chunk::<ROW>()?;
        let [start, bits, sentence, centrality] = row.map(u32::from_le_bytes);
        lists = lists.get(start as usize..)?;
        let mut record = Record {
            text: self.text,
            tool_type: *ToolType::ALL.get((bits & 3) as usize)?,
            complexity: *Complexity::ALL.get((bits >> 2) as usize)?,
            sentence: sentence as usize,
            centrality,
            lists: [&[]; LISTS],
        };
        for list in &mut record.lists {
            let (length, rest) = lists.split_first()?;
            (*list, lists) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        }
        Some(record)
    }
}

impl<'t> Record<'t> {
    /// Arguments of calls, each as JSON that stands in a string of JSON.
    pub fn examples(&self) -> impl Iterator<Item = &'t str> {
        self.pieces(0)
    }

    /// Sentences: what to do.
    pub fn best_practices(&self) -> impl Iterator<Item = &'t str> {
        self.pieces(1)
    }

    /// Sentences: what to watch for.
    pub fn common_pitfalls(&self) -> impl Iterator<Item = &'t str> {
        self.pieces(2)
    }

    /// Tools that could be used in its place.
    pub fn alternatives(&self) -> impl Iterator<Item = u32> {
        self.numbers(3)
    }

    /// Tools that do something else with the same thing.
    pub fn complementary(&self) -> impl Iterator<Item = u32> {
        self.numbers(4)
    }

    /// Tools that tell what it needs.
    pub fn prerequisites(&self) -> impl Iterator<Item = u32> {
        self.numbers(5)
    }

    /// Its arguments in definition order.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'t>> {
        let text = self.text;
        let (rows, _) = self.lists[6].as_chunks::<2>();
        rows.iter().filter_map(move |row| {
            let [start, rest] = row.map(u32::from_le_bytes);
            let length = (rest >> 5) as usize;
            Some(Parameter {
                name: text.get(start as usize..start as usize + length)?,
                kind: KINDS[(rest >> 1 & 3) as usize],
                required: rest & 1 == 1,
                place: PLACES[(rest >> 3 & 3) as usize],
            })
        })
    }

    fn pieces(&self, list: usize) -> impl Iterator<Item = &'t str> {
        let text = self.text;
        let (pieces, _) = self.lists[list].as_chunks::<2>();
        pieces.iter().filter_map(move |piece| {
            let [start, length] = piece.map(|number| u32::from_le_bytes(number) as usize);
            text.get(start..start + length)
        })
    }

    fn numbers(&self, list: usize) -> impl Iterator<Item = u32> {
        self.lists[list]
            .iter()
            .map(|number| u32::from_le_bytes(*number))
    }
}

/// Works out what follows from the facts.
#[must_use]
pub fn tables(facts: &Facts<'_>, relations: &[Relations], centrality: &[u32]) -> Tables {
    let mut builder = Builder::default();
    for ((tool, relations), centrality) in facts.tools.iter().zip(relations).zip(centrality) {
        builder.push_tool(facts, tool, relations, *centrality);
    }
    builder.tables
}

#[derive(Default)]
struct Builder {
    tables: Tables,
    /// Where each piece is that was pushed.
    pieces: HashMap<String, [u32; 2]>,
}

impl Builder {
    fn push_tool(
        &mut self,
        facts: &Facts<'_>,
        tool: &Tool<'_>,
        relations: &Relations,
        centrality: u32,
    ) {
        let tool_type = tool_type(facts.cli_of(tool).command, tool.command);
        let bits = tool_type as u32 | (complexity(tool) as u32) << 2;
        let sentence = inside(&json(first_sentence(tool.description))).len();
        let row = [
            number(self.tables.lists.len() / 4),
            bits,
            number(sentence),
            centrality,
        ];
        self.tables
            .rows
            .extend(row.into_iter().flat_map(u32::to_le_bytes));
        let examples = examples(tool).into_iter();
        let examples: Vec<String> = examples
            .map(|it| quoted(&Value::from(it).to_string()))
            .collect();
        self.push_pieces(&examples);
        let guidance = guidance(tool);
        for sentences in [guidance.best_practices, guidance.common_pitfalls] {
            let sentences: Vec<String> = sentences.iter().map(|it| quoted(&json(it))).collect();
            self.push_pieces(&sentences);
        }
        for tools in [
            &relations.alternatives,
            &relations.complementary,
            &relations.prerequisites,
        ] {
            self.push_list(tools);
        }
        let parameters: Vec<u32> = tool
            .arguments
            .iter()
            .flat_map(|it| self.parameter(it))
            .collect();
        self.push_list(&parameters);
    }

    fn parameter(&mut self, argument: &Argument<'_>) -> [u32; 2] {
        let name = inside(&json(argument.name));
        let [start, length] = self.piece(&name);
        let kind = KINDS.iter().position(|kind| *kind == argument.kind);
        let place = PLACES.iter().position(|place| *place == argument.place);
        let [kind, place] = [kind, place].map(|at| number(at.unwrap_or_default()));
        let required = u32::from(argument.required);
        [start, length << 5 | place << 3 | kind << 1 | required]
    }

    fn push_pieces(&mut self, texts: &[String]) {
        let pieces: Vec<u32> = texts.iter().flat_map(|text| self.piece(text)).collect();
        self.push_list(&pieces);
    }

    fn push_list(&mut self, numbers: &[u32]) {
        let all = [number(numbers.len())]
            .into_iter()
            .chain(numbers.iter().copied());
        self.tables.lists.extend(all.flat_map(u32::to_le_bytes));
    }

    fn piece(&mut self, text: &str) -> [u32; 2] {
        if let Some(piece) = self.pieces.get(text) {
            return *piece;
        }
        let piece = [number(self.tables.text.len()), number(text.len())];
        self.tables.text += text;
        self.pieces.insert(text.to_owned(), piece);
        piece
    }
}

/// A string of JSON without its quotes, as it stands in another string of JSON.
fn inside(string: &str) -> String {
    quoted(&string[1..string.len() - 1])
}

/// Up to the first full stop that ends a sentence, or to the end of the line.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |stop| &line[..=stop])
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("less than 4 GiB")
}

//! What was baked: texts, and rows of offsets into them.

pub(crate) mod derived;
pub(crate) mod narrow;
pub(crate) mod policies;
pub(crate) mod selection;

pub use climax_core::risk::Risk;
use climax_core::scalar::Number;
use climax_discovery::{rank, tables, trigrams};

use crate::call::arguments::Reader;
use crate::call::argv::Argv;

/// Everything that was baked into a binary.
pub struct Catalog {
    /// A digest of the configs.
    pub hash: &'static str,
    /// What answers are made of.
    pub text: &'static str,
    /// What is searched in: a folded line for each tool.
    pub haystack: &'static str,
    /// In which tools each word is.
    pub words: Words,
    /// The CLIs, in the order read.
    pub clis: &'static [Cli],
    /// The tools; those of a CLI are neighbours.
    pub tools: &'static [Tool],
    /// What policies allow as values, in the order of the tools.
    pub limits: &'static [Limit],
    /// The automata of patterns.
    pub automata: &'static [u8],
    /// How tools are found, and what follows from what is said about them.
    pub discovery: Discovery,
    /// Where and with what commands run, if a policy was baked.
    pub surroundings: Option<Surroundings>,
    /// The number of the tool that has a name.
    pub find: fn(&str) -> Option<u32>,
    /// Reads a call of a tool and writes its command line: the CLI's number, then the tool's.
    pub call: for<'a> fn(u32, u32, &mut Reader<'a>, &mut Argv<'a>),
}

impl Catalog {
    /// The limits of the tool that has a number.
    pub(crate) fn limits_of(&self, number: u32) -> &'static [Limit] {
        let first = self.limits.partition_point(|limit| limit.tool < number);
        let count = self.limits[first..].partition_point(|limit| limit.tool == number);
        &self.limits[first..first + count]
    }
}

/// The words of all lines of the haystack, and the tools that have them. Numbers are of four bytes,
/// the lowest first.
pub struct Words {
    /// Each word once, sorted, one a line.
    pub text: &'static str,
    /// Two numbers for each word, and for the end: where it begins in the text, and where its
    /// places begin.
    pub rows: &'static [u8],
    /// Where each word is, as [`climax_core::index`] tells.
    pub places: &'static [u8],
}

/// How tools are found, and what follows from what is said about them, as [`climax_discovery`] tells.
#[derive(Clone, Copy)]
pub struct Discovery {
    /// What answers are made of besides the catalog's text.
    pub text: &'static str,
    /// A row for each tool.
    pub rows: &'static [u8],
    /// Lists of each tool.
    pub lists: &'static [u8],
    /// The terms of the index.
    pub terms: &'static str,
    /// A row for each term.
    pub term_rows: &'static [u8],
    /// Which tools have a term, and how much it says about them.
    pub postings: &'static [u8],
    /// In which fields they have it, and how much of their names it makes up.
    pub posting_notes: &'static [u8],
    /// A row for each trigram.
    pub trigram_rows: &'static [u8],
    /// Which terms have it.
    pub trigram_words: &'static [u8],
    /// The impact of the rarest term.
    pub rarest: u32,
}

impl Discovery {
    /// What follows for each tool.
    pub(crate) fn records(&self) -> tables::View<'static> {
        tables::View {
            text: self.text,
            rows: self.rows,
            lists: self.lists,
        }
    }

    /// The index that ranks so many tools.
    pub(crate) fn ranking(&self, tools: usize) -> rank::View<'static> {
        rank::View {
            terms: self.terms,
            rows: self.term_rows.as_chunks().0,
            postings: self.postings.as_chunks().0,
            notes: self.posting_notes.as_chunks().0,
            trigrams: trigrams::View {
                rows: self.trigram_rows.as_chunks().0,
                words: self.trigram_words.as_chunks().0,
            },
            rarest: self.rarest,
            tools,
        }
    }
}

/// A part of a catalog's text: its first byte and its length.
#[derive(Clone, Copy)]
pub struct Piece(pub u32, pub u32);

impl Piece {
    /// The part itself.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        let start = self.0 as usize;
        text.get(start..start + self.1 as usize).unwrap_or_default()
    }

    /// The same part of bytes.
    pub(crate) fn of_bytes(self, bytes: &'static [u8]) -> &'static [u8] {
        let start = self.0 as usize;
        bytes
            .get(start..start + self.1 as usize)
            .unwrap_or_default()
    }
}

/// One config.
pub struct Cli {
    /// The file's name without its ending.
    pub stem: Piece,
    /// The config's name.
    pub name: Piece,
    /// The name as filters compare it.
    pub name_key: Piece,
    /// The category as filters compare it, or nothing.
    pub category_key: Piece,
    /// The base command as written.
    pub command: Piece,
    /// `NAME=value`, separated by NUL.
    pub env: Piece,
    /// Where commands run, or nothing.
    pub working_dir: Piece,
    /// The JSON of the summary up to the number of tools.
    pub summary_head: Piece,
    /// The JSON of the summary after it.
    pub summary_tail: Piece,
    /// The JSON of a search entry between the tool's head and its schema.
    pub entry_middle: Piece,
    /// The JSON of the category: text or `null`.
    pub category: Piece,
    /// The JSON of the tags: a list.
    pub tags: Piece,
    /// The JSON of the description: text.
    pub description: Piece,
    /// The first tool's number.
    pub first_tool: u32,
    /// How many tools follow it.
    pub tool_count: u32,
}

/// One tool.
pub struct Tool {
    /// Its CLI's number.
    pub cli: u32,
    /// Its name.
    pub name: Piece,
    /// JSON: its name, and `"description":` with its description.
    pub head: Piece,
    /// JSON: its input schema.
    pub schema: Piece,
    /// The words after the base command, separated by single spaces.
    pub command: Piece,
    /// Its line in the haystack; it begins with the name.
    pub haystack: Piece,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What a call may do, where the config says so.
    pub risk: Option<Risk>,
}

/// What a policy allows as value of an argument.
pub struct Limit {
    /// The tool's number.
    pub tool: u32,
    /// The argument's name.
    pub argument: Piece,
    /// The pattern as written, or nothing.
    pub pattern: Piece,
    /// Its automaton, or nothing.
    pub automaton: Piece,
    /// The least value.
    pub min: Option<Number>,
    /// The greatest value.
    pub max: Option<Number>,
    /// Whether all that the pattern matches begins with a dash, so that the value is meant to.
    pub begins_with_dash: bool,
}

/// Where and with what commands run.
#[derive(Clone, Copy)]
pub struct Surroundings {
    /// In which container, if in one.
    pub container: Option<Container>,
    /// Which variables they get.
    pub env: Env,
    /// The directories in one of which a call's own must be, or nothing.
    pub roots: &'static [&'static str],
}

/// A container for each call.
#[derive(Clone, Copy)]
pub struct Container {
    /// What it is made of.
    pub image: &'static str,
    /// What it sees of the machine.
    pub volumes: &'static [&'static str],
    /// The network that it is in.
    pub network: Option<&'static str>,
    /// Where in it commands run.
    pub working_dir: Option<&'static str>,
}

/// Which of the server's variables commands get.
#[derive(Clone, Copy)]
pub struct Env {
    /// Whether only those that most programs need.
    pub is_minimal: bool,
    /// And these.
    pub allow: &'static [&'static str],
    /// But not these.
    pub deny: &'static [&'static str],
}

//! What follows from the facts for each tool, as a binary holds it: its type and complexity, example calls,
//! related tools and sentences about it.

use std::borrow::Cow;
use std::collections::HashMap;

use climax_catalog::facts::{Facts, Tool};
use climax_catalog::rows::{Piece, RowRange, Rows, Scalar, Table, count};
use climax_core::scalar;

use crate::complexity::{Complexity, complexity};
use crate::example::examples;
use crate::guidance::guidance;
use crate::relations::Relations;
use crate::tool_type::{ToolType, tool_type};

climax_catalog::tables! {
    /// What follows for each tool.
    Notes {
        /// The text that rows refer to. Each part is there once.
        text: Cow<'static, str>,
        /// One for each tool.
        tools: Table<Note>,
        /// The examples of all tools.
        examples: Table<RowRange>,
        /// The arguments of all examples.
        values: Table<ExampleValue>,
        /// Lists of sentences.
        sentences: Table<Piece>,
        /// Lists of numbers of tools.
        related: Table<u32>,
    }
}

climax_catalog::row! {
    /// What follows for one tool.
    Note {
        /// Where its program comes from.
        tool_type: ToolType,
        /// How much there is to it.
        complexity: Complexity,
        /// How many bytes the first sentence of its description has.
        sentence: u32,
        /// How much it has in common with the others of its category.
        centrality: u32,
        /// Calls that it takes.
        examples: RowRange,
        /// Sentences: what to do.
        best_practices: RowRange,
        /// Sentences: what to watch for.
        common_pitfalls: RowRange,
        /// Tools that could be used in its place.
        alternatives: RowRange,
        /// Tools that do something else with the same thing.
        complementary: RowRange,
        /// Tools that tell what it needs.
        prerequisites: RowRange,
    }
}

climax_catalog::row! {
    /// An argument of an example.
    ExampleValue {
        /// Its number among the tool's arguments.
        argument: u32,
        /// Its value.
        value: Scalar,
    }
}

impl Notes {
    /// What follows for the tool that has a number.
    #[must_use]
    pub fn of(&self, tool: u32) -> Note {
        self.tools.rows().get(tool)
    }

    /// The example calls of a list: the numbers of arguments, and their values.
    pub fn examples(
        &self,
        list: RowRange,
    ) -> impl Iterator<Item = impl Iterator<Item = (u32, scalar::Scalar<'_>)>> {
        let examples = self.examples.rows().slice(list);
        examples.iter().map(|values| {
            let values = self.values.rows().slice(values);
            values
                .iter()
                .map(|it| (it.argument, it.value.of(&self.text)))
        })
    }

    /// The sentences of a list.
    pub fn sentences(&self, list: RowRange) -> impl Iterator<Item = &str> {
        let pieces = self.sentences.rows().slice(list);
        pieces.iter().map(|piece| piece.of(&self.text))
    }

    /// The numbers of the tools of a list.
    #[must_use]
    pub fn related(&self, list: RowRange) -> Rows<'_, u32> {
        self.related.rows().slice(list)
    }
}

/// Works out what follows from the facts.
#[must_use]
pub fn notes(facts: &Facts<'_>, relations: &[Relations], centrality: &[u32]) -> Notes {
    let mut builder = Builder::default();
    for ((tool, relations), centrality) in facts.tools.iter().zip(relations).zip(centrality) {
        builder.push_tool(facts, tool, relations, *centrality);
    }
    builder.notes
}

#[derive(Default)]
struct Builder {
    notes: Notes,
    /// Where each text is that was pushed.
    pieces: HashMap<String, Piece>,
}

impl Builder {
    fn push_tool(
        &mut self,
        facts: &Facts<'_>,
        tool: &Tool<'_>,
        relations: &Relations,
        centrality: u32,
    ) {
        let guidance = guidance(tool);
        let mut related = |tools: &[u32]| self.notes.related.extend(tools.iter().copied());
        let (alternatives, complementary, prerequisites) = (
            related(&relations.alternatives),
            related(&relations.complementary),
            related(&relations.prerequisites),
        );
        let note = Note {
            tool_type: tool_type(facts.cli_of(tool).command, tool.command),
            complexity: complexity(tool),
            sentence: count(first_sentence(tool.description).len()),
            centrality,
            examples: self.push_examples(tool),
            best_practices: self.push_sentences(&guidance.best_practices),
            common_pitfalls: self.push_sentences(&guidance.common_pitfalls),
            alternatives,
            complementary,
            prerequisites,
        };
        self.notes.tools.push(&note);
    }

    fn push_examples(&mut self, tool: &Tool<'_>) -> RowRange {
        let mut ranges = Vec::new();
        for example in examples(tool) {
            let row = |(argument, value): &(usize, scalar::Scalar<'_>)| ExampleValue {
                argument: count(*argument),
                value: Scalar::new(value, |text| self.piece(text)),
            };
            let rows: Vec<ExampleValue> = example.iter().map(row).collect();
            ranges.push(self.notes.values.extend(rows));
        }
        self.notes.examples.extend(ranges)
    }

    fn push_sentences(&mut self, sentences: &[String]) -> RowRange {
        let pieces: Vec<Piece> = sentences.iter().map(|text| self.piece(text)).collect();
        self.notes.sentences.extend(pieces)
    }

    fn piece(&mut self, part: &str) -> Piece {
        if let Some(piece) = self.pieces.get(part) {
            return *piece;
        }
        let text = self.notes.text.to_mut();
        let piece = Piece(count(text.len()), count(part.len()));
        text.extend([part, "\n"]);
        self.pieces.insert(part.to_owned(), piece);
        piece
    }
}

/// Up to the first full stop that ends a sentence, or to the end of the line.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |stop| &line[..=stop])
}

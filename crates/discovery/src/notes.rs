//! Turns facts and relations into notes: tables with the type, complexity, examples, guidance and related
//! tools of each tool.

use std::borrow::Cow;
use std::collections::HashMap;

use climax_catalog::facts::{ExampleValue, Facts, ToolFacts};
use climax_catalog::rows::{ByteRange, RowRange, Rows, Table, to_u32};
use climax_catalog::tables::ExampleValueRow;

use crate::complexity::{Complexity, complexity};
use crate::example::examples;
use crate::guidance::guidance;
use crate::relations::Relations;
use crate::tool_type::{ToolType, tool_type};

climax_catalog::tables! {
    /// Derived information about all tools.
    Notes {
        /// The text that rows refer to, without duplicates.
        text: Cow<'static, str>,
        /// One note per tool.
        tools: Table<Note>,
        /// The example calls of all tools: ranges of `values`.
        examples: Table<RowRange>,
        /// The argument values of all example calls.
        values: Table<ExampleValueRow>,
        /// The sentences of all best practices and pitfalls.
        sentences: Table<ByteRange>,
        /// The tool numbers of all lists of related tools.
        related: Table<u32>,
    }
}

climax_catalog::row! {
    /// Derived information about one tool.
    Note {
        /// The origin of its program.
        tool_type: ToolType,
        /// How complex a call is.
        complexity: Complexity,
        /// The length of the first sentence of its description in bytes.
        first_sentence_length: u32,
        /// Its mean similarity to all tools of its category, in thousandths.
        centrality: u32,
        /// Its example calls.
        examples: RowRange,
        /// Sentences about how to call it.
        best_practices: RowRange,
        /// Sentences about what can go wrong.
        common_pitfalls: RowRange,
        /// Tools that could be used instead.
        alternatives: RowRange,
        /// Tools with a different verb for the same object.
        complementary: RowRange,
        /// Tools that list possible values of its arguments.
        prerequisites: RowRange,
    }
}

impl Notes {
    /// The note of a tool, by its number.
    #[must_use]
    pub fn of(&self, tool: u32) -> Note {
        self.tools.rows().get(tool)
    }

    /// The example calls of a list.
    pub fn examples(
        &self,
        list: RowRange,
    ) -> impl Iterator<Item = impl Iterator<Item = ExampleValue<'_>>> {
        let examples = self.examples.rows().slice(list);
        examples.iter().map(|values| {
            let values = self.values.rows().slice(values);
            values.iter().map(|row| row.of(&self.text))
        })
    }

    /// The sentences of a list.
    pub fn sentences(&self, list: RowRange) -> impl Iterator<Item = &str> {
        let pieces = self.sentences.rows().slice(list);
        pieces.iter().map(|piece| piece.of(&self.text))
    }

    /// The tool numbers of a list.
    #[must_use]
    pub fn related(&self, list: RowRange) -> Rows<'_, u32> {
        self.related.rows().slice(list)
    }
}

/// Makes the notes of all tools.
#[must_use]
pub fn notes(facts: &Facts<'_>, relations: &[Relations], centrality: &[u32]) -> Notes {
    let mut builder = NotesBuilder::default();
    for ((tool, relations), centrality) in facts.tools.iter().zip(relations).zip(centrality) {
        builder.push_tool(facts, tool, relations, *centrality);
    }
    builder.notes
}

#[derive(Default)]
struct NotesBuilder {
    notes: Notes,
    /// The position in `notes.text` of each text that was added.
    pieces: HashMap<String, ByteRange>,
}

impl NotesBuilder {
    fn push_tool(
        &mut self,
        facts: &Facts<'_>,
        tool: &ToolFacts<'_>,
        relations: &Relations,
        centrality: u32,
    ) {
        let guidance = guidance(tool);
        let mut push_related = |tools: &[u32]| self.notes.related.extend(tools.iter().copied());
        let (alternatives, complementary, prerequisites) = (
            push_related(&relations.alternatives),
            push_related(&relations.complementary),
            push_related(&relations.prerequisites),
        );
        let note = Note {
            tool_type: tool_type(facts.cli_of(tool).command, tool.command),
            complexity: complexity(tool),
            first_sentence_length: to_u32(first_sentence(tool.description).len()),
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

    fn push_examples(&mut self, tool: &ToolFacts<'_>) -> RowRange {
        let mut ranges = Vec::new();
        for example in examples(tool) {
            let row = |value| ExampleValueRow::new(value, |text| self.intern(text));
            let rows: Vec<ExampleValueRow> = example.iter().map(row).collect();
            ranges.push(self.notes.values.extend(rows));
        }
        self.notes.examples.extend(ranges)
    }

    fn push_sentences(&mut self, sentences: &[String]) -> RowRange {
        let pieces: Vec<ByteRange> = sentences.iter().map(|text| self.intern(text)).collect();
        self.notes.sentences.extend(pieces)
    }

    /// Returns the position of a text. Adds it if it is new.
    fn intern(&mut self, part: &str) -> ByteRange {
        if let Some(piece) = self.pieces.get(part) {
            return *piece;
        }
        let text = self.notes.text.to_mut();
        let piece = ByteRange(to_u32(text.len()), to_u32(part.len()));
        text.extend([part, "\n"]);
        self.pieces.insert(part.to_owned(), piece);
        piece
    }
}

/// The first line up to the first full stop that ends a sentence.
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let mut full_stops = line.match_indices(". ").map(|(position, _)| position);
    let end =
        full_stops.find(|end| !line[..*end].ends_with("e.g") && !line[..*end].ends_with("i.e"));
    end.map_or(line, |end| &line[..=end])
}

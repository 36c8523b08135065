//! Explains a ranked match: which words of the query a tool has, and in which field.

use climax_catalog::tables::ToolRow;
use climax_discovery::index::Field;
use climax_discovery::query::{MatchKind, QueryWord};
use climax_discovery::tokens::{TermStemmer, for_each_word};
use memchr::memmem;

use super::ranked::RankedMatch;
use crate::catalog::selection::Selection;

/// The maximum number of match reasons. More of them add nothing for the reader.
const MAX_REASONS: usize = 6;

/// Which terms of the query the tool matches, and in which field.
pub(crate) fn match_reasons(
    selection: &Selection,
    query_words: &[QueryWord],
    found: &RankedMatch,
) -> Vec<String> {
    let index = selection
        .discovery()
        .index
        .term_index(selection.tools().len());
    let mut reasons = Vec::new();
    if found.is_exact_name {
        reasons.push("the query is its name".to_owned());
    }
    for query_word in query_words {
        if reasons.len() >= MAX_REASONS {
            break;
        }
        let mut matches = query_word.terms.iter().filter_map(|query_term| {
            let field_mask = index.field_mask(query_term.row, found.number);
            (field_mask != 0).then_some((query_term, field_mask))
        });
        let Some((query_term, field_mask)) = matches.next() else {
            continue;
        };
        let term = index.term(query_term.row);
        let word = &query_word.text;
        if query_term.match_kind == MatchKind::Meaning {
            let own = word_for_term(selection, &found.tool, word, term);
            let own = own.as_deref().unwrap_or(term);
            reasons.push(format!("'{word}' is close to '{own}'"));
        } else if let Some(field) = field_phrase(selection, &found.tool, field_mask, term) {
            let word = word_phrase(selection, &found.tool, word, query_term.match_kind, term);
            // Avoids "argument 'path' has 'path'".
            reasons.push(match field.strip_suffix(" has") {
                Some(argument) if argument.ends_with(&word) => argument.to_owned(),
                _ => format!("{field} {word}"),
            });
        }
    }
    // A tool with score 0 is listed for its parameters alone.
    if reasons.is_empty() && found.score > 0.0 {
        reasons.push("it is close to the query as a whole".to_owned());
    }
    reasons
}

/// Describes the most significant field of a tool that has a term. `field_mask` are the fields that have it.
fn field_phrase(
    selection: &Selection,
    tool: &ToolRow,
    field_mask: u16,
    term: &str,
) -> Option<String> {
    const BY_SIGNIFICANCE: [(Field, &str); 9] = [
        (Field::Name, "name has"),
        (Field::Cli, "CLI is"),
        (Field::Description, "description has"),
        (
            Field::ArgumentDescription,
            "the description of an argument has",
        ),
        (Field::Keyword, "keywords have"),
        (Field::Request, "an example has"),
        (Field::Tag, "tag has"),
        (Field::Category, "category has"),
        (Field::CliDescription, "the CLI's description has"),
    ];
    if Field::Argument.is_in(field_mask) && !Field::Name.is_in(field_mask) {
        let has_term = |name: &str| {
            let mut has_term = false;
            for_each_word(name, &mut |word| has_term |= is_form_of(word, term));
            has_term
        };
        let arguments = selection.tables.arguments.rows().slice(tool.arguments);
        let mut names = arguments
            .iter()
            .map(|argument| selection.text(argument.name));
        if let Some(name) = names.find(|name| has_term(name)) {
            return Some(format!("argument '{name}' has"));
        }
    }
    let mut phrases = BY_SIGNIFICANCE.iter();
    let phrase = phrases.find(|(field, _)| field.is_in(field_mask));
    phrase.map(|(_, phrase)| (*phrase).to_owned())
}

/// Quotes the tool's form of a term, and the query's word if it was a typo.
fn word_phrase(
    selection: &Selection,
    tool: &ToolRow,
    word: &str,
    match_kind: MatchKind,
    term: &str,
) -> String {
    let has_word = |text: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if match_kind == MatchKind::Exact && tool_texts(selection, tool).into_iter().any(has_word) {
        return format!("'{word}'");
    }
    let own = word_for_term(selection, tool, word, term);
    match (match_kind, own) {
        (MatchKind::Correction, Some(own)) => format!("'{own}' (for '{word}')"),
        (MatchKind::Correction, None) => format!("a word like '{word}'"),
        (_, own) => format!("'{}'", own.as_deref().unwrap_or(word)),
    }
}

/// Finds a word in a tool's texts whose stem is the term. Prefers the query's word.
pub(crate) fn word_for_term(
    selection: &Selection,
    tool: &ToolRow,
    query_word: &str,
    term: &str,
) -> Option<String> {
    let mut texts = tool_texts(selection, tool);
    texts.push(selection.text(selection.cli_of(tool).description));
    texts.into_iter().find_map(|text| {
        let mut found: Option<String> = None;
        for_each_word(text, &mut |word| {
            let is_better = found.is_none() || word == query_word;
            if is_better && is_form_of(word, term) {
                found = Some(word.to_owned());
            }
        });
        found
    })
}

/// The tool's line in the search text, and the names and descriptions of its arguments.
fn tool_texts(selection: &Selection, tool: &ToolRow) -> Vec<&'static str> {
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let arguments = arguments
        .iter()
        .flat_map(|argument| [argument.name, argument.description]);
    let line = tool.haystack.of(&selection.tables.haystack);
    let texts = arguments.map(|piece| selection.text(piece));
    [line].into_iter().chain(texts).collect()
}

/// Whether the stem of the word is the term.
fn is_form_of(word: &str, term: &str) -> bool {
    // Stemming keeps the first letter. Comparing it first avoids stemming most words.
    let has_same_start = word.as_bytes().first() == term.as_bytes().first();
    has_same_start && TermStemmer::default().stem(word) == term
}

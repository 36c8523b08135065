//! Turns a query into weighted words, and each word into the terms of the index that it matches.

use crate::index::inverse_document_frequency;
use crate::meaning::{MeaningIndex, Neighbour};
use crate::quotations::weighted_parts;
use crate::term_index::TermIndex;
use crate::tokens::{TermStemmer, for_each_word};
use crate::trigrams::{edit_distance, is_fuzzy_matchable};

/// The weight of a correction at edit distance 1.
const DISTANCE_1_WEIGHT: f64 = 0.7;
/// The weight of a correction at edit distance 1 of a word whose term has fewer than six letters.
const DISTANCE_1_SHORT_WORD_WEIGHT: f64 = 0.3;
/// The weight of a correction at edit distance 2.
const DISTANCE_2_WEIGHT: f64 = 0.35;
/// The maximum number of corrections per query word.
const MAX_CORRECTIONS: usize = 3;
/// The weight of a neighbour, relative to its closeness. It is at most that of the word's own term.
const NEIGHBOUR_WEIGHT: f64 = 2.2;
/// The share of that weight that counts if the index has the word itself: synonyms then say less.
const KNOWN_WORD_NEIGHBOUR_SHARE: f64 = 0.8;
/// The relative length that is assumed for a word without a vector.
const UNKNOWN_RELATIVE_LENGTH: f64 = 1.2;
/// The weight of a word that no tool has, relative to one that a single tool has, if meaning counts.
const UNKNOWN_TERM_SHARE: f64 = 0.8;

/// How a query word matches a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// The term is the word's own, that is, its stem.
    Exact,
    /// The index does not have the word's own term, and the term is a spelling correction.
    Correction,
    /// The term is close in meaning.
    Meaning,
}

/// A term of the index that a query word matches.
#[derive(Clone, Copy, Debug)]
pub struct QueryTerm {
    /// The term's row.
    pub row: usize,
    /// How the word matches it.
    pub match_kind: MatchKind,
    /// How well the word matches it; 1 for its own term.
    pub(crate) weight: f64,
}

/// A word of a query that is not a stop word. Words with the same term are one.
#[derive(Clone, Debug)]
pub struct QueryWord {
    /// The folded word.
    pub text: String,
    /// The terms that it matches: its own first, or corrections; then neighbours, the closest first.
    pub terms: Vec<QueryTerm>,
    /// How much the word counts.
    pub(crate) weight: f64,
    /// The weight of the part of the query that it is in.
    pub(crate) part_weight: f64,
}

impl QueryWord {
    /// Whether the index has its own term or a correction.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| term.match_kind != MatchKind::Meaning)
    }
}

/// Splits a query into words. With `meaning`, words also match terms that are close in meaning.
pub(crate) fn query_words(
    index: &TermIndex<'_>,
    meaning: Option<&MeaningIndex<'_>>,
    query: &str,
) -> Vec<QueryWord> {
    let mut trigram_counts = Vec::new();
    let words = stemmed_words(query).into_iter();
    let words = words.map(|word| query_word(index, meaning, &word, &mut trigram_counts));
    words.collect()
}

/// A query word and its own term.
struct StemmedWord {
    text: String,
    term: String,
    part_weight: f64,
}

/// The words of a query without stop words.
fn stemmed_words(query: &str) -> Vec<StemmedWord> {
    let stemmer = TermStemmer::default();
    let mut words: Vec<StemmedWord> = Vec::new();
    for (text, part_weight) in weighted_parts(query) {
        for_each_word(text, &mut |word| {
            let Some(term) = stemmer.term(word) else {
                return;
            };
            match words.iter_mut().find(|other| other.term == term) {
                Some(existing) => existing.part_weight = existing.part_weight.max(part_weight),
                None => words.push(StemmedWord {
                    text: word.to_owned(),
                    term: term.into_owned(),
                    part_weight,
                }),
            }
        });
    }
    words
}

/// `trigram_counts` is reused from word to word.
fn query_word(
    index: &TermIndex<'_>,
    meaning: Option<&MeaningIndex<'_>>,
    word: &StemmedWord,
    trigram_counts: &mut Vec<u8>,
) -> QueryWord {
    let own_row = index.find(&word.term);
    let word_meaning = meaning.and_then(|meaning| meaning.word(&word.term));
    let mut terms = Vec::new();
    terms.extend(own_row.map(|row| QueryTerm {
        row,
        match_kind: MatchKind::Exact,
        weight: 1.0,
    }));
    // A word with a vector is not a typo.
    if own_row.is_none() && word_meaning.is_none() && is_fuzzy_matchable(&word.term) {
        terms = corrections(index, &word.term, trigram_counts);
    }
    if let (Some(meaning), Some(known)) = (meaning, word_meaning) {
        let neighbours = meaning.neighbours(known.number).into_iter();
        let share = own_row.map_or(1.0, |_| KNOWN_WORD_NEIGHBOUR_SHARE);
        terms.extend(neighbours.map(|neighbour: Neighbour| QueryTerm {
            row: neighbour.row,
            match_kind: MatchKind::Meaning,
            weight: share * (NEIGHBOUR_WEIGHT * neighbour.closeness()).min(1.0),
        }));
    }
    let idf = own_row.map_or_else(
        || unknown_idf(index),
        |row| index.inverse_document_frequency(row),
    );
    let mut weight = word.part_weight * idf;
    if meaning.is_some() {
        let relative_length = word_meaning.map(|known| known.relative_length);
        weight *= libm::cbrt(relative_length.unwrap_or(UNKNOWN_RELATIVE_LENGTH));
        if own_row.is_none() {
            weight *= UNKNOWN_TERM_SHARE;
        }
    }
    QueryWord {
        text: word.text.clone(),
        terms,
        weight,
        part_weight: word.part_weight,
    }
}

/// The inverse document frequency of a term that no tool has: that of a term that one tool has.
fn unknown_idf(index: &TermIndex<'_>) -> f64 {
    inverse_document_frequency(index.tools, 1)
}

/// The terms with the smallest edit distance to a term that is not in the index.
fn corrections(index: &TermIndex<'_>, term: &str, trigram_counts: &mut Vec<u8>) -> Vec<QueryTerm> {
    let max_distance: u8 = if term.len() >= 8 { 2 } else { 1 };
    // Each edit changes up to three trigrams.
    let min_common = term
        .len()
        .saturating_sub(3 * usize::from(max_distance))
        .max(1);
    let mut candidates = Vec::new();
    trigram_counts.resize(index.len(), 0);
    index
        .trigrams
        .for_each_candidate(term, trigram_counts, |row, common| {
            if common >= min_common {
                candidates.push(row);
            }
        });
    // A transposition in a short word can leave no common trigram, so terms with the same first letter are
    // candidates, too.
    let first_letter = &term[..1];
    let same_first_letter =
        index.lower_bound(first_letter)..index.lower_bound(&format!("{first_letter}{}", char::MAX));
    let mut corrections: Vec<_> = candidates
        .into_iter()
        .chain(same_first_letter)
        .filter_map(|row| {
            // Comparing lengths first rules out most candidates.
            if index.term_length(row).abs_diff(term.len()) > usize::from(max_distance) {
                return None;
            }
            let candidate = index.term(row);
            let distance = edit_distance(term, candidate, max_distance)?;
            let has_only_letters = candidate.bytes().all(|byte| byte.is_ascii_lowercase());
            let is_word = candidate.len() >= 3 && has_only_letters;
            let has_different_first_letter = !candidate.starts_with(first_letter);
            // Ascending order puts frequent terms first.
            let rarity = usize::MAX - index.word_count(row);
            is_word.then_some((distance, has_different_first_letter, rarity, row))
        })
        .collect();
    corrections.sort_unstable();
    corrections.dedup();
    let min_distance = corrections.first().map_or(0, |best| best.0);
    let closest = corrections
        .iter()
        .filter(|correction| correction.0 == min_distance);
    let closest = closest.take(MAX_CORRECTIONS).map(|(distance, _, _, row)| {
        let weight = match (distance, term.len()) {
            (..=1, 6..) => DISTANCE_1_WEIGHT,
            (..=1, _) => DISTANCE_1_SHORT_WORD_WEIGHT,
            _ => DISTANCE_2_WEIGHT,
        };
        // A correction counts as much as it says, and not as much as the unknown word would.
        let idf_share = index.inverse_document_frequency(*row) / unknown_idf(index);
        QueryTerm {
            row: *row,
            match_kind: MatchKind::Correction,
            weight: weight * idf_share,
        }
    });
    closest.collect()
}

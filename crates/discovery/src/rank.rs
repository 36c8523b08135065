//! Turns a query into the best matching tools.

use std::ops::Range;

use crate::index::{
    IMPACT_BITS, MAX_IMPACT, MAX_NAME_SHARE, inverse_document_frequency, round_to_u32,
};
use crate::quotations::weighted_parts;
use crate::tokens::{TermStemmer, for_each_word};
use crate::trigrams::{TrigramIndex, dice_coefficient, edit_distance, is_fuzzy_matchable};

/// Which terms of the index a query word matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingMode {
    /// The word's own term (its stem), or spelling corrections if the index does not have that term.
    Keyword,
    /// Like `Keyword`, plus similarly spelled terms.
    Hybrid,
    /// Like `Hybrid`, but with more terms, a lower minimum similarity and a higher weight.
    Semantic,
}

impl RankingMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Semantic, Self::Hybrid, Self::Keyword];

    /// The name in requests and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
        }
    }

    /// How the query is expanded with similarly spelled terms.
    fn expansion(self) -> Option<QueryExpansion> {
        let (min_similarity, weight, max_terms) = match self {
            Self::Keyword => return None,
            Self::Hybrid => (0.55, 0.4, 5),
            Self::Semantic => (0.5, 0.7, 8),
        };
        Some(QueryExpansion {
            min_similarity,
            weight,
            max_terms,
        })
    }
}

/// How a query is expanded with similarly spelled terms.
#[derive(Clone, Copy)]
struct QueryExpansion {
    /// The minimum Dice coefficient.
    min_similarity: f64,
    /// The weight of a term with Dice coefficient 1.
    weight: f64,
    /// The maximum number of terms per query word.
    max_terms: usize,
}

/// The weight of a correction at edit distance 1.
const DISTANCE_1_WEIGHT: f64 = 0.7;
/// The weight of a correction at edit distance 1 of a word whose term has fewer than six letters.
const DISTANCE_1_SHORT_WORD_WEIGHT: f64 = 0.3;
/// The weight of a correction at edit distance 2.
const DISTANCE_2_WEIGHT: f64 = 0.35;
/// The maximum number of corrections per query word.
const MAX_CORRECTIONS: usize = 3;
/// How much the score of a tool grows if its whole name is in the query, and again if its CLI's name is.
const NAME_BOOST: f64 = 0.1;
/// Up to this limit, hits are kept sorted while they are collected. Beyond it, all are sorted at the end.
const MAX_SORTED_HITS: usize = 64;
/// How many hits are useful if they have [`MIN_USEFUL_SHARE`] of the best hit's score. Further ones are useful
/// if they have [`MIN_FURTHER_SHARE`] of it. docs/discovery.md shows what this rule costs and saves.
const FIRST_USEFUL_HITS: usize = 5;
const MIN_USEFUL_SHARE: f64 = 0.3;
const MIN_FURTHER_SHARE: f64 = 0.6;
/// The weight of the part of the query that a tool does not match, when its relevance is estimated.
const UNMATCHED_WEIGHT: f64 = 0.3;
/// Weights are fixed-point numbers while scores are added up: this integer represents 1.
const WEIGHT_SCALE: f64 = 256.0;

/// An index that can be searched: borrows the tables of [`crate::index::Index`].
#[derive(Clone, Copy)]
pub struct TermIndex<'i> {
    /// See [`crate::index::Index`].
    pub terms: &'i str,
    /// See [`crate::index::Index`].
    pub rows: &'i [[u8; 8]],
    /// See [`crate::index::Index`].
    pub postings: &'i [[u8; 4]],
    /// See [`crate::index::Index`].
    pub payloads: &'i [[u8; 2]],
    /// See [`crate::index::Index`].
    pub trigrams: TrigramIndex<'i>,
    /// See [`crate::index::Index`].
    pub unknown_term_impact: u32,
    /// The number of tools in the catalog.
    pub tools: usize,
}

/// How a query word matches a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// The term is the word's own, that is, its stem.
    Exact,
    /// The index does not have the word's own term, and the term is a spelling correction.
    Correction,
    /// The term is spelled similarly.
    Similar,
}

/// A query word and its own term.
struct StemmedWord {
    word: String,
    term: String,
    /// The term's row, if the index has it.
    row: Option<usize>,
    weight: f64,
}

/// A term of the index that a query looks up.
#[derive(Clone, Debug)]
pub struct QueryTerm {
    /// The query word that matches it.
    pub word: String,
    /// The term's row.
    pub row: usize,
    /// The factor by which its impacts are multiplied.
    weight: f64,
    /// How the word matches it.
    pub match_kind: MatchKind,
}

/// A word of a query that is not a stop word.
#[derive(Clone, Debug)]
pub struct QueryWord {
    /// The folded word.
    pub text: String,
    /// Whether the index has its own term or a correction.
    pub is_known: bool,
    /// The rows of all terms that it matches.
    pub rows: Vec<usize>,
}

/// A tool that matches a query.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// The tool's number in the catalog.
    pub tool: u32,
    /// Its score. Only scores for the same query are comparable.
    pub score: f64,
}

/// The result of a query.
pub struct Ranking {
    /// The best hits, the best first; equal ones in catalog order.
    pub best: Vec<Hit>,
    /// All hits, in catalog order.
    pub all: Vec<Hit>,
    /// The terms that were looked up.
    pub terms: Vec<QueryTerm>,
    /// The words of the query without stop words.
    pub words: Vec<QueryWord>,
    /// The hits whose whole name is in the query.
    pub named: Vec<u32>,
    /// The score of a tool that matches every word as well as possible.
    max_score: f64,
}

impl<'i> TermIndex<'i> {
    /// Ranks the offered tools by their score for a query.
    #[must_use]
    pub fn rank(
        &self,
        query: &str,
        mode: RankingMode,
        limit: usize,
        is_offered: impl Fn(u32) -> bool,
    ) -> Ranking {
        let mut ranked = Ranking {
            best: Vec::new(),
            all: Vec::new(),
            terms: Vec::new(),
            words: Vec::new(),
            named: Vec::new(),
            max_score: 0.0,
        };
        self.collect_terms(query, mode, &mut ranked);
        // For each tool: its score, and the share of its names that is in the query.
        let mut accumulators: Vec<[u32; 2]> = vec![[0; 2]; self.tools];
        for term in &ranked.terms {
            let weight = round_to_u32(term.weight * WEIGHT_SCALE);
            for (tool, impact, [_, posting_name_share]) in self.postings(term.row) {
                if let Some([score, name_share]) = accumulators.get_mut(tool as usize) {
                    *score += weight * impact;
                    *name_share += weight * u32::from(posting_name_share);
                }
            }
        }
        let boost_per_share = NAME_BOOST * 2.0 / (MAX_NAME_SHARE * WEIGHT_SCALE);
        for (tool, [score, name_share]) in (0..).zip(accumulators) {
            if score == 0 || !is_offered(tool) {
                continue;
            }
            // A tool's whole name makes up half of the share. 0.49 allows for rounding.
            if f64::from(name_share) >= 0.49 * MAX_NAME_SHARE * WEIGHT_SCALE {
                ranked.named.push(tool);
            }
            let boost = 1.0 + boost_per_share * f64::from(name_share);
            let score = f64::from(score) * boost / WEIGHT_SCALE;
            let hit = Hit { tool, score };
            ranked.all.push(hit);
            ranked.insert(hit, limit);
        }
        if limit > MAX_SORTED_HITS {
            ranked
                .best
                .sort_by(|one, other| other.score.total_cmp(&one.score));
            ranked.best.truncate(limit);
        }
        ranked
    }

    /// Collects the terms that a query looks up.
    fn collect_terms(&self, query: &str, mode: RankingMode, ranked: &mut Ranking) {
        let mut trigram_counts = Vec::new();
        for word in self.stemmed_words(query) {
            ranked.words.push(QueryWord {
                text: word.word.clone(),
                is_known: false,
                rows: Vec::new(),
            });
            match word.row {
                Some(row) => {
                    let impacts = self.postings(row).map(|(_, impact, _)| impact);
                    ranked.max_score += word.weight * f64::from(impacts.max().unwrap_or(0));
                    ranked.add_term(&word.word, row, word.weight, MatchKind::Exact);
                }
                None => ranked.max_score += word.weight * f64::from(self.unknown_term_impact),
            }
            let is_unknown = word.row.is_none();
            let expansion = mode.expansion();
            if (is_unknown || expansion.is_some()) && is_fuzzy_matchable(&word.term) {
                trigram_counts.resize(self.rows.len(), 0);
                let min_common = min_common_trigrams(word.term.len(), is_unknown, expansion);
                let mut candidates = Vec::new();
                self.trigrams
                    .for_each_candidate(&word.term, &mut trigram_counts, |row, common| {
                        if common >= min_common {
                            candidates.push((row, common));
                        }
                    });
                if is_unknown {
                    self.add_corrections(&word, &candidates, ranked);
                }
                if let Some(expansion) = expansion {
                    self.add_similar_terms(&word, &candidates, expansion, ranked);
                }
            }
        }
    }

    /// The words of a query without stop words. Words with the same term are merged.
    fn stemmed_words(&self, query: &str) -> Vec<StemmedWord> {
        let stemmer = TermStemmer::default();
        let mut stemmed_words: Vec<StemmedWord> = Vec::new();
        for (text, weight) in weighted_parts(query) {
            for_each_word(text, |word| {
                let Some(term) = stemmer.term(word) else {
                    return;
                };
                match stemmed_words.iter_mut().find(|other| other.term == term) {
                    Some(existing) => existing.weight = existing.weight.max(weight),
                    None => stemmed_words.push(StemmedWord {
                        row: self.find(&term),
                        term: term.into_owned(),
                        word: word.to_owned(),
                        weight,
                    }),
                }
            });
        }
        stemmed_words
    }

    /// Adds the terms with the smallest edit distance to a word whose own term is not in the index. A candidate
    /// is a row and the number of trigrams that its term has in common with the word's.
    fn add_corrections(
        &self,
        word: &StemmedWord,
        candidates: &[(usize, usize)],
        ranked: &mut Ranking,
    ) {
        let term = word.term.as_str();
        let max_distance: u8 = if term.len() >= 8 { 2 } else { 1 };
        // A transposition in a short word can leave no common trigram, so terms with the same first letter are
        // candidates, too.
        let first_letter = &term[..1];
        let same_first_letter = self.lower_bound(first_letter)
            ..self.lower_bound(&format!("{first_letter}{}", char::MAX));
        let rows = candidates.iter().map(|(row, _)| *row);
        let mut corrections: Vec<_> = rows
            .chain(same_first_letter)
            .filter_map(|row| {
                // Comparing lengths first rules out most candidates.
                if self.term_length(row).abs_diff(term.len()) > usize::from(max_distance) {
                    return None;
                }
                let candidate = self.term(row);
                let distance = edit_distance(term, candidate, max_distance)?;
                let has_only_letters = candidate.bytes().all(|byte| byte.is_ascii_lowercase());
                let is_word = candidate.len() >= 3 && has_only_letters;
                let has_different_first_letter = !candidate.starts_with(first_letter);
                // Ascending order puts frequent terms first.
                let rarity = usize::MAX - self.postings(row).len();
                is_word.then_some((distance, has_different_first_letter, rarity, row))
            })
            .collect();
        corrections.sort_unstable();
        corrections.dedup();
        let min_distance = corrections.first().map_or(0, |best| best.0);
        let closest = corrections
            .iter()
            .filter(|correction| correction.0 == min_distance);
        for (distance, _, _, row) in closest.take(MAX_CORRECTIONS) {
            let factor = match (distance, term.len()) {
                (..=1, 6..) => DISTANCE_1_WEIGHT,
                (..=1, _) => DISTANCE_1_SHORT_WORD_WEIGHT,
                _ => DISTANCE_2_WEIGHT,
            };
            ranked.add_term(
                &word.word,
                *row,
                word.weight * factor,
                MatchKind::Correction,
            );
        }
    }

    /// Adds the terms that are spelled most similarly to a word. A candidate is a row and the number of trigrams
    /// that its term has in common with the word's.
    fn add_similar_terms(
        &self,
        word: &StemmedWord,
        candidates: &[(usize, usize)],
        expansion: QueryExpansion,
        ranked: &mut Ranking,
    ) {
        let others = candidates.iter().filter(|(row, _)| Some(*row) != word.row);
        let mut similar: Vec<(f64, usize)> = others
            .map(|(row, common)| {
                let similarity = dice_coefficient(&word.term, self.term(*row), *common);
                (similarity, *row)
            })
            .filter(|(similarity, _)| *similarity >= expansion.min_similarity)
            .collect();
        similar.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        for (similarity, row) in similar.into_iter().take(expansion.max_terms) {
            let mut weight = word.weight * expansion.weight * similarity * similarity;
            // Rarer terms have a larger impact. Compensate for it, so that the word's own term counts most.
            if let Some(own_row) = word.row {
                let [own_idf, idf] = [own_row, row]
                    .map(|row| inverse_document_frequency(self.tools, self.postings(row).len()));
                weight *= (own_idf / idf).min(1.0);
            }
            ranked.add_term(&word.word, row, weight, MatchKind::Similar);
        }
    }

    /// The row of a term.
    fn find(&self, term: &str) -> Option<usize> {
        let row = self.lower_bound(term);
        (row + 1 < self.rows.len() && self.term(row) == term).then_some(row)
    }

    /// The first row whose term is not less than a text.
    fn lower_bound(&self, text: &str) -> usize {
        let (mut start, mut end) = (0, self.rows.len().saturating_sub(1));
        while start < end {
            let middle = usize::midpoint(start, end);
            if self.term(middle) < text {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// The term of a row.
    #[must_use]
    pub fn term(&self, row: usize) -> &'i str {
        &self.terms[self.term_start(row)..self.term_start(row + 1)]
    }

    /// The length of a row's term in bytes.
    fn term_length(&self, row: usize) -> usize {
        self.term_start(row + 1) - self.term_start(row)
    }

    fn term_start(&self, row: usize) -> usize {
        number_at(self.rows[row], 0)
    }

    /// The postings of a row's term: tool, impact and payload.
    fn postings(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, u32, [u8; 2])> {
        let range = self.postings_range(row);
        let postings = &self.postings[range.clone()];
        let payloads = &self.payloads[range];
        postings.iter().zip(payloads).map(|(posting, payload)| {
            let posting = u32::from_le_bytes(*posting);
            let impact = posting & ((1 << IMPACT_BITS) - 1);
            (posting >> IMPACT_BITS, impact, *payload)
        })
    }

    /// The mask of the [`crate::index::Field`]s of a tool that contain a row's term; 0 if none does.
    #[must_use]
    pub fn field_mask(&self, row: usize, tool: u32) -> u8 {
        let range = self.postings_range(row);
        let postings = &self.postings[range.clone()];
        let position = postings
            .binary_search_by_key(&tool, |posting| u32::from_le_bytes(*posting) >> IMPACT_BITS);
        position.map_or(0, |position| self.payloads[range.start + position][0])
    }

    fn postings_range(&self, row: usize) -> Range<usize> {
        number_at(self.rows[row], 4)..number_at(self.rows[row + 1], 4)
    }
}

/// The number at a byte offset of a row.
fn number_at(row: [u8; 8], offset: usize) -> usize {
    let bytes = row[offset..].first_chunk().expect("a row has two numbers");
    u32::from_le_bytes(*bytes) as usize
}

impl Ranking {
    /// Inserts a hit by its score, if it is among the best. With a large limit, hits are only collected, and
    /// sorted at the end.
    fn insert(&mut self, hit: Hit, limit: usize) {
        if limit > MAX_SORTED_HITS {
            self.best.push(hit);
            return;
        }
        let is_full = self.best.len() >= limit;
        let is_at_least_as_good = |other: &Hit| other.score >= hit.score;
        if is_full && self.best.last().is_none_or(is_at_least_as_good) {
            return;
        }
        self.best.truncate(limit - 1);
        let position = self.best.partition_point(is_at_least_as_good);
        self.best.insert(position, hit);
    }

    /// Adds a term that a word matches. If several words match it, the largest weight counts.
    fn add_term(&mut self, word: &str, row: usize, weight: f64, match_kind: MatchKind) {
        if let Some(word) = self.words.last_mut() {
            word.rows.push(row);
            word.is_known |= match_kind != MatchKind::Similar;
        }
        let term = QueryTerm {
            word: word.to_owned(),
            row,
            weight,
            match_kind,
        };
        match self.terms.iter_mut().find(|other| other.row == row) {
            Some(existing) if existing.weight >= weight => {}
            Some(existing) => *existing = term,
            None => self.terms.push(term),
        }
    }

    /// The number of hits, counted from the best, that are good enough to show.
    #[must_use]
    pub fn useful_count(&self) -> usize {
        let best_score = self.best.first().map_or(0.0, |best| best.score);
        let count = |min_share: f64| {
            let hits = self.all.iter();
            hits.filter(|hit| hit.score >= min_share * best_score)
                .count()
        };
        let first_hits = count(MIN_USEFUL_SHARE).min(FIRST_USEFUL_HITS);
        count(MIN_FURTHER_SHARE).max(first_hits)
    }

    /// The number of hits that are better than a tool's, if it is a hit.
    #[must_use]
    pub fn position(&self, tool: u32) -> Option<usize> {
        let hit = self.all.iter().find(|hit| hit.tool == tool)?;
        let is_better = |other: &&Hit| {
            other.score > hit.score || (other.score >= hit.score && other.tool < tool)
        };
        Some(self.all.iter().filter(is_better).count())
    }

    /// Estimates the probability that a hit is relevant, from the share of the query that it matches and from
    /// its score relative to the best other hit. The unmatched part of the query counts as a competitor, because
    /// a better tool may be missing from the catalog.
    #[must_use]
    pub fn relevance(&self, hit: &Hit) -> f64 {
        let mut competitors = self.best.iter().filter(|other| other.tool != hit.tool);
        let competitor_score = competitors.next().map_or(0.0, |other| other.score);
        if hit.score <= 0.0 {
            return 0.0;
        }
        let strength = hit.score / MAX_IMPACT;
        let coverage = (hit.score / self.max_score).min(1.0);
        let competitor_score =
            competitor_score.max(UNMATCHED_WEIGHT * (self.max_score - hit.score));
        let margin = hit.score / (hit.score + competitor_score);
        // The margin to the power of eight.
        let square = margin * margin;
        let odds =
            100.0 * strength * (strength * coverage).sqrt() * square * square * square * square;
        odds / (1.0 + odds)
    }
}

/// The minimum number of trigrams that a candidate must have in common with a term of the given length.
fn min_common_trigrams(
    term_length: usize,
    is_unknown: bool,
    expansion: Option<QueryExpansion>,
) -> usize {
    // Each edit changes up to three trigrams.
    let max_changed = if term_length >= 8 { 6 } else { 3 };
    let for_corrections = is_unknown.then(|| term_length.saturating_sub(max_changed));
    // A candidate has at least as many trigrams as it has in common, which limits the Dice coefficient.
    let for_similar_terms = expansion.map(|QueryExpansion { min_similarity, .. }| {
        let term_length = u32::try_from(term_length).map_or(0.0, f64::from);
        round_to_u32(min_similarity * term_length / (2.0 - min_similarity)) as usize
    });
    for_corrections
        .into_iter()
        .chain(for_similar_terms)
        .min()
        .unwrap_or(1)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(scores: &[f64]) -> Ranking {
        let hits = (0..).zip(scores);
        let all: Vec<Hit> = hits
            .map(|(tool, score)| Hit {
                tool,
                score: *score,
            })
            .collect();
        let mut best = all.clone();
        best.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ranking {
            best,
            all,
            terms: Vec::new(),
            words: Vec::new(),
            named: Vec::new(),
            max_score: 0.0,
        }
    }

    #[test]
    fn a_hit_is_useful_by_its_share_of_the_best_score() {
        for (scores, useful) in [
            (&[][..], 0),
            (&[7.0], 1),
            (&[30.0, 100.0, 29.0], 2),
            (&[100.0, 59.0, 58.0, 57.0, 56.0, 55.0], 5),
            (&[100.0, 60.0, 60.0, 60.0, 60.0, 60.0, 59.0], 6),
        ] {
            assert_eq!(ranked(scores).useful_count(), useful, "{scores:?}");
        }
    }

    #[test]
    fn a_position_counts_better_hits_and_equal_ones_before_it() {
        let ranked = ranked(&[1.0, 2.0, 1.0]);
        assert_eq!(ranked.position(0), Some(1));
        assert_eq!(ranked.position(1), Some(0));
        assert_eq!(ranked.position(2), Some(2));
        assert_eq!(ranked.position(3), None);
    }
}

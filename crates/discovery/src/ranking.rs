//! The result of a query: the hits, and how many of them are worth showing.

use crate::query::QueryWord;
use crate::rank::RankingMode;

/// Up to this limit, hits are kept sorted while they are collected. Beyond it, all are sorted at the end.
const MAX_SORTED_HITS: usize = 64;
/// How many hits are useful if they have [`MIN_USEFUL_SHARE`] of the best hit's score. Further ones are useful
/// if they have [`MIN_FURTHER_SHARE`] of it. docs/discovery.md shows what this rule costs and saves.
const FIRST_USEFUL_HITS: usize = 5;
const MIN_USEFUL_SHARE: f64 = 0.3;
const MIN_FURTHER_SHARE: f64 = 0.7;

/// A logistic regression on queries whose right tools are known. docs/discovery.md shows how often it is right.
struct Calibration {
    score_weight: f64,
    lead_weight: f64,
    offset: f64,
    /// The score that the best other hit is assumed to have at least. A better tool may be missing from the
    /// catalog, so a hit without competition has little lead.
    min_competitor_score: f64,
}

impl Calibration {
    fn of(mode: RankingMode) -> Self {
        let (score_weight, lead_weight, offset, min_competitor_score) = match mode {
            RankingMode::Keyword => (0.4, 7.6, -1.8, 0.6),
            RankingMode::Hybrid => (0.3, 4.8, -2.0, 1.1),
            RankingMode::Semantic => (0.6, 10.0, -2.3, 0.35),
        };
        Self {
            score_weight,
            lead_weight,
            offset,
            min_competitor_score,
        }
    }
}

/// A tool that matches a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hit {
    /// The tool's number in the catalog.
    pub tool: u32,
    /// Its score. Only scores for the same query are comparable.
    pub score: f32,
}

/// The result of a query.
pub struct Ranking {
    /// The best hits, the best first; equal ones in catalog order.
    pub best: Vec<Hit>,
    /// All hits, in catalog order.
    pub all: Vec<Hit>,
    /// The words of the query without stop words.
    pub words: Vec<QueryWord>,
    /// The hits whose whole name is in the query.
    pub named: Vec<u32>,
    mode: RankingMode,
    /// The maximum number of best hits.
    limit: usize,
}

impl Ranking {
    /// A ranking without hits.
    pub(crate) fn new(words: Vec<QueryWord>, mode: RankingMode, limit: usize) -> Self {
        Self {
            best: Vec::new(),
            all: Vec::new(),
            words,
            named: Vec::new(),
            mode,
            limit,
        }
    }

    /// Sets the hits, which are in catalog order.
    pub(crate) fn set_hits(&mut self, hits: Vec<Hit>) {
        if self.limit > MAX_SORTED_HITS {
            self.best.clone_from(&hits);
            self.best
                .sort_by(|one, other| other.score.total_cmp(&one.score));
            self.best.truncate(self.limit);
        } else {
            for hit in &hits {
                self.insert(*hit);
            }
        }
        self.all = hits;
    }

    /// Inserts a hit into the best ones, if it is one of them.
    fn insert(&mut self, hit: Hit) {
        let is_full = self.best.len() >= self.limit;
        let is_at_least_as_good = |other: &Hit| other.score >= hit.score;
        if is_full && self.best.last().is_none_or(is_at_least_as_good) {
            return;
        }
        self.best.truncate(self.limit - 1);
        let position = self.best.partition_point(is_at_least_as_good);
        self.best.insert(position, hit);
    }

    /// The number of hits, counted from the best, that are good enough to show.
    #[must_use]
    pub fn useful_count(&self) -> usize {
        let best_score = self.best.first().map_or(0.0, |best| f64::from(best.score));
        let count = |min_share: f64| {
            let hits = self.all.iter();
            hits.filter(|hit| f64::from(hit.score) >= min_share * best_score)
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

    /// Estimates the probability that a hit is relevant, from its score and from its lead over the best other
    /// hit. The best score includes the share of the query that it matches, so weak matches of all tools count
    /// as weak.
    #[must_use]
    pub fn relevance(&self, hit: &Hit) -> f64 {
        let mut competitors = self.best.iter().filter(|other| other.tool != hit.tool);
        let competitor_score = competitors.next().map_or(0.0, |other| other.score);
        let calibration = Calibration::of(self.mode);
        let [score, competitor_score] = [hit.score, competitor_score].map(f64::from);
        let lead = score - competitor_score.max(calibration.min_competitor_score);
        let odds = libm::exp(
            calibration.score_weight * score + calibration.lead_weight * lead + calibration.offset,
        );
        odds / (1.0 + odds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(scores: &[f32]) -> Ranking {
        let hits = (0..).zip(scores);
        let hits = hits.map(|(tool, score)| Hit {
            tool,
            score: *score,
        });
        let mut ranking = Ranking::new(Vec::new(), RankingMode::Keyword, 10);
        ranking.set_hits(hits.collect());
        ranking
    }

    #[test]
    fn a_hit_is_useful_by_its_share_of_the_best_score() {
        for (scores, useful) in [
            (&[][..], 0),
            (&[7.0], 1),
            (&[30.0, 100.0, 29.0], 2),
            (&[100.0, 59.0, 58.0, 57.0, 56.0, 55.0], 5),
            (&[100.0, 70.0, 70.0, 70.0, 70.0, 70.0, 69.0], 6),
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

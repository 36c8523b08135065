//! Turns a query into the best matching tools.

use climax_catalog::rows::Rows;

use crate::Discovery;
use crate::cli_mentions::{CliNames, mentioned_names};
use crate::index::{MAX_IMPACT, MAX_NAME_SHARE, round_to_u32};
use crate::meaning::MeaningIndex;
use crate::meaning::query::QueryVector;
use crate::query::{MatchKind, QueryWord, query_words};
use crate::ranking::{Hit, Ranking};
use crate::term_index::TermIndex;

/// What counts in a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingMode {
    /// The words of the query, and spelling corrections of words that the index does not have.
    Keyword,
    /// Words, the meaning of words, the meaning of the whole query, and CLIs that the query names.
    Hybrid,
    /// The meaning of the whole query.
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
}

/// How much the score of a tool grows if the query has its whole name and that of its CLI.
const NAME_BOOST: f32 = 0.2;
/// The largest lexical score of a tool that has all words of the query in its name.
const LEXICAL_WEIGHT: f32 = 1.3;
/// The exponent of the best tool's score in the normalisation of lexical scores. The score that a tool could
/// reach has the rest, so that a query whose words no tool has scores low.
const BEST_SCORE_EXPONENT: f64 = 0.65;
/// The weight of the similarity of a query and a tool.
const SIMILARITY_WEIGHT: f32 = 0.85;
/// What is added to the score of a tool whose CLI the query names.
const CLI_MENTION: f32 = 0.6;
/// The same for a CLI whose name is everyday English.
const EVERYDAY_CLI_MENTION: f32 = 0.42;
/// What is added to the score of a tool that starts a base command of the operating system and has a word of the
/// query, or one close in meaning. Among tools that match alike, the one that everybody knows is meant more often.
const SYSTEM_TOOL: f32 = 0.12;
/// How many tools are compared with the query in all dimensions: the best ones by a first estimate.
const MAX_COMPARED_TOOLS: usize = 128;
/// The same if only similarity counts: the estimate is worse then.
const MAX_COMPARED_BY_SIMILARITY: usize = 256;
/// The similarity from which a tool that has no word of the query is a hit.
const MIN_SIMILARITY: f32 = 0.3;
/// Weights are fixed-point numbers while scores are added up: this integer represents 1.
const WEIGHT_SCALE: f64 = 256.0;
/// The impact that the smallest weighted impact represents.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the relative error is tiny"
)]
const IMPACT_UNIT: f32 = (1.0 / (MAX_IMPACT * WEIGHT_SCALE)) as f32;
/// The share of names that the smallest weighted share represents.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the relative error is tiny"
)]
const NAME_SHARE_UNIT: f32 = (1.0 / (MAX_NAME_SHARE * WEIGHT_SCALE)) as f32;

/// Ranks the tools of a catalog.
pub struct Ranker<'d> {
    index: TermIndex<'d>,
    meaning: Option<MeaningIndex<'d>>,
    cli_names: &'d CliNames,
    system_tools: Rows<'d, u32>,
}

/// What the words of a query say about a tool, as fixed-point numbers.
#[derive(Clone, Copy, Default)]
struct WordMatches {
    /// The sum of the best impact of each word.
    impact: u32,
    /// The part of `impact` that comes from the last word that matches, and the number of that word.
    last_impact: u32,
    last_word: u32,
    /// The share of the names of tool and CLI that is in the query.
    name_share: u32,
}

/// A tool while it is being scored.
#[derive(Clone, Copy)]
struct Candidate {
    tool: u32,
    /// The score for the words of the query.
    lexical: f32,
    /// The sum of the cosines of the query and the tool's two vectors, or an estimate of it.
    similarity: f32,
}

impl Candidate {
    fn score(self) -> f32 {
        self.lexical + SIMILARITY_WEIGHT * self.similarity
    }

    #[expect(
        clippy::needless_bitwise_bool,
        reason = "a branch would be mispredicted often"
    )]
    fn is_hit(self) -> bool {
        (self.lexical > 0.0) | (self.similarity >= MIN_SIMILARITY)
    }

    fn hit(self) -> Hit {
        Hit {
            tool: self.tool,
            score: self.score(),
        }
    }
}

impl<'d> Ranker<'d> {
    /// A ranker for a catalog with this number of tools.
    #[must_use]
    pub fn new(discovery: &'d Discovery, tools: usize) -> Self {
        Self {
            index: discovery.index.term_index(tools),
            meaning: MeaningIndex::new(&discovery.meaning),
            cli_names: &discovery.cli_names,
            system_tools: discovery.system_tools.rows(),
        }
    }

    /// Ranks the offered tools by their score for a query.
    #[must_use]
    pub fn rank(
        &self,
        query: &str,
        mode: RankingMode,
        limit: usize,
        is_offered: impl Fn(u32) -> bool,
    ) -> Ranking {
        let meaning = self.meaning.as_ref();
        let meaning = meaning.filter(|_| mode != RankingMode::Keyword);
        let words = query_words(&self.index, meaning, query);
        let mut ranking = Ranking::new(words, mode, limit);
        let mut candidates = self.lexical_candidates(&mut ranking, is_offered);
        let vector = meaning.and_then(|meaning| meaning.query_vector(query));
        if let (Some(meaning), Some(vector)) = (meaning, vector) {
            let compared = if mode == RankingMode::Semantic {
                for candidate in &mut candidates {
                    candidate.lexical = 0.0;
                }
                MAX_COMPARED_BY_SIMILARITY
            } else {
                self.prefer_system_tools(&mut candidates);
                self.add_cli_mentions(meaning, query, &mut candidates);
                MAX_COMPARED_TOOLS
            };
            compare(meaning, &vector, &mut candidates, compared.max(limit));
        }
        ranking.set_hits(hits(&candidates));
        ranking
    }

    /// The offered tools, with scores for the words of a query. Tools whose whole name is in the query are added
    /// to the ranking's list of them.
    fn lexical_candidates(
        &self,
        ranking: &mut Ranking,
        is_offered: impl Fn(u32) -> bool,
    ) -> Vec<Candidate> {
        let possible_score: f64 = ranking.words.iter().map(|word| word.weight).sum();
        let mut best_score: f32 = 0.0;
        let mut candidates = Vec::with_capacity(self.index.tools);
        for (tool, matches) in (0..).zip(self.word_matches(&ranking.words)) {
            if !is_offered(tool) {
                continue;
            }
            let name_share = to_f32(matches.name_share) * NAME_SHARE_UNIT;
            // A tool's whole name makes up half of the share. 0.49 allows for rounding.
            if name_share >= 0.49 {
                ranking.named.push(tool);
            }
            let impact = to_f32(matches.impact) * IMPACT_UNIT;
            let lexical = impact * (1.0 + NAME_BOOST * name_share);
            if lexical > best_score {
                best_score = lexical;
            }
            candidates.push(Candidate {
                tool,
                lexical,
                similarity: 0.0,
            });
        }
        if best_score > 0.0 {
            let norm = libm::pow(best_score.into(), BEST_SCORE_EXPONENT)
                * libm::pow(possible_score, 1.0 - BEST_SCORE_EXPONENT);
            #[expect(clippy::cast_possible_truncation, reason = "scores have few digits")]
            let factor = LEXICAL_WEIGHT / norm as f32;
            for candidate in &mut candidates {
                candidate.lexical *= factor;
            }
        }
        candidates
    }

    /// Looks up the words of a query. For each word, only the term counts that matches a tool best.
    fn word_matches(&self, words: &[QueryWord]) -> Vec<WordMatches> {
        let mut tools = vec![WordMatches::default(); self.index.tools];
        for (number, word) in (1..).zip(words) {
            for term in &word.terms {
                let weight = round_to_u32(word.weight * term.weight * WEIGHT_SCALE);
                for (tool, impact) in self.index.postings(term.row) {
                    let impact = weight * impact;
                    let Some(matched) = tools.get_mut(tool as usize) else {
                        continue;
                    };
                    let is_same_word = u32::from(matched.last_word == number);
                    let last_impact = is_same_word * matched.last_impact;
                    let gain = impact.saturating_sub(last_impact);
                    matched.last_word = number;
                    matched.last_impact = last_impact + gain;
                    matched.impact += gain;
                }
                if term.match_kind == MatchKind::Exact {
                    let weight = round_to_u32(word.part_weight * WEIGHT_SCALE);
                    let postings = self.index.postings(term.row);
                    for ((tool, _), name_share) in postings.zip(self.index.name_shares(term.row)) {
                        if let Some(matched) = tools.get_mut(tool as usize) {
                            matched.name_share += weight * u32::from(name_share);
                        }
                    }
                }
            }
        }
        tools
    }

    /// Raises the scores of tools that start base commands. The candidates are in catalog order.
    fn prefer_system_tools(&self, candidates: &mut [Candidate]) {
        for tool in self.system_tools.iter() {
            if let Some(candidate) = candidate_of(candidates, tool)
                && candidate.lexical > 0.0
            {
                candidate.lexical += SYSTEM_TOOL;
            }
        }
    }

    /// Raises the scores of the tools of CLIs that a query names. The candidates are in catalog order.
    fn add_cli_mentions(
        &self,
        meaning: &MeaningIndex<'_>,
        query: &str,
        candidates: &mut [Candidate],
    ) {
        for name in mentioned_names(query) {
            let is_everyday = meaning.is_everyday(&name);
            for tool in self.cli_names.tools(&name) {
                if let Some(candidate) = candidate_of(candidates, tool) {
                    candidate.lexical += if is_everyday {
                        EVERYDAY_CLI_MENTION
                    } else {
                        CLI_MENTION
                    };
                }
            }
        }
    }
}

/// The candidate that is a tool. The candidates are in catalog order.
fn candidate_of(candidates: &mut [Candidate], tool: u32) -> Option<&mut Candidate> {
    let position = candidates.binary_search_by_key(&tool, |candidate| candidate.tool);
    candidates.get_mut(position.ok()?)
}

/// Compares candidates with a query by meaning. The first dimensions are compared for all, and the others for the
/// candidates with the best scores, `compared` in number.
fn compare(
    meaning: &MeaningIndex<'_>,
    vector: &QueryVector,
    candidates: &mut [Candidate],
    compared: usize,
) {
    let similarities = meaning.coarse_similarities(vector);
    let mut keys: Vec<u64> = Vec::with_capacity(candidates.len());
    for (position, candidate) in (0..).zip(candidates.iter_mut()) {
        candidate.similarity = similarities[candidate.tool as usize];
        keys.push(descending_key(candidate.score(), position));
    }
    if keys.len() > compared {
        keys.select_nth_unstable(compared);
        keys.truncate(compared);
    }
    for key in keys {
        let candidate = &mut candidates[position_of(key)];
        candidate.similarity = meaning.similarity(vector, candidate.tool);
    }
}

/// The candidates that are hits. Each is written, and overwritten by the next one if it is not a hit: no branch
/// depends on it.
fn hits(candidates: &[Candidate]) -> Vec<Hit> {
    let mut hits = vec![Hit::default(); candidates.len()];
    let mut count = 0;
    for candidate in candidates {
        hits[count] = candidate.hit();
        count += usize::from(candidate.is_hit());
    }
    hits.truncate(count);
    hits
}

/// A number that is the smaller, the better a score is. Among equal scores, the first position is the best.
fn descending_key(score: f32, position: u32) -> u64 {
    // The bits of floats that are not negative have the order of the floats.
    let score_bits = score.max(0.0).to_bits();
    u64::from(!score_bits) << 32 | u64::from(position)
}

/// The position in a key.
#[expect(clippy::cast_possible_truncation, reason = "it is in the lower half")]
fn position_of(key: u64) -> usize {
    key as u32 as usize
}

#[expect(clippy::cast_precision_loss, reason = "the relative error is tiny")]
fn to_f32(number: u32) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use climax_catalog::facts::{Facts, ToolFacts};

    use super::*;
    use crate::derive;

    /// Two CLIs with two tools each.
    fn facts() -> Facts<'static> {
        let tools = [
            (0, "remove_file", "Delete a file for good"),
            (0, "print_text", "Write a line of text"),
            (1, "start", "Start a program"),
            (1, "zzqx", "Start a program"),
        ];
        let tools = tools.map(|(cli, name, description)| ToolFacts {
            cli,
            name,
            description,
            ..crate::test_facts::tool(Vec::new())
        });
        Facts {
            clis: ["alpha", "beta"].map(crate::test_facts::cli).into(),
            tools: tools.into(),
            has_policy: false,
        }
    }

    /// The names of the tools that match a query, the best first.
    fn search(query: &str, mode: RankingMode) -> Vec<&'static str> {
        let facts = facts();
        let discovery = derive(&facts);
        let ranker = Ranker::new(&discovery, facts.tools.len());
        let ranking = ranker.rank(query, mode, 10, |_| true);
        let best = ranking.best.iter();
        best.map(|hit| facts.tools[hit.tool as usize].name)
            .collect()
    }

    #[test]
    fn keywords_match_the_words_of_a_tool_only() {
        assert_eq!(search("delete", RankingMode::Keyword), ["remove_file"]);
        assert_eq!(search("erase documents", RankingMode::Keyword), [""; 0]);
    }

    #[test]
    #[cfg(feature = "meaning")]
    fn hybrid_and_semantic_search_match_by_meaning() {
        for mode in [RankingMode::Hybrid, RankingMode::Semantic] {
            assert_eq!(
                search("erase documents", mode)[0],
                "remove_file",
                "{mode:?}"
            );
        }
    }

    #[test]
    fn words_without_vectors_are_found_in_every_mode() {
        for mode in RankingMode::ALL {
            assert_eq!(search("zzqx", mode)[0], "zzqx", "{mode:?}");
            assert_eq!(search("qqqxzzq", mode), [""; 0], "{mode:?}");
            assert_eq!(search("\u{6587}\u{4ef6}", mode), [""; 0], "{mode:?}");
            assert_eq!(search("", mode), [""; 0], "{mode:?}");
        }
    }

    #[test]
    #[cfg(feature = "meaning")]
    fn a_named_cli_raises_its_tools() {
        assert_eq!(search("delete it", RankingMode::Hybrid)[0], "remove_file");
        let found = search("delete it with beta", RankingMode::Hybrid);
        assert!(["start", "zzqx"].contains(&found[0]), "{found:?}");
    }

    #[test]
    #[cfg(feature = "meaning")]
    fn base_commands_come_before_programs_that_match_alike() {
        let mut facts = facts();
        for (cli, command) in facts.clis.iter_mut().zip(["archiver", "tar"]) {
            cli.command = command;
        }
        for tool in &mut facts.tools {
            tool.name = "pack";
            tool.description = "Pack files";
        }
        let discovery = derive(&facts);
        let ranker = Ranker::new(&discovery, facts.tools.len());
        let first = |mode| ranker.rank("pack files", mode, 10, |_| true).best[0].tool;
        assert_eq!(first(RankingMode::Keyword), 0);
        assert_eq!(first(RankingMode::Hybrid), 2);
    }

    #[test]
    fn only_offered_tools_are_ranked() {
        let facts = facts();
        let discovery = derive(&facts);
        let ranker = Ranker::new(&discovery, facts.tools.len());
        let ranking = ranker.rank("start a program", RankingMode::Hybrid, 10, |tool| tool == 3);
        let tools: Vec<u32> = ranking.best.iter().map(|hit| hit.tool).collect();
        assert_eq!(tools, [3]);
    }
}

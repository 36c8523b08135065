//! Turns facts into an inverted index: for each term, the tools that contain it and its impact on their score
//! (BM25F). Impacts are computed when the catalog is built; a search weights them and adds them up.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use climax_catalog::facts::{Facts, ToolFacts};
use climax_catalog::rows::to_u32;

use crate::term_index::TermIndex;
use crate::tokens::{TermStemmer, for_each_word, is_stop_word};
use crate::trigrams::{TrigramIndex, Trigrams, build_trigram_index};

/// A text of a tool or of its CLI that is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The tool's name.
    Name,
    /// The CLI's name.
    Cli,
    /// The tool's description.
    Description,
    /// The CLI's description.
    CliDescription,
    /// Names of arguments.
    Argument,
    /// Descriptions of arguments.
    ArgumentDescription,
    /// The CLI's category.
    Category,
    /// The CLI's tags.
    Tag,
    /// The tool's keywords.
    Keyword,
    /// The requests of the tool's examples.
    Request,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Cli,
        Self::Description,
        Self::CliDescription,
        Self::Argument,
        Self::ArgumentDescription,
        Self::Category,
        Self::Tag,
        Self::Keyword,
        Self::Request,
    ];

    /// BM25F's weight and length normalisation (`b`) of the field. The latter goes from 0 (length has no
    /// effect) to 1 (a term counts in inverse proportion to the length).
    fn weight_and_length_normalisation(self) -> (f64, f64) {
        match self {
            Self::Name => (3.5, 0.3),
            Self::Cli => (2.25, 0.0),
            Self::Description => (0.9, 0.6),
            Self::CliDescription => (0.5, 0.4),
            Self::Argument | Self::ArgumentDescription => (1.5, 0.75),
            Self::Category | Self::Tag => (0.2, 0.0),
            Self::Keyword => (1.0, 0.3),
            // The words of a request are mostly everyday ones. Its vector says more.
            Self::Request => (0.2, 0.6),
        }
    }

    /// Fields of the same group share one length: names and descriptions of arguments are one text.
    fn length_group(self) -> usize {
        match self {
            Self::ArgumentDescription => Self::Argument as usize,
            other => other as usize,
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Whether the field is in a posting's field mask.
    #[must_use]
    pub fn is_in(self, field_mask: u16) -> bool {
        field_mask & self.bit() != 0
    }
}

/// BM25's `k1`: how soon further occurrences of a term stop adding to the score.
const SATURATION: f64 = 0.9;
/// The largest impact in a posting.
pub(crate) const MAX_IMPACT: f64 = 255.0;
/// The name share of a term that makes up the names of both tool and CLI.
pub(crate) const MAX_NAME_SHARE: f64 = 255.0;
/// The number of low bits of a posting that hold the impact. The tool's number is in the bits above, so
/// there are less than 2^24 tools.
pub(crate) const IMPACT_BITS: u32 = 8;
/// The minimum length of a compound's part.
const MIN_PART_LETTERS: usize = 4;

climax_catalog::tables! {
    /// The inverted index. Numbers are four bytes, little-endian.
    Index {
        /// All terms, sorted, without separators.
        terms: Cow<'static, str>,
        /// For each term, and once more for the end: where it begins in `terms`, where its postings begin in
        /// `postings`, and how many tools use it as a word.
        rows: Cow<'static, [u8]>,
        /// The postings of all terms: a tool's number and the term's impact on its score.
        postings: Cow<'static, [u8]>,
        /// The payload of each posting, three bytes: two for the mask of the fields that contain the term, and the
        /// term's share of the names of tool and CLI.
        payloads: Cow<'static, [u8]>,
        /// The terms by their trigrams.
        trigrams: Trigrams,
    }
}

/// A posting while the index is built: a tool that contains a term.
#[derive(Default)]
struct Posting {
    tool: u32,
    /// The term frequency over all fields, weighted and normalised by length.
    frequency: f64,
    field_mask: u16,
    /// The term's share of the names of tool and CLI, from 0 to 1.
    name_share: f64,
}

/// Indexes the tools.
///
/// # Panics
/// If there are 4 GiB of terms or more.
#[must_use]
pub fn build_index(facts: &Facts<'_>) -> Index {
    let mut vocabulary = Vocabulary::default();
    let field_terms = vocabulary.field_terms(facts);
    let average_lengths = average_lengths(facts, &field_terms);
    let mut postings: Vec<Vec<Posting>> = Vec::new();
    postings.resize_with(vocabulary.terms.len(), Vec::new);
    for (number, tool) in (0..).zip(&facts.tools) {
        for field in Field::ALL {
            let terms = field_terms.of(field, number as usize, tool.cli);
            let (weight, normalisation) = field.weight_and_length_normalisation();
            let length = field_terms.length(field, number as usize, tool.cli)
                / average_lengths[field.length_group()];
            let frequency = weight / (1.0 - normalisation + normalisation * length);
            for term in terms {
                let posting = last_posting(&mut postings[*term as usize], number);
                posting.frequency += frequency;
                posting.field_mask |= field.bit();
            }
        }
    }
    let word_counts: Vec<usize> = postings.iter().map(Vec::len).collect();
    let idfs = word_counts.iter();
    let idfs = idfs.map(|count| inverse_document_frequency(facts.tools.len(), *count));
    let idfs: Vec<f64> = idfs.collect();
    for (number, tool) in (0..).zip(&facts.tools) {
        for field in [Field::Name, Field::Cli] {
            let terms = field_terms.of(field, number as usize, tool.cli);
            let terms: BTreeSet<u32> = terms.iter().copied().collect();
            let idf_sum: f64 = terms.iter().map(|term| idfs[*term as usize]).sum();
            for term in terms {
                let posting = posting_of(&mut postings[term as usize], number);
                posting.name_share += idfs[term as usize] / idf_sum / 2.0;
            }
        }
    }
    add_compound_parts(facts, &vocabulary, &field_terms, &mut postings);
    let mut terms: Vec<(String, u32)> = vocabulary.terms.into_iter().collect();
    terms.sort_unstable();
    encode(&terms, &word_counts, &postings)
}

/// The posting of a tool, for tools in ascending order: the last one, or a new one.
fn last_posting(postings: &mut Vec<Posting>, tool: u32) -> &mut Posting {
    if postings.last().is_none_or(|last| last.tool != tool) {
        postings.push(Posting {
            tool,
            ..Posting::default()
        });
    }
    let last = postings.len() - 1;
    &mut postings[last]
}

/// The posting of any tool. It is inserted if there is none.
fn posting_of(postings: &mut Vec<Posting>, tool: u32) -> &mut Posting {
    let position = postings.partition_point(|posting| posting.tool < tool);
    let existing = postings.get(position);
    if existing.is_none_or(|posting| posting.tool != tool) {
        let posting = Posting {
            tool,
            ..Posting::default()
        };
        postings.insert(position, posting);
    }
    &mut postings[position]
}

/// The inverse document frequency of a term: the fewer tools contain it, the more it says.
pub(crate) fn inverse_document_frequency(tools: usize, tools_with_term: usize) -> f64 {
    libm::log(1.0 + to_f64(tools) / to_f64(tools_with_term))
}

/// Numbers the terms, in the order in which they are first used.
#[derive(Default)]
struct Vocabulary {
    stemmer: TermStemmer,
    /// The term of each word; stop words have none.
    words: HashMap<String, Option<u32>>,
    terms: HashMap<String, u32>,
}

impl Vocabulary {
    /// The terms of texts, one for each occurrence.
    fn terms_of<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
        let mut terms = Vec::new();
        for text in texts {
            for_each_word(text, &mut |word| {
                if let Some(term) = self.words.get(word) {
                    terms.extend(term);
                    return;
                }
                let next = to_u32(self.terms.len());
                let term = self.stemmer.term(word);
                let term = term.map(|term| *self.terms.entry(term.into_owned()).or_insert(next));
                self.words.insert(word.to_owned(), term);
                terms.extend(term);
            });
        }
        terms
    }

    fn field_terms(&mut self, facts: &Facts<'_>) -> FieldTerms {
        let mut fields = FieldTerms::default();
        for tool in &facts.tools {
            let arguments = || tool.arguments.iter();
            fields.of_tools.push([
                self.terms_of([tool.name].into_iter()),
                self.terms_of([tool.description].into_iter()),
                self.terms_of(arguments().map(|argument| argument.name)),
                self.terms_of(arguments().map(|argument| argument.description)),
                self.terms_of(tool.keywords.iter().copied()),
                self.terms_of(requests(tool)),
            ]);
        }
        for cli in &facts.clis {
            fields.of_clis.push([
                self.terms_of([cli.name].into_iter()),
                self.terms_of([cli.description].into_iter()),
                self.terms_of(cli.category.into_iter()),
                self.terms_of(cli.tags.iter().copied()),
            ]);
        }
        fields
    }
}

/// The requests of a tool's examples.
pub(crate) fn requests<'f>(tool: &'f ToolFacts<'_>) -> impl Iterator<Item = &'f str> {
    tool.examples.iter().map(|example| &*example.request)
}

/// The terms of all fields. The fields of a CLI are stored once for all of its tools.
#[derive(Default)]
struct FieldTerms {
    of_tools: Vec<[Vec<u32>; 6]>,
    of_clis: Vec<[Vec<u32>; 4]>,
}

impl FieldTerms {
    fn of(&self, field: Field, tool: usize, cli: usize) -> &[u32] {
        match field {
            Field::Name => &self.of_tools[tool][0],
            Field::Description => &self.of_tools[tool][1],
            Field::Argument => &self.of_tools[tool][2],
            Field::ArgumentDescription => &self.of_tools[tool][3],
            Field::Keyword => &self.of_tools[tool][4],
            Field::Request => &self.of_tools[tool][5],
            Field::Cli => &self.of_clis[cli][0],
            Field::CliDescription => &self.of_clis[cli][1],
            Field::Category => &self.of_clis[cli][2],
            Field::Tag => &self.of_clis[cli][3],
        }
    }

    /// The number of terms in all fields of a field's length group.
    fn length(&self, field: Field, tool: usize, cli: usize) -> f64 {
        let fields = Field::ALL.into_iter();
        let fields = fields.filter(|other| other.length_group() == field.length_group());
        to_f64(fields.map(|field| self.of(field, tool, cli).len()).sum())
    }
}

/// The average length of each field; 1 if the field is always empty.
fn average_lengths(facts: &Facts<'_>, field_terms: &FieldTerms) -> [f64; Field::ALL.len()] {
    Field::ALL.map(|field| {
        let tools = facts.tools.iter().enumerate();
        let lengths = tools.map(|(number, tool)| field_terms.length(field, number, tool.cli));
        let average = lengths.sum::<f64>() / to_f64(facts.tools.len().max(1));
        if average > 0.0 { average } else { 1.0 }
    })
}

/// Splits compounds in names: adds the first or last part of a word if descriptions use that part as a word
/// (`lsblock` gets `block`).
fn add_compound_parts(
    facts: &Facts<'_>,
    vocabulary: &Vocabulary,
    field_terms: &FieldTerms,
    postings: &mut [Vec<Posting>],
) {
    let known_parts = description_words(facts);
    for (number, tool) in (0..).zip(&facts.tools) {
        let mut parts: Vec<(&str, f64, Field)> = Vec::new();
        let name = tool.name.to_lowercase();
        let cli = facts.cli_of(tool).name.to_lowercase();
        let name_words = letter_runs(&name).map(|word| (word, Field::Name));
        let cli_words = letter_runs(&cli).map(|word| (word, Field::Cli));
        for (word, field) in name_words.chain(cli_words) {
            for length in MIN_PART_LETTERS..word.len() {
                for part in [&word[..length], &word[word.len() - length..]] {
                    if let Some(part) = known_parts.get(part) {
                        let word_share = to_f64(length) / to_f64(word.len());
                        match parts.iter_mut().find(|(other, _, _)| other == part) {
                            Some(known) => known.1 = known.1.max(word_share),
                            None => parts.push((part, word_share, field)),
                        }
                    }
                }
            }
        }
        parts.sort_unstable_by_key(|(part, _, _)| *part);
        let is_in_names = |term: &u32| {
            [Field::Name, Field::Cli].into_iter().any(|field| {
                let terms = field_terms.of(field, number as usize, tool.cli);
                terms.contains(term)
            })
        };
        let is_longest = |part: &str| {
            let mut others = parts.iter().filter(|(other, _, _)| *other != part);
            !others.any(|(other, _, _)| other.contains(part))
        };
        for (part, word_share, field) in parts.iter().filter(|(part, _, _)| is_longest(part)) {
            let stem = vocabulary.stemmer.stem(part);
            let term = vocabulary.terms.get(&*stem).copied();
            if let Some(term) = term.filter(|term| !is_in_names(term)) {
                let posting = posting_of(&mut postings[term as usize], number);
                posting.frequency += word_share;
                posting.field_mask |= field.bit();
            }
        }
    }
}

/// The words that occur in descriptions of at least two tools and are long enough to be a compound's part.
fn description_words(facts: &Facts<'_>) -> BTreeSet<String> {
    // The last tool that uses the word, and the number of tools that do.
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for (number, tool) in facts.tools.iter().enumerate() {
        let arguments = tool.arguments.iter().map(|argument| argument.description);
        for text in [tool.description].into_iter().chain(arguments) {
            let text = text.to_lowercase();
            for word in letter_runs(&text).filter(|word| word.len() >= MIN_PART_LETTERS) {
                let (last_tool, count) = match counts.get_mut(word) {
                    Some(known) => known,
                    None => counts.entry(word.to_owned()).or_insert((usize::MAX, 0)),
                };
                if *last_tool != number {
                    *last_tool = number;
                    *count += 1;
                }
            }
        }
    }
    let frequent = counts.into_iter().filter(|(_, (_, count))| *count >= 2);
    let words = frequent.map(|(word, _)| word);
    words.filter(|word| !is_stop_word(word)).collect()
}

/// The runs of lower-case ASCII letters.
fn letter_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_lowercase())
        .filter(|word| !word.is_empty())
}

/// Encodes the index. An impact is the saturated frequency of a term, from 0 to [`MAX_IMPACT`]; a search multiplies
/// it by how much the term says.
fn encode(terms: &[(String, u32)], word_counts: &[usize], postings: &[Vec<Posting>]) -> Index {
    let mut index = Index {
        trigrams: build_trigram_index(terms.iter().map(|(term, _)| term.as_str())),
        ..Index::default()
    };
    for (text, term) in terms {
        index.start_row(word_counts[*term as usize]);
        *index.terms.to_mut() += text;
        for posting in &postings[*term as usize] {
            let impact = posting.frequency / (SATURATION + posting.frequency);
            let impact = round_to_u32(impact * MAX_IMPACT).max(1);
            let posting_bytes = (posting.tool << IMPACT_BITS | impact).to_le_bytes();
            index.postings.to_mut().extend(posting_bytes);
            let name_share = round_to_u32(posting.name_share * MAX_NAME_SHARE);
            let name_share = u8::try_from(name_share).unwrap_or(u8::MAX);
            let [low, high] = posting.field_mask.to_le_bytes();
            let payload = [low, high, name_share];
            index.payloads.to_mut().extend(payload);
        }
    }
    index.start_row(0);
    index
}

impl Index {
    /// Adds the row of the next term. It also ends the row before, so there is one more than there are terms.
    fn start_row(&mut self, word_count: usize) {
        for number in [self.terms.len(), self.postings.len() / 4, word_count] {
            self.rows.to_mut().extend(to_u32(number).to_le_bytes());
        }
    }

    /// The index in the form that is searched. `tools` is the number of tools in the catalog.
    #[must_use]
    pub fn term_index(&self, tools: usize) -> TermIndex<'_> {
        TermIndex {
            terms: &self.terms,
            rows: self.rows.as_chunks().0,
            postings: self.postings.as_chunks().0,
            payloads: self.payloads.as_chunks().0,
            trigrams: TrigramIndex {
                rows: self.trigrams.rows.as_chunks().0,
                terms: self.trigrams.terms.as_chunks().0,
            },
            tools,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

/// The nearest integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts from floats saturate"
)]
pub(crate) fn round_to_u32(number: f64) -> u32 {
    number.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{Ranker, RankingMode};
    use climax_catalog::facts::ToolFacts;

    /// Tools of one CLI with names and descriptions.
    fn facts<'f>(tools: &[(&'f str, &'f str)]) -> Facts<'f> {
        let tools = tools.iter().map(|(name, description)| ToolFacts {
            name,
            description,
            ..crate::test_facts::tool(Vec::new())
        });
        Facts {
            clis: vec![crate::test_facts::cli("cli")],
            tools: tools.collect(),
            has_policy: false,
        }
    }

    /// The names of the tools that match a query, the best first.
    fn search<'f>(facts: &Facts<'f>, query: &str) -> Vec<&'f str> {
        let discovery = crate::derive(facts);
        let ranker = Ranker::new(&discovery, facts.tools.len());
        let ranking = ranker.rank(query, RankingMode::Keyword, 10, |_| true);
        let best = ranking.best.iter();
        best.map(|hit| facts.tools[hit.tool as usize].name)
            .collect()
    }

    #[test]
    fn names_outweigh_descriptions_and_rare_terms_outweigh_frequent_ones() {
        let facts = facts(&[
            ("show", "prints a file"),
            ("file_print", "writes a thing"),
            ("other", "has a file too"),
        ]);
        assert_eq!(
            search(&facts, "printing files"),
            ["file_print", "show", "other"]
        );
        assert_eq!(search(&facts, "file thing")[0], "file_print");
        assert_eq!(search(&facts, "nothing known"), [""; 0]);
    }

    #[test]
    fn compounds_in_names_match_parts_that_two_descriptions_use() {
        let facts = facts(&[
            ("lsblock", "devices"),
            ("a", "a block of it"),
            ("b", "another block"),
            ("lsonce", "once only here"),
        ]);
        assert!(search(&facts, "block").contains(&"lsblock"));
        // One description is not enough.
        assert_eq!(search(&facts, "once"), ["lsonce"]);
        assert_eq!(search(&facts, "lsbloc"), ["lsblock"]);
    }

    #[test]
    fn the_same_facts_give_the_same_bytes() {
        let tools = [
            ("git_log", "show commits"),
            ("git_add", "stage files for commits"),
        ];
        let [one, other] = [(); 2].map(|()| build_index(&facts(&tools)));
        assert_eq!(one.terms, other.terms);
        assert_eq!(one.rows, other.rows);
        assert_eq!(one.postings, other.postings);
        assert_eq!(one.payloads, other.payloads);
        assert_eq!(one.trigrams.terms, other.trigrams.terms);
    }

    #[test]
    fn an_index_without_tools_finds_nothing() {
        assert_eq!(search(&facts(&[]), "anything"), [""; 0]);
    }
}

//! Turns what is known of tools into an index that ranks them: for each term the tools that have it,
//! and how much it says about each of them (BM25F). All of that is worked out here, when the catalog is
//! built; a search adds up numbers.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use climax_catalog::facts::Facts;

use crate::rank;
use crate::tokens::{Tokeniser, is_filler, words};
use crate::trigrams::{self, Trigrams};

/// A place in what is known of a tool where a term can be.
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
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Cli,
        Self::Description,
        Self::CliDescription,
        Self::Argument,
        Self::ArgumentDescription,
        Self::Category,
        Self::Tag,
    ];

    /// How much a term in it counts, and how much less in a long one: 0 not at all, 1 in proportion.
    fn weight(self) -> (f64, f64) {
        match self {
            Self::Name => (3.0, 0.3),
            Self::Cli => (2.25, 0.0),
            Self::Description => (1.05, 0.6),
            Self::CliDescription => (0.5, 0.4),
            Self::Argument | Self::ArgumentDescription => (1.5, 0.75),
            Self::Category | Self::Tag => (0.2, 0.0),
        }
    }

    /// Whose length counts: names and descriptions of arguments are one text.
    fn length(self) -> usize {
        match self {
            Self::ArgumentDescription => Self::Argument as usize,
            other => other as usize,
        }
    }

    fn mark(self) -> u8 {
        1 << self as u8
    }

    /// Whether a posting's marks have it.
    #[must_use]
    pub fn is_in(self, marks: u8) -> bool {
        marks & self.mark() != 0
    }
}

/// How fast more of the same term stops to count.
const SATURATION: f64 = 1.2;
/// The greatest impact, and the greatest share.
pub(crate) const MOST: f64 = 255.0;
/// How far a tool's number is shifted in a posting to make room for the impact.
pub(crate) const SHIFT: u32 = 8;
/// The shortest word that is looked for at the ends of longer ones.
const SHORTEST_PART: usize = 4;

climax_catalog::tables! {
    /// The index. Numbers in it are little-endian, of four bytes.
    Index {
        /// Each term once, sorted, without gaps.
        terms: Cow<'static, str>,
        /// Two numbers for each term, and for the end: where it begins in the text, and where its postings
        /// begin.
        rows: Cow<'static, [u8]>,
        /// For each tool that has a term: its number and the impact.
        postings: Cow<'static, [u8]>,
        /// Two bytes for each posting: in which fields the term is, and how much of the names of tool and
        /// CLI it makes up.
        marks: Cow<'static, [u8]>,
        /// Terms by their trigrams.
        trigrams: Trigrams,
        /// The impact of a term that would be in one tool only, and there everything.
        rarest: u32,
    }
}

/// A term of a tool while the index is made.
#[derive(Default)]
struct Posting {
    tool: u32,
    frequency: f64,
    marks: u8,
    share: f64,
}

/// Indexes tools.
///
/// # Panics
/// There are 2^24 tools, or 4 GiB of terms.
#[must_use]
pub fn index(facts: &Facts<'_>) -> Index {
    let mut collector = Collector::default();
    let fields = collector.fields(facts);
    let averages = averages(facts, &fields);
    let mut postings: Vec<Vec<Posting>> = Vec::new();
    postings.resize_with(collector.terms.len(), Vec::new);
    for (number, tool) in (0..).zip(&facts.tools) {
        for field in Field::ALL {
            let terms = fields.of(field, number as usize, tool.cli);
            let (weight, by_length) = field.weight();
            let length = fields.length(field, number as usize, tool.cli) / averages[field.length()];
            let frequency = weight / (1.0 - by_length + by_length * length);
            for term in terms {
                let posting = posting(&mut postings[*term as usize], number);
                posting.frequency += frequency;
                posting.marks |= field.mark();
            }
        }
    }
    let rarities: Vec<f64> = postings
        .iter()
        .map(|postings| rarity(facts.tools.len(), postings.len()))
        .collect();
    for (number, tool) in (0..).zip(&facts.tools) {
        for field in [Field::Name, Field::Cli] {
            let terms = fields.of(field, number as usize, tool.cli);
            let terms: BTreeSet<u32> = terms.iter().copied().collect();
            let whole: f64 = terms.iter().map(|term| rarities[*term as usize]).sum();
            for term in terms {
                let posting = of_tool(&mut postings[term as usize], number);
                posting.share += rarities[term as usize] / whole / 2.0;
            }
        }
    }
    add_parts(facts, &collector, &fields, &mut postings);
    let mut terms: Vec<(String, u32)> = collector.terms.into_iter().collect();
    terms.sort_unstable();
    layout(facts.tools.len(), &terms, &rarities, &postings)
}

/// The posting of the tool that is being added.
fn posting(postings: &mut Vec<Posting>, tool: u32) -> &mut Posting {
    if postings.last().is_none_or(|last| last.tool != tool) {
        postings.push(Posting {
            tool,
            ..Posting::default()
        });
    }
    let last = postings.len() - 1;
    &mut postings[last]
}

/// The posting of a tool, which may be one that had none.
fn of_tool(postings: &mut Vec<Posting>, tool: u32) -> &mut Posting {
    let at = postings.partition_point(|posting| posting.tool < tool);
    if postings.get(at).is_none_or(|posting| posting.tool != tool) {
        let posting = Posting {
            tool,
            ..Posting::default()
        };
        postings.insert(at, posting);
    }
    &mut postings[at]
}

/// How much a term tells that some tools have.
pub(crate) fn rarity(tools: usize, having: usize) -> f64 {
    libm::log(1.0 + real(tools) / real(having))
}

/// The words that were seen, and their terms.
#[derive(Default)]
struct Collector {
    tokeniser: Tokeniser,
    /// The term of each word, if it has one.
    words: HashMap<String, Option<u32>>,
    terms: HashMap<String, u32>,
}

impl Collector {
    fn terms<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
        let mut found = Vec::new();
        for text in texts {
            words(text, |word| {
                if let Some(known) = self.words.get(word) {
                    found.extend(known);
                    return;
                }
                let next = number(self.terms.len());
                let term = self.tokeniser.term(word);
                let term = term.map(|term| *self.terms.entry(term.into_owned()).or_insert(next));
                self.words.insert(word.to_owned(), term);
                found.extend(term);
            });
        }
        found
    }

    fn fields(&mut self, facts: &Facts<'_>) -> Fields {
        let mut fields = Fields::default();
        for tool in &facts.tools {
            let arguments = || tool.arguments.iter();
            fields.of_tools.push([
                self.terms([tool.name].into_iter()),
                self.terms([tool.description].into_iter()),
                self.terms(arguments().map(|argument| argument.name)),
                self.terms(arguments().map(|argument| argument.description)),
            ]);
        }
        for cli in &facts.clis {
            fields.of_clis.push([
                self.terms([cli.name].into_iter()),
                self.terms([cli.description].into_iter()),
                self.terms(cli.category.into_iter()),
                self.terms(cli.tags.iter().copied()),
            ]);
        }
        fields
    }
}

/// The terms of all fields: those of a tool by its number, those of its CLI by the CLI's.
#[derive(Default)]
struct Fields {
    of_tools: Vec<[Vec<u32>; 4]>,
    of_clis: Vec<[Vec<u32>; 4]>,
}

impl Fields {
    fn of(&self, field: Field, tool: usize, cli: usize) -> &[u32] {
        match field {
            Field::Name => &self.of_tools[tool][0],
            Field::Description => &self.of_tools[tool][1],
            Field::Argument => &self.of_tools[tool][2],
            Field::ArgumentDescription => &self.of_tools[tool][3],
            Field::Cli => &self.of_clis[cli][0],
            Field::CliDescription => &self.of_clis[cli][1],
            Field::Category => &self.of_clis[cli][2],
            Field::Tag => &self.of_clis[cli][3],
        }
    }

    fn length(&self, field: Field, tool: usize, cli: usize) -> f64 {
        let fields = Field::ALL.into_iter();
        let fields = fields.filter(|other| other.length() == field.length());
        real(fields.map(|field| self.of(field, tool, cli).len()).sum())
    }
}

/// How many terms each field has on average, by its length's number; never nothing.
fn averages(facts: &Facts<'_>, fields: &Fields) -> [f64; Field::ALL.len()] {
    Field::ALL.map(|field| {
        let tools = facts.tools.iter().enumerate();
        let lengths = tools.map(|(number, tool)| fields.length(field, number, tool.cli));
        let average = lengths.sum::<f64>() / real(facts.tools.len().max(1));
        if average > 0.0 { average } else { 1.0 }
    })
}

/// Adds the parts of names that are written as one word: `gzip` has `zip`, if texts speak of it.
fn add_parts(
    facts: &Facts<'_>,
    collector: &Collector,
    fields: &Fields,
    postings: &mut [Vec<Posting>],
) {
    let known = words_of_texts(facts);
    for (number, tool) in (0..).zip(&facts.tools) {
        let mut found: Vec<(&str, f64, Field)> = Vec::new();
        let name = tool.name.to_lowercase();
        let cli = facts.cli_of(tool).name.to_lowercase();
        let of_name = letters(&name).map(|word| (word, Field::Name));
        let of_cli = letters(&cli).map(|word| (word, Field::Cli));
        for (word, field) in of_name.chain(of_cli) {
            for length in SHORTEST_PART..word.len() {
                for part in [&word[..length], &word[word.len() - length..]] {
                    if let Some(part) = known.get(part) {
                        let share = real(length) / real(word.len());
                        match found.iter_mut().find(|(found, _, _)| found == part) {
                            Some(found) => found.1 = found.1.max(share),
                            None => found.push((part, share, field)),
                        }
                    }
                }
            }
        }
        found.sort_by_key(|(part, _, _)| *part);
        let own = |term: &u32| {
            let names = [Field::Name, Field::Cli].into_iter();
            names
                .into_iter()
                .any(|field| fields.of(field, number as usize, tool.cli).contains(term))
        };
        let is_whole = |part: &str| {
            let mut others = found.iter().filter(|(other, _, _)| *other != part);
            !others.any(|(other, _, _)| other.contains(part))
        };
        for (part, share, field) in found.iter().filter(|(part, _, _)| is_whole(part)) {
            let term = collector
                .terms
                .get(&*collector.tokeniser.stem(part))
                .copied();
            if let Some(term) = term.filter(|term| !own(term)) {
                let posting = of_tool(&mut postings[term as usize], number);
                posting.frequency += share;
                posting.marks |= field.mark();
            }
        }
    }
}

/// The words that descriptions of at least two tools have and that are long enough to be parts.
fn words_of_texts(facts: &Facts<'_>) -> BTreeSet<String> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for (number, tool) in facts.tools.iter().enumerate() {
        let arguments = tool.arguments.iter().map(|argument| argument.description);
        for text in [tool.description].into_iter().chain(arguments) {
            let text = text.to_lowercase();
            for word in letters(&text).filter(|word| word.len() >= SHORTEST_PART) {
                let (last, count) = match counts.get_mut(word) {
                    Some(known) => known,
                    None => counts.entry(word.to_owned()).or_insert((usize::MAX, 0)),
                };
                if *last != number {
                    *last = number;
                    *count += 1;
                }
            }
        }
    }
    let known = counts.into_iter().filter(|(_, (_, count))| *count >= 2);
    let known = known.map(|(word, _)| word);
    known.filter(|word| !is_filler(word)).collect()
}

/// The runs of plain letters.
fn letters(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_lowercase())
        .filter(|word| !word.is_empty())
}

fn layout(
    tools: usize,
    terms: &[(String, u32)],
    rarities: &[f64],
    postings: &[Vec<Posting>],
) -> Index {
    let impact = |term: u32, posting: &Posting| {
        rarities[term as usize] * posting.frequency / (SATURATION + posting.frequency)
    };
    let impacts = (0..)
        .zip(postings)
        .flat_map(|(term, postings)| postings.iter().map(move |posting| impact(term, posting)));
    let unit = impacts.fold(0.0, f64::max) / MOST;
    let mut index = Index {
        rarest: whole(libm::log(1.0 + real(tools)) / unit.max(f64::MIN_POSITIVE)),
        trigrams: trigrams::index(terms.iter().map(|(term, _)| term.as_str())),
        ..Index::default()
    };
    for (text, term) in terms {
        index.end_row();
        *index.terms.to_mut() += text;
        for posting in &postings[*term as usize] {
            let impact = whole(impact(*term, posting) / unit).max(1);
            let share = whole(posting.share * MOST);
            let posting_bytes = (posting.tool << SHIFT | impact).to_le_bytes();
            index.postings.to_mut().extend(posting_bytes);
            let share = u8::try_from(share).unwrap_or(u8::MAX);
            index.marks.to_mut().extend([posting.marks, share]);
        }
    }
    index.end_row();
    index
}

impl Index {
    /// Where the next row begins, and the one before ends.
    fn end_row(&mut self) {
        for position in [self.terms.len(), self.postings.len() / 4] {
            self.rows.to_mut().extend(number(position).to_le_bytes());
        }
    }

    /// The index as it is searched, for so many tools.
    #[must_use]
    pub fn ranking(&self, tools: usize) -> rank::View<'_> {
        rank::View {
            terms: &self.terms,
            rows: self.rows.as_chunks().0,
            postings: self.postings.as_chunks().0,
            notes: self.marks.as_chunks().0,
            trigrams: trigrams::View {
                rows: self.trigrams.rows.as_chunks().0,
                words: self.trigrams.words.as_chunks().0,
            },
            rarest: self.rarest,
            tools,
        }
    }
}

fn number(position: usize) -> u32 {
    u32::try_from(position).expect("less than 4 GiB of terms")
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn real(count: usize) -> f64 {
    count as f64
}

/// The nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates"
)]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Mode;
    use climax_catalog::facts::Tool;

    /// Tools of one CLI: their names and descriptions.
    fn facts<'f>(tools: &[(&'f str, &'f str)]) -> Facts<'f> {
        let tools = tools.iter().map(|(name, description)| Tool {
            name,
            description,
            ..crate::sample::tool(Vec::new())
        });
        Facts {
            clis: vec![crate::sample::cli("cli")],
            tools: tools.collect(),
            has_policy: false,
        }
    }

    /// The names of the tools that a query finds, the best first.
    fn found<'f>(facts: &Facts<'f>, query: &str) -> Vec<&'f str> {
        let index = index(facts);
        let ranking = index.ranking(facts.tools.len());
        let ranked = ranking.rank(query, Mode::Keyword, 10, |_| true);
        let best = ranked.best.iter();
        best.map(|hit| facts.tools[hit.tool as usize].name)
            .collect()
    }

    #[test]
    fn names_count_more_than_descriptions_and_rare_words_more_than_usual_ones() {
        let facts = facts(&[
            ("show", "prints a file"),
            ("file_print", "writes a thing"),
            ("other", "has a file too"),
        ]);
        assert_eq!(
            found(&facts, "printing files"),
            ["file_print", "show", "other"]
        );
        assert_eq!(found(&facts, "file thing")[0], "file_print");
        assert_eq!(found(&facts, "nothing known"), [""; 0]);
    }

    #[test]
    fn a_name_that_is_one_word_has_the_parts_that_texts_speak_of() {
        let facts = facts(&[
            ("lsblock", "devices"),
            ("a", "a block of it"),
            ("b", "another block"),
            ("lsonce", "once only here"),
        ]);
        assert!(found(&facts, "block").contains(&"lsblock"));
        // One text is not enough.
        assert_eq!(found(&facts, "once"), ["lsonce"]);
        assert_eq!(found(&facts, "lsbloc"), ["lsblock"]);
    }

    #[test]
    fn the_same_facts_make_the_same_bytes() {
        let tools = [
            ("git_log", "show commits"),
            ("git_add", "stage files for commits"),
        ];
        let [one, other] = [index(&facts(&tools)), index(&facts(&tools))];
        assert_eq!(one.terms, other.terms);
        assert_eq!(one.rows, other.rows);
        assert_eq!(one.postings, other.postings);
        assert_eq!(one.marks, other.marks);
        assert_eq!(one.trigrams.words, other.trigrams.words);
    }

    #[test]
    fn no_tools_are_an_index_too() {
        assert_eq!(found(&facts(&[]), "anything"), [""; 0]);
    }
}

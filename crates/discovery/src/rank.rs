//! Query -> the tools that fit it best.

use std::ops::Range;

use crate::index::{MOST, SHIFT, rarity};
use crate::quotations::quotations;
use crate::tokens::{Tokeniser, words};
use crate::trigrams::{self, dice, distance, is_plain};

/// How words of a query are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As they are, and as they were meant if nobody knows them.
    Keyword,
    /// Words that are written alike count too.
    Hybrid,
    /// Even more of them.
    Semantic,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Semantic, Self::Hybrid, Self::Keyword];

    /// How it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
        }
    }

    /// Which words count that are written alike.
    fn likeness(self) -> Option<Likeness> {
        let (least, factor, most) = match self {
            Self::Keyword => return None,
            Self::Hybrid => (0.55, 0.4, 5),
            Self::Semantic => (0.5, 0.7, 8),
        };
        Some(Likeness {
            least,
            factor,
            most,
        })
    }
}

/// Which words count that are written alike.
#[derive(Clone, Copy)]
struct Likeness {
    /// How alike they must be.
    least: f64,
    /// How much they count.
    factor: f64,
    /// How many of them.
    most: usize,
}

/// How much a word counts that nobody knows and that is one letter off, if it is long and if it is short,
/// and two letters off.
const ONE_OFF: f64 = 0.7;
const ONE_OFF_SHORT: f64 = 0.3;
const TWO_OFF: f64 = 0.35;
/// How many words such a word may have been meant to be.
const MOST_MEANT: usize = 3;
/// How much more a tool counts whose names are all in the query.
const NAMED: f64 = 0.1;
/// How many hits are kept sorted while more are found.
const FEW: usize = 64;
/// How much of what a tool does not have counts against it.
const UNMET: f64 = 0.3;
/// The parts of a weight.
const PARTS: f64 = 256.0;

/// An index, baked or not.
#[derive(Clone, Copy)]
pub struct View<'i> {
    /// See [`crate::index::Index`].
    pub terms: &'i str,
    /// See [`crate::index::Index`].
    pub rows: &'i [[u8; 8]],
    /// See [`crate::index::Index`].
    pub postings: &'i [[u8; 4]],
    /// See [`crate::index::Index`].
    pub notes: &'i [[u8; 2]],
    /// See [`crate::index::Index`].
    pub trigrams: trigrams::View<'i>,
    /// See [`crate::index::Index`].
    pub rarest: u32,
    /// How many tools there are.
    pub tools: usize,
}

/// How a word of a query came to its term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is the word's own.
    Known,
    /// Nobody knows the word, and this may have been meant.
    Meant,
    /// It is written alike.
    Alike,
}

/// A word of a query.
struct Sought {
    word: String,
    term: String,
    /// The term's row, if it is known.
    row: Option<usize>,
    /// How much it counts.
    weight: f64,
}

/// A term that tools are looked up by.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The word of the query.
    pub word: String,
    /// The term's row.
    pub row: usize,
    /// How much it counts.
    weight: f64,
    /// How the word came to it.
    pub way: Way,
}

/// A word of a query that tells something.
#[derive(Clone, Debug)]
pub struct Word {
    /// As it was folded.
    pub text: String,
    /// Whether somebody knows it, or what it may have been meant to be.
    pub is_known: bool,
    /// The rows of all terms that it came to.
    pub rows: Vec<usize>,
}

/// A tool that was found.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Its number.
    pub tool: u32,
    /// How well it fits, as compared with other tools.
    pub points: f64,
}

/// What came of a query.
pub struct Ranked {
    /// The best, the best first; in their order if they are as good.
    pub best: Vec<Hit>,
    /// How many fit at all.
    pub total: usize,
    /// What was looked up.
    pub asked: Vec<Asked>,
    /// The words of the query that tell something.
    pub words: Vec<Word>,
    /// Tools all of whose name is in the query.
    pub named: Vec<u32>,
    /// The points of a tool that would fit in every way.
    possible: f64,
}

impl<'i> View<'i> {
    /// Ranks the tools that are offered.
    #[must_use]
    pub fn rank(
        &self,
        query: &str,
        mode: Mode,
        limit: usize,
        offered: impl Fn(u32) -> bool,
    ) -> Ranked {
        let mut ranked = Ranked {
            best: Vec::new(),
            total: 0,
            asked: Vec::new(),
            words: Vec::new(),
            named: Vec::new(),
            possible: 0.0,
        };
        self.ask(query, mode, &mut ranked);
        // Points by what tools have, and how much of their names that makes up.
        let mut scores: Vec<[u32; 2]> = vec![[0; 2]; self.tools];
        for asked in &ranked.asked {
            let weight = whole(asked.weight * PARTS);
            for (tool, impact, [_, share]) in self.postings(asked.row) {
                if let Some([points, named]) = scores.get_mut(tool as usize) {
                    *points += weight * impact;
                    *named += weight * u32::from(share);
                }
            }
        }
        let unit = NAMED * 2.0 / (MOST * PARTS);
        for (tool, [points, named]) in (0..).zip(scores) {
            if points == 0 || !offered(tool) {
                continue;
            }
            ranked.total += 1;
            // A name makes up half of a share.
            if f64::from(named) >= 0.49 * MOST * PARTS {
                ranked.named.push(tool);
            }
            let points = f64::from(points) * (1.0 + unit * f64::from(named)) / PARTS;
            ranked.insert(Hit { tool, points }, limit);
        }
        if limit > FEW {
            ranked
                .best
                .sort_by(|one, other| other.points.total_cmp(&one.points));
            ranked.best.truncate(limit);
        }
        ranked
    }

    /// Finds out what to look up for a query.
    fn ask(&self, query: &str, mode: Mode, ranked: &mut Ranked) {
        let mut counts = Vec::new();
        for sought in self.sought(query) {
            let weight = sought.weight;
            ranked.words.push(Word {
                text: sought.word.clone(),
                is_known: false,
                rows: Vec::new(),
            });
            match sought.row {
                Some(row) => {
                    let impacts = self.postings(row).map(|(_, impact, _)| impact);
                    ranked.possible += weight * f64::from(impacts.max().unwrap_or(0));
                    ranked.ask(&sought.word, row, weight, Way::Known);
                }
                None => ranked.possible += weight * f64::from(self.rarest),
            }
            let is_unknown = sought.row.is_none();
            let likeness = mode.likeness();
            if (is_unknown || likeness.is_some()) && is_plain(&sought.term) {
                counts.resize(self.rows.len(), 0);
                let least = least_common(sought.term.len(), is_unknown, likeness);
                let mut neighbours = Vec::new();
                self.trigrams
                    .alike(&sought.term, &mut counts, |row, common| {
                        if common >= least {
                            neighbours.push((row, common));
                        }
                    });
                if is_unknown {
                    self.ask_meant(&sought, &neighbours, ranked);
                }
                if let Some(likeness) = likeness {
                    self.ask_alike(&sought, &neighbours, likeness, ranked);
                }
            }
        }
    }

    /// The words of a query that tell something, each term once.
    fn sought(&self, query: &str) -> Vec<Sought> {
        let tokeniser = Tokeniser::default();
        let mut all: Vec<Sought> = Vec::new();
        for (text, weight) in quotations(query) {
            words(text, |word| {
                let Some(term) = tokeniser.term(word) else {
                    return;
                };
                match all.iter_mut().find(|known| known.term == term) {
                    Some(known) => known.weight = known.weight.max(weight),
                    None => all.push(Sought {
                        row: self.find(&term),
                        term: term.into_owned(),
                        word: word.to_owned(),
                        weight,
                    }),
                }
            });
        }
        all
    }

    /// Asks for terms that a word may have been meant to be which nobody knows.
    fn ask_meant(&self, sought: &Sought, neighbours: &[(usize, usize)], ranked: &mut Ranked) {
        let term = sought.term.as_str();
        let most: u8 = if term.len() >= 8 { 2 } else { 1 };
        // A word of few letters, two of them swapped, has no trigram left.
        let first = &term[..1];
        let same_letter = self.position(first)..self.position(&format!("{first}{}", char::MAX));
        let rows = neighbours.iter().map(|(row, _)| *row);
        let mut meant: Vec<_> = rows
            .chain(same_letter)
            .filter_map(|row| {
                // Most are too long or too short.
                if self.length(row).abs_diff(term.len()) > usize::from(most) {
                    return None;
                }
                let other = self.term(row);
                let distance = distance(term, other, most)?;
                let is_word = other.len() >= 3 && other.bytes().all(|it| it.is_ascii_lowercase());
                let is_elsewhere = !other.starts_with(first);
                let rareness = usize::MAX - self.postings(row).len();
                is_word.then_some((distance, is_elsewhere, rareness, row))
            })
            .collect();
        meant.sort_unstable();
        meant.dedup();
        let nearest = meant.first().map_or(0, |meant| meant.0);
        let meant = meant.iter().filter(|meant| meant.0 == nearest);
        for (distance, _, _, row) in meant.take(MOST_MEANT) {
            let factor = match (distance, term.len()) {
                (..=1, 6..) => ONE_OFF,
                (..=1, _) => ONE_OFF_SHORT,
                _ => TWO_OFF,
            };
            ranked.ask(&sought.word, *row, sought.weight * factor, Way::Meant);
        }
    }

    /// Asks for terms that are written like a word.
    fn ask_alike(
        &self,
        sought: &Sought,
        neighbours: &[(usize, usize)],
        likeness: Likeness,
        ranked: &mut Ranked,
    ) {
        let others = neighbours
            .iter()
            .filter(|(other, _)| Some(*other) != sought.row);
        let mut alike: Vec<(f64, usize)> = others
            .map(|(other, common)| (dice(&sought.term, self.term(*other), *common), *other))
            .filter(|(dice, _)| *dice >= likeness.least)
            .collect();
        alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        for (dice, other) in alike.into_iter().take(likeness.most) {
            let mut weight = sought.weight * likeness.factor * dice * dice;
            if let Some(row) = sought.row {
                let rarities = [row, other].map(|row| rarity(self.tools, self.postings(row).len()));
                weight *= (rarities[0] / rarities[1]).min(1.0);
            }
            ranked.ask(&sought.word, other, weight, Way::Alike);
        }
    }

    /// The row of a term.
    fn find(&self, term: &str) -> Option<usize> {
        let at = self.position(term);
        (at + 1 < self.rows.len() && self.term(at) == term).then_some(at)
    }

    /// The first row whose term is not before a text.
    fn position(&self, text: &str) -> usize {
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
        let start = |row: usize| half(self.rows[row], 0);
        &self.terms[start(row)..start(row + 1)]
    }

    /// How many bytes the term of a row has.
    fn length(&self, row: usize) -> usize {
        let start = |row: usize| half(self.rows[row], 0);
        start(row + 1) - start(row)
    }

    /// The tools that have a row's term, what it tells about them, and notes about it.
    fn postings(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, u32, [u8; 2])> {
        let range = self.range(row);
        let postings = &self.postings[range.clone()];
        let notes = &self.notes[range];
        postings.iter().zip(notes).map(|(posting, notes)| {
            let posting = u32::from_le_bytes(*posting);
            (posting >> SHIFT, posting & ((1 << SHIFT) - 1), *notes)
        })
    }

    /// In which fields a tool has a row's term: marks of [`crate::index::Field`]s, or nothing.
    #[must_use]
    pub fn marks(&self, row: usize, tool: u32) -> u8 {
        let range = self.range(row);
        let postings = &self.postings[range.clone()];
        let at = postings.binary_search_by_key(&tool, |it| u32::from_le_bytes(*it) >> SHIFT);
        at.map_or(0, |at| self.notes[range.start + at][0])
    }

    /// Where a row's postings are.
    fn range(&self, row: usize) -> Range<usize> {
        half(self.rows[row], 4)..half(self.rows[row + 1], 4)
    }
}

/// One of the two numbers of a row.
fn half(row: [u8; 8], at: usize) -> usize {
    let bytes = row[at..].first_chunk().expect("a row has two numbers");
    u32::from_le_bytes(*bytes) as usize
}

impl Ranked {
    /// Adds a hit where it belongs, if it is among the best. Where many are wanted, they are sorted in the
    /// end.
    fn insert(&mut self, hit: Hit, limit: usize) {
        if limit > FEW {
            self.best.push(hit);
            return;
        }
        let is_full = self.best.len() >= limit;
        let is_worse = |last: &Hit| last.points >= hit.points;
        if is_full && self.best.last().is_none_or(is_worse) {
            return;
        }
        self.best.truncate(limit - 1);
        let at = self.best.partition_point(is_worse);
        self.best.insert(at, hit);
    }

    /// A term that two words come to counts as much as for the one for which it counts more.
    fn ask(&mut self, word: &str, row: usize, weight: f64, way: Way) {
        if let Some(word) = self.words.last_mut() {
            word.rows.push(row);
            word.is_known |= way != Way::Alike;
        }
        let asked = Asked {
            word: word.to_owned(),
            row,
            weight,
            way,
        };
        match self.asked.iter_mut().find(|asked| asked.row == row) {
            Some(known) if known.weight >= weight => {}
            Some(known) => *known = asked,
            None => self.asked.push(asked),
        }
    }

    /// How sure it is that a hit is what was looked for, from 0 to 1: by how much of what was asked for it
    /// has, and by how far it is before the next one, or behind the first. What it does not have could be
    /// had by another, if there were one.
    #[must_use]
    pub fn score(&self, hit: &Hit) -> f64 {
        let mut others = self.best.iter().filter(|other| other.tool != hit.tool);
        let other = others.next().map_or(0.0, |other| other.points);
        if hit.points <= 0.0 {
            return 0.0;
        }
        let told = hit.points / MOST;
        let of_possible = (hit.points / self.possible).min(1.0);
        let other = other.max(UNMET * (self.possible - hit.points));
        let margin = hit.points / (hit.points + other);
        let square = margin * margin;
        let odds = 100.0 * told * (told * of_possible).sqrt() * square * square * square * square;
        odds / (1.0 + odds)
    }
}

/// How many trigrams a term must have in common with another to be looked at.
fn least_common(length: usize, is_unknown: bool, likeness: Option<Likeness>) -> usize {
    // Changing a letter changes three trigrams, and so does each of two.
    let meant = is_unknown.then(|| length.saturating_sub(if length >= 8 { 6 } else { 3 }));
    // The other term has at least the common ones.
    let alike = likeness.map(|Likeness { least, .. }| {
        let length = u32::try_from(length).map_or(0.0, f64::from);
        whole(least * length / (2.0 - least)) as usize
    });
    meant.into_iter().chain(alike).min().unwrap_or(1).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates"
)]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

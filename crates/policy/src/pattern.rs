//! Patterns: from text to something that says of a value whether all of it matches, in time that
//! grows with the value's length and nothing else.
//!
//! The usual pattern is an automaton that was made when the server was built. One that came with a
//! policy at the start, or that would be too large, is made piece by piece while it is used.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::dfa::Automaton;
use regex_automata::dfa::sparse;
use regex_automata::hybrid;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::{Anchored, Input};
use regex_syntax::ast;
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Hir, HirKind, Look};

pub use crate::python::PatternProblem;
use crate::python::translate;
use crate::write_out::write_out;

/// How many bytes the states of a pattern may take before it counts as too large.
const LARGEST: usize = 10 * 1024 * 1024;

/// How many steps a match may take that goes through all states for each character: 0.1 seconds.
const MOST_STEPS: usize = 10_000_000;

/// A pattern that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As it is written.
    pub text: String,
    /// As JSON Schema says it, if it can.
    pub schema: Option<String>,
    /// Whether all that it matches begins with a dash.
    pub begins_with_dash: bool,
    /// The automaton that a binary holds for it; empty if there is none.
    pub automaton: Vec<u8>,
    /// What it matches, and nothing before or after it.
    whole: Hir,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is none, or has something that is not supported.
    pub fn parse(text: &str) -> Result<Self, PatternProblem> {
        let translated = translate(text)?;
        let text_of_engine = &translated.engine;
        let mut ast = ast::parse::Parser::new()
            .parse(text_of_engine)
            .map_err(|error| syntax_problem(error.kind()))?;
        write_out(&mut ast);
        let hir = Translator::new()
            .translate(text_of_engine, &ast)
            .map_err(|error| syntax_problem(error.kind()))?;
        let begins_with_dash = begins_with_dash(&hir);
        let whole = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
        let pattern = Self {
            text: text.to_owned(),
            schema: translated.schema,
            begins_with_dash,
            automaton: Vec::new(),
            whole,
        };
        pattern.nfa()?;
        Ok(pattern)
    }

    fn nfa(&self) -> Result<NFA, PatternProblem> {
        let config = thompson::Config::new()
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(LARGEST));
        thompson::Compiler::new()
            .configure(config)
            .build_from_hir(&self.whole)
            .map_err(|_| {
                PatternProblem::new(
                    "the pattern is too large",
                    "lower the numbers in `{...}`, or write `[0-9]` for `\\d` and \
                     `[A-Za-z0-9_]` for `\\w`",
                )
            })
    }

    /// The automaton as bytes for [`is_match`]; empty if it would be too large.
    #[cfg(feature = "bake")]
    #[must_use]
    pub fn bake(&self) -> Vec<u8> {
        use regex_automata::dfa::{StartKind, dense};
        /// Usual patterns have a few kilobytes.
        const LARGEST_BAKED: usize = 256 * 1024;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .unicode_word_boundary(true)
            .dfa_size_limit(Some(8 * LARGEST_BAKED))
            .determinize_size_limit(Some(8 * LARGEST_BAKED));
        let nfa = self.nfa().ok();
        let automaton = nfa.and_then(|nfa| {
            let dense = dense::Builder::new().configure(config).build_from_nfa(&nfa);
            dense.ok()?.to_sparse().ok()
        });
        automaton
            .map(|automaton| automaton.to_bytes_little_endian())
            .filter(|bytes| bytes.len() <= LARGEST_BAKED)
            .unwrap_or_default()
    }
}

fn syntax_problem(what: &impl fmt::Display) -> PatternProblem {
    PatternProblem::new(
        format!("this is no pattern: {what}"),
        "write `\\` before a sign that is meant as such: `( ) [ ] { } * + ? . | ^ $`",
    )
}

/// Whether everything that is matched begins with a literal dash.
fn begins_with_dash(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.starts_with(b"-"),
        HirKind::Class(class) => class.literal().is_some_and(|bytes| bytes == b"-"),
        HirKind::Repetition(repetition) => repetition.min > 0 && begins_with_dash(&repetition.sub),
        HirKind::Capture(capture) => begins_with_dash(&capture.sub),
        HirKind::Concat(parts) => {
            let is_look = |part: &&Hir| matches!(part.kind(), HirKind::Look(_));
            parts
                .iter()
                .find(|part| !is_look(part))
                .is_some_and(begins_with_dash)
        }
        HirKind::Alternation(parts) => parts.iter().all(begins_with_dash),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Whether all of a value matches a pattern that was found to be one, with the automaton that was
/// baked for it, if there is one.
#[must_use]
pub fn is_match(pattern: &str, baked: &'static [u8], value: &str) -> bool {
    if !baked.is_empty()
        && let Some(automaton) = loaded(pattern, baked)
        && let Ok(found) = automaton.try_search_fwd(&input(value))
    {
        return found.is_some();
    }
    // What cannot be checked is not allowed.
    made(pattern).is_some_and(|engine| engine.is_match(value))
}

/// What was baked for a pattern. It is looked through when it is used first, and not again.
fn loaded(pattern: &str, baked: &'static [u8]) -> Option<Arc<sparse::DFA<&'static [u8]>>> {
    static LOADED: Kept<sparse::DFA<&'static [u8]>> = Mutex::new(BTreeMap::new());
    kept(&LOADED, pattern, || {
        Some(sparse::DFA::from_bytes(baked).ok()?.0)
    })
}

/// What was made for a pattern at run time, or is made now.
fn made(pattern: &str) -> Option<Arc<Engine>> {
    static MADE: Kept<Engine> = Mutex::new(BTreeMap::new());
    kept(&MADE, pattern, || Engine::new(pattern))
}

/// Something for each pattern, or nothing where that is not possible.
type Kept<T> = Mutex<BTreeMap<String, Option<Arc<T>>>>;

fn kept<T>(all: &Kept<T>, pattern: &str, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(one) = all.get(pattern) {
        return one.clone();
    }
    let one = make().map(Arc::new);
    all.insert(pattern.to_owned(), one.clone());
    one
}

fn input(value: &str) -> Input<'_> {
    Input::new(value).anchored(Anchored::Yes).earliest(true)
}

/// An automaton that grows as it is used, within bounds.
struct Engine {
    automaton: hybrid::dfa::DFA,
    cache: Mutex<hybrid::dfa::Cache>,
    nfa: NFA,
    shortest: usize,
    longest: usize,
}

impl Engine {
    fn new(text: &str) -> Option<Self> {
        let pattern = Pattern::parse(text).ok()?;
        let nfa = pattern.nfa().ok()?;
        let properties = pattern.whole.properties();
        // It gives up rather than making the same states again and again.
        let config = hybrid::dfa::Config::new()
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(8))
            .minimum_bytes_per_state(Some(8));
        let automaton = hybrid::dfa::Builder::new()
            .configure(config)
            .build_from_nfa(nfa.clone())
            .ok()?;
        Some(Self {
            cache: Mutex::new(automaton.create_cache()),
            automaton,
            nfa,
            shortest: properties.minimum_len().unwrap_or(0),
            longest: properties.maximum_len().unwrap_or(usize::MAX),
        })
    }

    fn is_match(&self, value: &str) -> bool {
        if !(self.shortest..=self.longest).contains(&value.len()) {
            return false;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.automaton.try_search_fwd(&mut cache, &input(value));
        match found {
            Ok(found) => found.is_some(),
            // Word boundaries beside letters beyond ASCII, or too many states.
            Err(_) => self.is_match_slowly(value),
        }
    }

    fn is_match_slowly(&self, value: &str) -> bool {
        // A large pattern does not hold up the server with a long value. It is not allowed.
        let steps = self.nfa.states().len().saturating_mul(value.len());
        steps <= MOST_STEPS
            && PikeVM::new_from_nfa(self.nfa.clone())
                .is_ok_and(|machine| machine.is_match(&mut machine.create_cache(), input(value)))
    }
}

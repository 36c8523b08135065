//! Compiles patterns to automata that match a whole value in time linear in its length. An automaton is built while it
//! matches.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::hybrid;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::{Anchored, Input};
use regex_syntax::ast;
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Hir, HirKind, Look};

use crate::expand::expand_case_and_classes;
pub use crate::python::PatternProblem;
use crate::python::translate;

/// A pattern whose NFA takes more bytes is refused.
const MAX_NFA_BYTES: usize = 10 * 1024 * 1024;

/// Steps (NFA states times bytes of the value) that a simulation of the NFA may take; about 0.1 seconds.
const MAX_NFA_STEPS: usize = 10_000_000;

/// A valid pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The source, in the syntax of Python.
    pub text: String,
    /// The same pattern for JSON Schema, if it can be expressed there.
    pub schema: Option<String>,
    /// Whether everything that it matches begins with a dash.
    pub begins_with_dash: bool,
    /// The pattern, anchored at both ends.
    anchored: Hir,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The pattern is invalid, too large, or uses unsupported syntax.
    pub fn parse(text: &str) -> Result<Self, PatternProblem> {
        let translated = translate(text)?;
        let engine_pattern = &translated.engine;
        let mut ast = ast::parse::Parser::new()
            .parse(engine_pattern)
            .map_err(|error| syntax_problem(error.kind()))?;
        expand_case_and_classes(&mut ast);
        let hir = Translator::new()
            .translate(engine_pattern, &ast)
            .map_err(|error| syntax_problem(error.kind()))?;
        let begins_with_dash = begins_with_dash(&hir);
        let anchored = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
        let pattern = Self {
            text: text.to_owned(),
            schema: translated.schema,
            begins_with_dash,
            anchored,
        };
        pattern.nfa()?;
        Ok(pattern)
    }

    fn nfa(&self) -> Result<NFA, PatternProblem> {
        let config = thompson::Config::new()
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MAX_NFA_BYTES));
        thompson::Compiler::new()
            .configure(config)
            .build_from_hir(&self.anchored)
            .map_err(|_| {
                PatternProblem::new(
                    "the pattern is too large",
                    "use smaller counts in `{...}`, or write `[0-9]` for `\\d` and \
                     `[A-Za-z0-9_]` for `\\w`",
                )
            })
    }
}

fn syntax_problem(reason: &impl fmt::Display) -> PatternProblem {
    PatternProblem::new(
        format!("invalid pattern: {reason}"),
        "write `\\` before a special character to match it literally: `( ) [ ] { } * + ? . | ^ $`",
    )
}

/// Whether everything that the pattern matches begins with a dash.
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

/// Whether a valid pattern matches a whole value.
#[must_use]
pub fn is_match(pattern: &str, value: &str) -> bool {
    // A value that cannot be checked is refused.
    lazy_matcher(pattern).is_some_and(|matcher| matcher.is_match(value))
}

/// The lazy automaton of a pattern, created at its first use. There is none if the pattern is invalid.
fn lazy_matcher(pattern: &str) -> Option<Arc<LazyMatcher>> {
    static CACHE: Mutex<BTreeMap<String, Option<Arc<LazyMatcher>>>> = Mutex::new(BTreeMap::new());
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = cache.get(pattern) {
        return cached.clone();
    }
    let created = LazyMatcher::new(pattern).map(Arc::new);
    cache.insert(pattern.to_owned(), created.clone());
    created
}

fn input(value: &str) -> Input<'_> {
    Input::new(value).anchored(Anchored::Yes).earliest(true)
}

/// An automaton whose states are built while it matches, with bounded memory.
struct LazyMatcher {
    automaton: hybrid::dfa::DFA,
    cache: Mutex<hybrid::dfa::Cache>,
    nfa: NFA,
    min_length: usize,
    max_length: usize,
}

impl LazyMatcher {
    fn new(text: &str) -> Option<Self> {
        let pattern = Pattern::parse(text).ok()?;
        let nfa = pattern.nfa().ok()?;
        let properties = pattern.anchored.properties();
        // The search fails instead of building the same states again and again.
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
            min_length: properties.minimum_len().unwrap_or(0),
            max_length: properties.maximum_len().unwrap_or(usize::MAX),
        })
    }

    fn is_match(&self, value: &str) -> bool {
        if !(self.min_length..=self.max_length).contains(&value.len()) {
            return false;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.automaton.try_search_fwd(&mut cache, &input(value));
        match found {
            Ok(found) => found.is_some(),
            // The value has a word boundary next to a non-ASCII character, or needs too many states.
            Err(_) => self.simulate_nfa(value),
        }
    }

    fn simulate_nfa(&self, value: &str) -> bool {
        // A large pattern with a long value would block the server, so the value is refused.
        let steps = self.nfa.states().len().saturating_mul(value.len());
        steps <= MAX_NFA_STEPS
            && PikeVM::new_from_nfa(self.nfa.clone())
                .is_ok_and(|machine| machine.is_match(&mut machine.create_cache(), input(value)))
    }
}

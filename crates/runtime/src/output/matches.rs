//! Searches a stored output for a regular expression, line by line, in time linear in its size.

use std::io;
use std::ops::ControlFlow;

use climax_runner::StoredOutput;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde_json::json;

use super::pages::{first_line, read, scan};
use super::{Page, ReadError};
use crate::call::excerpt::{complete_characters_end, first_character_start};
use crate::registration::json_object;

/// A pattern whose NFA takes more bytes is refused.
const MAX_NFA_BYTES: usize = 1024 * 1024;

/// A longer line is shown around its first match only.
const MAX_LINE_BYTES: u64 = 400;

/// The bytes shown before the end of a match in a long line.
const BYTES_BEFORE: u64 = 200;

/// A line that matches.
struct MatchingLine {
    number: u64,
    start: u64,
    /// The offset after the first match.
    match_end: u64,
}

/// Finds the matching lines, as many as fit. The pattern is in Rust's syntax; its classes match ASCII only.
pub(super) fn find(
    output: &StoredOutput,
    pattern: &str,
    from_line: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    let dfa = compile(pattern).map_err(ReadError::Refused)?;
    let mut text = String::new();
    let mut shown = 0;
    let mut total: u64 = 0;
    let mut next_line = None;
    let mut problem = None;
    for part in output.parts() {
        let Some((number, start)) = first_line(output, &part)? else {
            continue;
        };
        let mut search = LineSearch::new(&dfa, number, start);
        let mut found = Vec::new();
        let mut take = |found: &mut Vec<MatchingLine>| -> io::Result<()> {
            for line in found.drain(..).filter(|line| line.number >= from_line) {
                total += 1;
                let is_full = next_line.is_some() || count.is_some_and(|count| shown >= count);
                if !is_full {
                    let entry = format_line(output, &line)?;
                    if text.len() + entry.len() <= max_bytes || text.is_empty() {
                        text += &entry;
                        shown += 1;
                        continue;
                    }
                }
                next_line = next_line.or(Some(line.number));
            }
            Ok(())
        };
        let _ = scan(output, start..part.end, |offset, chunk| {
            let step = search.push(offset, chunk, &mut found);
            match step.and_then(|()| take(&mut found)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    problem = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        search.finish(part.end, &mut found)?;
        take(&mut found)?;
    }
    if let Some(error) = problem {
        return Err(error.into());
    }
    let scope = match from_line {
        1 => String::new(),
        line => format!(" from line {line}"),
    };
    Ok(Page {
        text,
        position: format!("{shown} of {total} matching lines{scope}"),
        next: next_line.map(|line| {
            let mut next = json_object(json!({"pattern": pattern, "from_line": line}));
            if let Some(count) = count {
                next.insert("lines".to_owned(), count.into());
            }
            next
        }),
    })
}

fn compile(pattern: &str) -> Result<DFA, String> {
    let nfa = thompson::Config::new()
        .utf8(false)
        .which_captures(thompson::WhichCaptures::None)
        .nfa_size_limit(Some(MAX_NFA_BYTES));
    DFA::builder()
        .configure(DFA::config().skip_cache_capacity_check(true))
        // Without Unicode, the automaton works on bytes and needs no tables.
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .thompson(nfa)
        .build(pattern)
        .map_err(|error| format!("Argument 'pattern': {}", innermost(&error)))
}

/// The message of the error that caused all others.
fn innermost(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => innermost(source),
        None => error.to_string(),
    }
}

/// Feeds an output to an automaton byte by byte, so that a line of any length takes no memory.
struct LineSearch<'a> {
    dfa: &'a DFA,
    cache: Cache,
    /// The number and the offset of the current line.
    number: u64,
    start: u64,
    state: LineState,
}

#[derive(Clone, Copy)]
enum LineState {
    /// No byte of the line has been read.
    New,
    /// It does not match yet.
    Searching(LazyStateID),
    /// It matches, or it cannot match any more.
    Decided,
}

impl<'a> LineSearch<'a> {
    fn new(dfa: &'a DFA, number: u64, start: u64) -> Self {
        Self {
            dfa,
            cache: dfa.create_cache(),
            number,
            start,
            state: LineState::New,
        }
    }

    fn push(&mut self, offset: u64, chunk: &[u8], found: &mut Vec<MatchingLine>) -> io::Result<()> {
        for (position, &byte) in (offset..).zip(chunk) {
            if byte == b'\n' {
                self.end_line(position, found)?;
                self.start = position + 1;
                self.number += 1;
                self.state = LineState::New;
                continue;
            }
            let state = match self.state {
                LineState::Decided => continue,
                LineState::New => self.start_state()?,
                LineState::Searching(state) => state,
            };
            let next = self.dfa.next_state(&mut self.cache, state, byte);
            let state = next.map_err(io::Error::other)?;
            // A match state is reached one byte after the match.
            self.decide(state, position, found);
        }
        Ok(())
    }

    /// Ends the last line, unless a line end did.
    fn finish(&mut self, end: u64, found: &mut Vec<MatchingLine>) -> io::Result<()> {
        if self.start < end {
            self.end_line(end, found)?;
        }
        Ok(())
    }

    fn end_line(&mut self, end: u64, found: &mut Vec<MatchingLine>) -> io::Result<()> {
        let state = match self.state {
            LineState::Decided => return Ok(()),
            LineState::New => self.start_state()?,
            LineState::Searching(state) => state,
        };
        let next = self.dfa.next_eoi_state(&mut self.cache, state);
        let state = next.map_err(io::Error::other)?;
        self.decide(state, end, found);
        Ok(())
    }

    fn start_state(&mut self) -> io::Result<LazyStateID> {
        let input = Input::new("").anchored(Anchored::No);
        let state = self.dfa.start_state_forward(&mut self.cache, &input);
        state.map_err(io::Error::other)
    }

    fn decide(&mut self, state: LazyStateID, position: u64, found: &mut Vec<MatchingLine>) {
        if state.is_match() {
            found.push(MatchingLine {
                number: self.number,
                start: self.start,
                match_end: position,
            });
        }
        self.state = if state.is_match() || state.is_dead() || state.is_quit() {
            LineState::Decided
        } else {
            LineState::Searching(state)
        };
    }
}

/// The number and the text of a line. Of a long line, only the text around the match, with its offset.
fn format_line(output: &StoredOutput, line: &MatchingLine) -> io::Result<String> {
    let is_far = line.match_end - line.start > MAX_LINE_BYTES;
    let from = if is_far {
        line.match_end - BYTES_BEFORE
    } else {
        line.start
    };
    let max_bytes = usize::try_from(MAX_LINE_BYTES).unwrap_or(usize::MAX);
    let mut bytes = read(output, from, max_bytes + 1)?;
    let line_end = memchr::memchr(b'\n', &bytes);
    let is_cut = line_end.is_none() && bytes.len() > max_bytes;
    bytes.truncate(line_end.unwrap_or(bytes.len()).min(max_bytes));
    if is_cut {
        bytes.truncate(complete_characters_end(&bytes));
    }
    let skipped = if is_far {
        first_character_start(&bytes)
    } else {
        0
    };
    let text = String::from_utf8_lossy(&bytes[skipped..]);
    let number = line.number;
    let mut entry = if is_far {
        format!("{number} (byte {}): …{text}", from + skipped as u64)
    } else {
        format!("{number}: {text}")
    };
    if is_cut {
        entry.push('…');
    }
    entry.push('\n');
    Ok(entry)
}

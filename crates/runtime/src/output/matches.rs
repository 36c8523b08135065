//! Searches a stored output for a regular expression, line by line, in time linear in its size.

use std::io;
use std::ops::{ControlFlow, Range};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde_json::json;

use super::pages::{with_count, without_line_end};
use super::{OutputFile, Page, ReadError};
use crate::call::excerpt::{complete_characters_end, first_character_start, pluralize_large};
use crate::registration::json_object;

/// A pattern whose NFA takes more bytes is refused.
const MAX_NFA_BYTES: usize = 1024 * 1024;

/// After the cache of states was cleared this often, a search gives up if it needs a new state for fewer than this
/// many bytes.
const MAX_CACHE_CLEARS: usize = 8;
const MIN_BYTES_PER_STATE: usize = 10;

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
    file: &OutputFile,
    pattern: &str,
    from_line: u64,
    count: Option<u64>,
    max_bytes: usize,
) -> Result<Page, ReadError> {
    file.require_text()?;
    let dfa = compile(pattern).map_err(ReadError::Refused)?;
    let mut text = String::new();
    let mut shown = 0;
    let mut total = 0;
    let mut next_line = None;
    let mut add = |line: MatchingLine| -> io::Result<()> {
        if line.number < from_line {
            return Ok(());
        }
        total += 1;
        if next_line.is_none() && count.is_none_or(|count| shown < count) {
            let entry = format_line(file, &line)?;
            if text.len() + entry.len() <= max_bytes || text.is_empty() {
                text += &entry;
                shown += 1;
                return Ok(());
            }
        }
        next_line.get_or_insert(line.number);
        Ok(())
    };
    for part in file.output.parts() {
        if part.is_empty() {
            continue;
        }
        let mut search = LineSearch::new(&dfa, file.first_line(&part)?, part.start);
        let is_complete = search_part(file, &part, &mut search, &mut add)?;
        if !is_complete {
            let reason = "Argument 'pattern': it is too complex for this output";
            return Err(ReadError::Refused(reason.to_owned()));
        }
    }
    let scope = match from_line {
        1 => String::new(),
        line => format!(" from line {line}"),
    };
    let total = pluralize_large(total, "matching line");
    Ok(Page {
        text,
        position: format!("{shown} of {total}{scope}{}", file.gap_remark()),
        next_arguments: next_line.map(|line| {
            let next_arguments = json_object(json!({"pattern": pattern, "from_line": line}));
            with_count(next_arguments, "lines", count, shown)
        }),
    })
}

/// Passes the matching lines of a stored part to a function. Returns false if the automaton gave up.
fn search_part(
    file: &OutputFile,
    part: &Range<u64>,
    search: &mut LineSearch<'_>,
    add: &mut impl FnMut(MatchingLine) -> io::Result<()>,
) -> io::Result<bool> {
    let mut found = Vec::new();
    let scanned = file.scan(part.clone(), |offset, chunk| {
        let is_complete = search.push(offset, chunk, &mut found).is_ok();
        found.drain(..).try_for_each(&mut *add)?;
        Ok(if is_complete {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    if scanned.is_break() {
        return Ok(false);
    }
    // A line that is cut off by a gap does not end there.
    if part.end == file.output.summary().bytes {
        if search.finish(part.end, &mut found).is_err() {
            return Ok(false);
        }
        found.drain(..).try_for_each(add)?;
    }
    Ok(true)
}

fn compile(pattern: &str) -> Result<DFA, String> {
    let nfa = thompson::Config::new()
        .utf8(false)
        .which_captures(thompson::WhichCaptures::None)
        .nfa_size_limit(Some(MAX_NFA_BYTES));
    DFA::builder()
        .configure(
            DFA::config()
                .skip_cache_capacity_check(true)
                .minimum_cache_clear_count(Some(MAX_CACHE_CLEARS))
                .minimum_bytes_per_state(Some(MIN_BYTES_PER_STATE)),
        )
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

/// The automaton needs too many states.
struct GaveUp;

/// Feeds an output to an automaton byte by byte, so that a line of any length takes no memory.
struct LineSearch<'a> {
    dfa: &'a DFA,
    cache: Cache,
    /// The number and the offset of the current line.
    number: u64,
    start: u64,
    state: LineState,
    /// Whether the last byte was a carriage return, which belongs to the line only if no line end follows.
    has_pending_return: bool,
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
            has_pending_return: false,
        }
    }

    fn push(
        &mut self,
        offset: u64,
        chunk: &[u8],
        found: &mut Vec<MatchingLine>,
    ) -> Result<(), GaveUp> {
        for (position, &byte) in (offset..).zip(chunk) {
            let has_return = self.has_pending_return;
            self.has_pending_return = byte == b'\r';
            if byte == b'\n' {
                self.end_line(position, found)?;
                self.start = position + 1;
                self.number += 1;
                self.state = LineState::New;
                continue;
            }
            if has_return {
                self.step(b'\r', position, found)?;
            }
            if byte != b'\r' {
                self.step(byte, position, found)?;
            }
        }
        Ok(())
    }

    /// Ends the last line, unless a line end did.
    fn finish(&mut self, end: u64, found: &mut Vec<MatchingLine>) -> Result<(), GaveUp> {
        if self.start < end {
            self.end_line(end, found)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        byte: u8,
        position: u64,
        found: &mut Vec<MatchingLine>,
    ) -> Result<(), GaveUp> {
        if let Some(state) = self.current_state()? {
            let next = self.dfa.next_state(&mut self.cache, state, byte);
            // A match state is reached one byte after the match.
            self.decide(next.map_err(|_| GaveUp)?, position, found)?;
        }
        Ok(())
    }

    fn end_line(&mut self, end: u64, found: &mut Vec<MatchingLine>) -> Result<(), GaveUp> {
        if let Some(state) = self.current_state()? {
            let next = self.dfa.next_eoi_state(&mut self.cache, state);
            self.decide(next.map_err(|_| GaveUp)?, end, found)?;
        }
        Ok(())
    }

    /// The state of the automaton, or `None` if the line is decided.
    fn current_state(&mut self) -> Result<Option<LazyStateID>, GaveUp> {
        match self.state {
            LineState::Decided => Ok(None),
            LineState::Searching(state) => Ok(Some(state)),
            LineState::New => {
                let input = Input::new("").anchored(Anchored::No);
                let state = self.dfa.start_state_forward(&mut self.cache, &input);
                Ok(Some(state.map_err(|_| GaveUp)?))
            }
        }
    }

    fn decide(
        &mut self,
        state: LazyStateID,
        position: u64,
        found: &mut Vec<MatchingLine>,
    ) -> Result<(), GaveUp> {
        if state.is_quit() {
            return Err(GaveUp);
        }
        if state.is_match() {
            found.push(MatchingLine {
                number: self.number,
                start: self.start,
                match_end: position,
            });
        }
        self.state = if state.is_match() || state.is_dead() {
            LineState::Decided
        } else {
            LineState::Searching(state)
        };
        Ok(())
    }
}

/// The number and the text of a line. Of a long line, only the text around the match, with its offset.
fn format_line(file: &OutputFile, line: &MatchingLine) -> io::Result<String> {
    let is_far = line.match_end - line.start > MAX_LINE_BYTES;
    let from = if is_far {
        line.match_end - BYTES_BEFORE
    } else {
        line.start
    };
    let max_bytes = usize::try_from(MAX_LINE_BYTES).unwrap_or(usize::MAX);
    let bytes = file.read(from, max_bytes + 1)?;
    let (mut bytes, has_line_end) = without_line_end(&bytes);
    let is_cut = !has_line_end && bytes.len() > max_bytes;
    if is_cut {
        bytes = &bytes[..max_bytes];
        bytes = &bytes[..complete_characters_end(bytes)];
    }
    let skipped = if is_far {
        first_character_start(bytes)
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

//! How many requests are worked on, and which wait. A client that sends faster than it reads, or
//! faster than commands run, has to wait, and memory stays small.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// How many requests may be answered at the same time, beside calls. They take no time, but the
/// client may not read the answers.
const MOST_OTHERS: usize = 256;

/// How many calls may be known to wait for a command's end, so that they can tell it.
const MOST_WAITING: usize = 256;

/// How many bytes of further calls are read, so that what comes behind them is seen: that one of
/// them is cancelled, for example.
const MOST_PARKED: usize = 8 * 1024 * 1024;

/// What a line costs beside its text, with its id in two tables that may be half empty.
const COST_OF_A_LINE: usize = 400;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To run a command.
    Call,
    /// What is answered at once.
    Other,
}

/// What is to happen with a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is worked on.
    Go,
    /// It waits.
    Parked,
    /// There is a request of this id that has no answer yet.
    Duplicate,
}

/// How far a request has come.
enum Stage {
    Working(Kind),
    Parked,
}

/// Requests without an answer.
pub(super) struct Flow {
    most_calls: usize,
    state: Mutex<State>,
    /// Tells that a request got its answer.
    freed: Notify,
}

#[derive(Default)]
struct State {
    requests: HashMap<RequestId, Stage>,
    calls: usize,
    others: usize,
    parked: VecDeque<(RequestId, Vec<u8>)>,
    parked_bytes: usize,
}

impl Flow {
    /// So many commands run at the same time.
    pub(super) fn new(most_commands: usize) -> Self {
        Self {
            most_calls: most_commands.saturating_add(MOST_WAITING),
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Takes in a request that came as this line.
    pub(super) fn admit(&self, id: &RequestId, kind: Kind, line: &mut Vec<u8>) -> Verdict {
        let mut state = self.state();
        if state.requests.contains_key(id) {
            return Verdict::Duplicate;
        }
        if kind == Kind::Call && (state.calls >= self.most_calls || !state.parked.is_empty()) {
            let mut line = std::mem::take(line);
            line.shrink_to_fit();
            state.parked_bytes += line.len() + COST_OF_A_LINE;
            state.requests.insert(id.clone(), Stage::Parked);
            state.parked.push_back((id.clone(), line));
            return Verdict::Parked;
        }
        state.start(id.clone(), kind);
        Verdict::Go
    }

    /// The next call that waited and may go, as the line that it came as.
    pub(super) fn next_parked(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        if state.calls >= self.most_calls {
            return None;
        }
        let (id, line) = state.parked.pop_front()?;
        state.parked_bytes -= line.len() + COST_OF_A_LINE;
        state.start(id, Kind::Call);
        Some(line)
    }

    /// A request was cancelled, so it gets no answer. Returns whether it had not begun.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let mut state = self.state();
        if !matches!(state.requests.get(id), Some(Stage::Parked)) {
            drop(state);
            self.finish(id);
            return false;
        }
        state.requests.remove(id);
        let position = state.parked.iter().position(|(parked, _)| parked == id);
        if let Some((_, line)) = position.and_then(|position| state.parked.remove(position)) {
            state.parked_bytes -= line.len() + COST_OF_A_LINE;
        }
        true
    }

    /// A request has its answer.
    pub(super) fn finish(&self, id: &RequestId) {
        let mut state = self.state();
        match state.requests.remove(id) {
            Some(Stage::Working(Kind::Call)) => state.calls -= 1,
            Some(Stage::Working(Kind::Other)) => state.others -= 1,
            Some(Stage::Parked) | None => return,
        }
        self.freed.notify_one();
    }

    /// Whether more may be read.
    pub(super) fn has_room(&self) -> bool {
        let state = self.state();
        state.parked_bytes < MOST_PARKED && state.others < MOST_OTHERS
    }

    /// Whether calls wait here.
    pub(super) fn has_parked(&self) -> bool {
        !self.state().parked.is_empty()
    }

    /// Waits until a request got its answer.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// What is guarded is whole between any two steps.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn start(&mut self, id: RequestId, kind: Kind) {
        match kind {
            Kind::Call => self.calls += 1,
            Kind::Other => self.others += 1,
        }
        self.requests.insert(id, Stage::Working(kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(flow: &Flow, number: i64, kind: Kind) -> Verdict {
        flow.admit(&RequestId::Number(number), kind, &mut vec![b'x'; 1000])
    }

    #[test]
    fn calls_beyond_the_limit_wait_in_order_and_others_pass_them() {
        let flow = Flow::new(1);
        let most = i64::try_from(1 + MOST_WAITING).expect("few");
        for number in 0..most {
            assert_eq!(admit(&flow, number, Kind::Call), Verdict::Go);
        }
        for number in most..most + 3 {
            assert_eq!(admit(&flow, number, Kind::Call), Verdict::Parked);
        }
        assert_eq!(admit(&flow, -1, Kind::Other), Verdict::Go);
        assert_eq!(flow.next_parked(), None);
        // Neither one that runs nor one that waits can come a second time.
        assert_eq!(admit(&flow, 0, Kind::Call), Verdict::Duplicate);
        assert_eq!(admit(&flow, most + 1, Kind::Other), Verdict::Duplicate);
        assert!(flow.cancel(&RequestId::Number(most)), "it had not begun");
        assert!(!flow.cancel(&RequestId::Number(0)), "it had");
        assert!(flow.next_parked().is_some());
        assert_eq!(flow.next_parked(), None);
        assert_eq!(admit(&flow, most + 1, Kind::Call), Verdict::Duplicate);
        flow.finish(&RequestId::Number(most + 1));
        assert!(flow.next_parked().is_some());
        assert!(!flow.has_parked());
        assert_eq!(flow.state().parked_bytes, 0);
    }

    #[test]
    fn reading_stops_when_too_much_waits() {
        let flow = Flow::new(1);
        let mut number = 0;
        while flow.has_room() {
            admit(&flow, number, Kind::Call);
            number += 1;
        }
        let parked = flow.state().parked.len();
        assert!((5900..6100).contains(&parked), "{parked}");
        flow.cancel(&RequestId::Number(number - 1));
        assert!(flow.has_room());
    }

    #[test]
    fn reading_stops_when_answers_are_not_taken() {
        let flow = Flow::new(1);
        let mut number = 0;
        while flow.has_room() {
            assert_eq!(admit(&flow, number, Kind::Other), Verdict::Go);
            number += 1;
        }
        flow.finish(&RequestId::Number(0));
        assert!(flow.has_room());
        // An answer to what nobody asked changes nothing.
        flow.finish(&RequestId::Number(-1));
        assert_eq!(admit(&flow, number, Kind::Other), Verdict::Go);
        assert!(!flow.has_room());
    }
}

//! How many requests are worked on, and which wait. A client that sends faster than it reads, or
//! faster than commands run, has to wait, and memory stays small.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use crate::fronts::mcp::Deliveries;
use crate::lock::lock;
use crate::service::AnswerPermit;

/// How many requests may be answered at the same time, beside calls. They take no time, but the
/// client may not read the answers.
const MAX_OTHER_REQUESTS: usize = 256;

/// How many calls may be known to wait for a command's end, so that they can tell it.
const MAX_WAITING_CALLS: usize = 256;

/// How many bytes of further calls are read, so that what comes behind them is seen: that one of
/// them is cancelled, for example.
const MAX_PARKED_BYTES: usize = 8 * 1024 * 1024;

/// What a line costs beside its text, with its id in two tables that may be half empty.
const PARKED_LINE_OVERHEAD_BYTES: usize = 400;

/// What the server calls a request. No two have the same, whatever the client calls them.
pub(super) type RequestNumber = i64;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// To run a command.
    Call,
    /// What is answered at once.
    Other,
}

/// What is to happen with a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is worked on, by this number.
    Go(RequestNumber),
    /// It waits.
    Parked,
    /// There is a request of this id that has no answer yet.
    Duplicate,
}

/// Requests without an answer.
pub(super) struct Flow {
    max_calls: usize,
    state: Mutex<FlowState>,
    /// Tells that a request got its answer.
    freed: Notify,
}

#[derive(Default)]
struct FlowState {
    last: RequestNumber,
    numbers: HashMap<RequestId, RequestNumber>,
    working: HashMap<RequestNumber, ActiveRequest>,
    calls: usize,
    others: usize,
    /// In the order of their numbers, which is that in which they came.
    parked: BTreeMap<RequestNumber, (RequestId, Vec<u8>)>,
    parked_bytes: usize,
}

/// A request that is worked on.
struct ActiveRequest {
    /// What the client calls it.
    id: RequestId,
    kind: RequestKind,
    /// Whether its answer is on the way.
    is_answered: bool,
    /// Released when the answer is written, or no longer wanted.
    permit: Option<AnswerPermit>,
}

impl Flow {
    /// So many commands run at the same time.
    pub(super) fn new(max_commands: usize) -> Self {
        Self {
            max_calls: max_commands.saturating_add(MAX_WAITING_CALLS),
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Takes in a request that came as this line.
    pub(super) fn admit(&self, id: &RequestId, kind: RequestKind, line: &mut Vec<u8>) -> Admission {
        let mut state = self.state();
        if state.numbers.contains_key(id) {
            return Admission::Duplicate;
        }
        state.last += 1;
        let number = state.last;
        state.numbers.insert(id.clone(), number);
        if kind == RequestKind::Call && (state.calls >= self.max_calls || !state.parked.is_empty())
        {
            let mut line = std::mem::take(line);
            line.shrink_to_fit();
            state.parked_bytes += line.len() + PARKED_LINE_OVERHEAD_BYTES;
            state.parked.insert(number, (id.clone(), line));
            return Admission::Parked;
        }
        state.start(number, id.clone(), kind);
        Admission::Go(number)
    }

    /// The next call that waited and may go, as the line that it came as.
    pub(super) fn next_parked(&self) -> Option<(RequestNumber, Vec<u8>)> {
        let mut state = self.state();
        if state.calls >= self.max_calls {
            return None;
        }
        let (number, (id, line)) = state.parked.pop_first()?;
        state.parked_bytes -= line.len() + PARKED_LINE_OVERHEAD_BYTES;
        state.start(number, id, RequestKind::Call);
        Some((number, line))
    }

    /// The client does not want an answer any more. Returns the call that is to be ended for that.
    /// What is answered at once, or is on the way, is answered nevertheless.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<RequestNumber> {
        let mut state = self.state();
        let number = *state.numbers.get(id)?;
        if let Some((_, line)) = state.parked.remove(&number) {
            state.parked_bytes -= line.len() + PARKED_LINE_OVERHEAD_BYTES;
            state.numbers.remove(id);
            return None;
        }
        let request = state.working.get(&number)?;
        if request.is_answered || request.kind == RequestKind::Other {
            return None;
        }
        state.finish(number);
        self.freed.notify_one();
        Some(number)
    }

    /// A request is about to be answered. Returns what the client calls it, or nothing if it does
    /// not want the answer any more.
    pub(super) fn answer(&self, number: RequestNumber) -> Option<RequestId> {
        let mut state = self.state();
        let request = state.working.get_mut(&number)?;
        request.is_answered = true;
        Some(request.id.clone())
    }

    /// A request has its answer.
    pub(super) fn finish(&self, number: RequestNumber) {
        self.state().finish(number);
        self.freed.notify_one();
    }

    /// Whether more may be read.
    pub(super) fn has_room(&self) -> bool {
        let state = self.state();
        state.parked_bytes < MAX_PARKED_BYTES && state.others < MAX_OTHER_REQUESTS
    }

    /// Whether every request got its answer.
    pub(super) fn is_idle(&self) -> bool {
        self.state().numbers.is_empty()
    }

    /// Waits until a request got its answer.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, FlowState> {
        lock(&self.state)
    }
}

impl Deliveries for Flow {
    fn hold(&self, request: &RequestId, permit: AnswerPermit) {
        if let RequestId::Number(number) = request
            && let Some(request) = self.state().working.get_mut(number)
        {
            request.permit = Some(permit);
        }
    }
}

impl FlowState {
    fn start(&mut self, number: RequestNumber, id: RequestId, kind: RequestKind) {
        *self.count(kind) += 1;
        let request = ActiveRequest {
            id,
            kind,
            is_answered: false,
            permit: None,
        };
        self.working.insert(number, request);
    }

    fn finish(&mut self, number: RequestNumber) {
        if let Some(request) = self.working.remove(&number) {
            self.numbers.remove(&request.id);
            *self.count(request.kind) -= 1;
        }
    }

    fn count(&mut self, kind: RequestKind) -> &mut usize {
        match kind {
            RequestKind::Call => &mut self.calls,
            RequestKind::Other => &mut self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    fn admit(flow: &Flow, number: i64, kind: RequestKind) -> Admission {
        flow.admit(&id(number), kind, &mut vec![b'x'; 1000])
    }

    fn start(flow: &Flow, number: i64, kind: RequestKind) -> RequestNumber {
        match admit(flow, number, kind) {
            Admission::Go(number) => number,
            other => panic!("{other:?}"),
        }
    }

    fn counts(flow: &Flow) -> (usize, usize) {
        let state = flow.state();
        (state.calls, state.others)
    }

    #[test]
    fn calls_beyond_the_limit_wait_in_order_and_others_pass_them() {
        let flow = Flow::new(1);
        let most = i64::try_from(1 + MAX_WAITING_CALLS).expect("few");
        let first = start(&flow, 0, RequestKind::Call);
        for number in 1..most {
            start(&flow, number, RequestKind::Call);
        }
        for number in most..most + 3 {
            assert_eq!(admit(&flow, number, RequestKind::Call), Admission::Parked);
        }
        start(&flow, -1, RequestKind::Other);
        assert_eq!(flow.next_parked(), None);
        // Neither one that runs nor one that waits can come a second time.
        assert_eq!(admit(&flow, 0, RequestKind::Call), Admission::Duplicate);
        assert_eq!(
            admit(&flow, most + 1, RequestKind::Other),
            Admission::Duplicate
        );
        assert_eq!(flow.cancel(&id(most)), None, "it had not begun");
        assert_eq!(flow.cancel(&id(0)), Some(first));
        let (next, _) = flow.next_parked().expect("there is room for one");
        assert_eq!(flow.answer(next), Some(id(most + 1)));
        assert_eq!(flow.next_parked(), None);
        assert_eq!(
            admit(&flow, most + 1, RequestKind::Call),
            Admission::Duplicate
        );
        flow.finish(next);
        assert!(flow.next_parked().is_some());
        assert!(flow.state().parked.is_empty() && !flow.is_idle());
        assert_eq!(flow.state().parked_bytes, 0);
    }

    #[test]
    fn an_answer_that_is_not_taken_keeps_its_place_and_a_cancelled_call_does_not() {
        let flow = Flow::new(1);
        let search = start(&flow, 1, RequestKind::Other);
        assert_eq!(flow.cancel(&id(1)), None, "it is answered anyway");
        let call = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.answer(call), Some(id(2)));
        assert_eq!(flow.cancel(&id(2)), None, "its answer is on the way");
        assert_eq!(counts(&flow), (1, 1));
        flow.finish(search);
        flow.finish(call);
        let cancelled = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.cancel(&id(2)), Some(cancelled));
        // Another one may have its id, and does not get its answer.
        let other = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.answer(cancelled), None);
        assert_eq!(flow.answer(other), Some(id(2)));
        flow.finish(other);
        assert_eq!(counts(&flow), (0, 0));
        assert!(flow.is_idle());
    }

    #[test]
    fn reading_stops_when_too_much_waits() {
        let flow = Flow::new(1);
        let mut number = 0;
        while flow.has_room() {
            admit(&flow, number, RequestKind::Call);
            number += 1;
        }
        let parked = flow.state().parked.len();
        assert!((5900..6100).contains(&parked), "{parked}");
        flow.cancel(&id(number - 1));
        assert!(flow.has_room());
    }

    #[test]
    fn reading_stops_when_answers_are_not_taken() {
        let flow = Flow::new(1);
        let first = start(&flow, 0, RequestKind::Other);
        let mut number = 1;
        while flow.has_room() {
            start(&flow, number, RequestKind::Other);
            number += 1;
        }
        flow.finish(first);
        assert!(flow.has_room());
        // An answer to what nobody asked changes nothing.
        flow.finish(first);
        start(&flow, number, RequestKind::Other);
        assert!(!flow.has_room());
    }
}

//! Limits how many requests are active and parks further calls, so that memory stays bounded when a client
//! sends faster than it reads or than commands run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use crate::fronts::mcp::Deliveries;
use crate::lock::lock;
use crate::service::AnswerPermit;

/// Active requests other than calls. They are answered at once, but the client may not read the responses.
const MAX_OTHER_REQUESTS: usize = 256;

/// Active calls beyond those whose command runs. Only active calls can report that they wait.
const MAX_WAITING_CALLS: usize = 256;

/// Bytes of parked calls. They are read so that later messages, such as their cancellation, are seen.
const MAX_PARKED_BYTES: usize = 8 * 1024 * 1024;

/// Memory that a parked line takes in addition to its text: its id is in two tables that may be half empty.
const PARKED_LINE_OVERHEAD_BYTES: usize = 400;

/// The server's own id of a request. It is unique, unlike the client's ids, which may be reused.
pub(super) type RequestNumber = i64;

/// Which limit applies to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// Runs a command.
    Call,
    /// Is answered at once.
    Other,
}

/// What happens to a new request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is active and has this number.
    Active(RequestNumber),
    /// It waits until another call has finished.
    Parked,
    /// Another request with this id has no response yet.
    Duplicate,
}

/// The requests without a response: active ones and parked ones.
pub(super) struct Flow {
    max_calls: usize,
    state: Mutex<FlowState>,
    /// Notified when a request has finished.
    finished: Notify,
}

#[derive(Default)]
struct FlowState {
    last_number: RequestNumber,
    numbers: HashMap<RequestId, RequestNumber>,
    active: HashMap<RequestNumber, ActiveRequest>,
    calls: usize,
    others: usize,
    /// By number, so in the order in which they arrived.
    parked: BTreeMap<RequestNumber, (RequestId, Vec<u8>)>,
    parked_bytes: usize,
}

/// A request that was passed to rmcp.
struct ActiveRequest {
    /// The client's id.
    id: RequestId,
    kind: RequestKind,
    /// Whether its response is queued for writing.
    is_answered: bool,
    /// Released when the response is written or the request is cancelled.
    permit: Option<AnswerPermit>,
}

impl Flow {
    /// Creates the flow for a server that runs at most `max_commands` at the same time.
    pub(super) fn new(max_commands: usize) -> Self {
        Self {
            max_calls: max_commands.saturating_add(MAX_WAITING_CALLS),
            state: Mutex::default(),
            finished: Notify::new(),
        }
    }

    /// Makes a request active, or parks the line that it arrived in.
    pub(super) fn admit(&self, id: &RequestId, kind: RequestKind, line: &mut Vec<u8>) -> Admission {
        let mut state = self.state();
        if state.numbers.contains_key(id) {
            return Admission::Duplicate;
        }
        state.last_number += 1;
        let number = state.last_number;
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
        Admission::Active(number)
    }

    /// Makes the next parked call active, if the limit allows it. Returns the line that it arrived in.
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

    /// Cancels a request. Returns its number if it is an active call, which rmcp must cancel too. Requests
    /// that are answered at once, or whose response is queued, keep their response.
    pub(super) fn cancel(&self, id: &RequestId) -> Option<RequestNumber> {
        let mut state = self.state();
        let number = *state.numbers.get(id)?;
        if let Some((_, line)) = state.parked.remove(&number) {
            state.parked_bytes -= line.len() + PARKED_LINE_OVERHEAD_BYTES;
            state.numbers.remove(id);
            return None;
        }
        let request = state.active.get(&number)?;
        if request.is_answered || request.kind == RequestKind::Other {
            return None;
        }
        state.finish(number);
        self.finished.notify_one();
        Some(number)
    }

    /// Marks a request as answered. Returns the client's id, or `None` if the request was cancelled.
    pub(super) fn answer(&self, number: RequestNumber) -> Option<RequestId> {
        let mut state = self.state();
        let request = state.active.get_mut(&number)?;
        request.is_answered = true;
        Some(request.id.clone())
    }

    /// Removes a request whose response was written.
    pub(super) fn finish(&self, number: RequestNumber) {
        self.state().finish(number);
        self.finished.notify_one();
    }

    /// Whether another line may be read.
    pub(super) fn can_accept(&self) -> bool {
        let state = self.state();
        state.parked_bytes < MAX_PARKED_BYTES && state.others < MAX_OTHER_REQUESTS
    }

    /// Whether every request has its response.
    pub(super) fn is_idle(&self) -> bool {
        self.state().numbers.is_empty()
    }

    /// Waits until a request has finished.
    pub(super) async fn request_finished(&self) {
        self.finished.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, FlowState> {
        lock(&self.state)
    }
}

impl Deliveries for Flow {
    fn hold(&self, request: &RequestId, permit: AnswerPermit) {
        if let RequestId::Number(number) = request
            && let Some(request) = self.state().active.get_mut(number)
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
        self.active.insert(number, request);
    }

    fn finish(&mut self, number: RequestNumber) {
        if let Some(request) = self.active.remove(&number) {
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
            Admission::Active(number) => number,
            other => panic!("{other:?}"),
        }
    }

    fn counts(flow: &Flow) -> (usize, usize) {
        let state = flow.state();
        (state.calls, state.others)
    }

    #[test]
    fn calls_beyond_the_limit_wait_in_order_and_other_requests_overtake_them() {
        let flow = Flow::new(1);
        let max_calls = i64::try_from(1 + MAX_WAITING_CALLS).expect("a small number");
        let first = start(&flow, 0, RequestKind::Call);
        for number in 1..max_calls {
            start(&flow, number, RequestKind::Call);
        }
        for number in max_calls..max_calls + 3 {
            assert_eq!(admit(&flow, number, RequestKind::Call), Admission::Parked);
        }
        start(&flow, -1, RequestKind::Other);
        assert_eq!(flow.next_parked(), None);
        // The id of an active or parked request cannot be used again.
        assert_eq!(admit(&flow, 0, RequestKind::Call), Admission::Duplicate);
        assert_eq!(
            admit(&flow, max_calls + 1, RequestKind::Other),
            Admission::Duplicate
        );
        assert_eq!(flow.cancel(&id(max_calls)), None, "it was not active");
        assert_eq!(flow.cancel(&id(0)), Some(first));
        let (next, _) = flow.next_parked().expect("a parked call");
        assert_eq!(flow.answer(next), Some(id(max_calls + 1)));
        assert_eq!(flow.next_parked(), None);
        assert_eq!(
            admit(&flow, max_calls + 1, RequestKind::Call),
            Admission::Duplicate
        );
        flow.finish(next);
        assert!(flow.next_parked().is_some());
        assert!(flow.state().parked.is_empty() && !flow.is_idle());
        assert_eq!(flow.state().parked_bytes, 0);
    }

    #[test]
    fn a_request_counts_until_its_response_is_written_or_it_is_cancelled() {
        let flow = Flow::new(1);
        let search = start(&flow, 1, RequestKind::Other);
        assert_eq!(flow.cancel(&id(1)), None, "it is answered anyway");
        let call = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.answer(call), Some(id(2)));
        assert_eq!(flow.cancel(&id(2)), None, "its response is queued");
        assert_eq!(counts(&flow), (1, 1));
        flow.finish(search);
        flow.finish(call);
        let cancelled = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.cancel(&id(2)), Some(cancelled));
        // A new request may reuse the id, and does not get the response of the cancelled one.
        let other = start(&flow, 2, RequestKind::Call);
        assert_eq!(flow.answer(cancelled), None);
        assert_eq!(flow.answer(other), Some(id(2)));
        flow.finish(other);
        assert_eq!(counts(&flow), (0, 0));
        assert!(flow.is_idle());
    }

    #[test]
    fn reading_stops_when_parked_calls_take_too_much_memory() {
        let flow = Flow::new(1);
        let mut number = 0;
        while flow.can_accept() {
            admit(&flow, number, RequestKind::Call);
            number += 1;
        }
        let parked = flow.state().parked.len();
        assert!((5900..6100).contains(&parked), "{parked}");
        flow.cancel(&id(number - 1));
        assert!(flow.can_accept());
    }

    #[test]
    fn reading_stops_when_responses_are_not_read() {
        let flow = Flow::new(1);
        let first = start(&flow, 0, RequestKind::Other);
        let mut number = 1;
        while flow.can_accept() {
            start(&flow, number, RequestKind::Other);
            number += 1;
        }
        flow.finish(first);
        assert!(flow.can_accept());
        // Finishing it twice changes nothing.
        flow.finish(first);
        start(&flow, number, RequestKind::Other);
        assert!(!flow.can_accept());
    }
}

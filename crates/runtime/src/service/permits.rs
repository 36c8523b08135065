//! The limits that all calls of a server share: how many commands run at once, and how many long answers
//! wait for a client to take them.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// An answer with more bytes than this is a long one.
const LONG_ANSWER_BYTES: usize = 64 * 1024;

/// How many long answers may exist at a time.
const MAX_LONG_ANSWERS: usize = 4;

const NEVER_CLOSED: &str = "the semaphores are never closed";

/// Hands out permits in the order in which they are asked for.
pub(crate) struct Permits {
    commands: Arc<Semaphore>,
    long_answers: Arc<Semaphore>,
}

/// One of the few long answers that may exist at a time. A front keeps it until its client has the answer,
/// if it can tell when that is: while all are taken, no further command starts, so that a client that does
/// not read cannot fill the memory.
#[derive(Debug)]
pub(crate) struct AnswerPermit {
    _permit: OwnedSemaphorePermit,
}

impl Permits {
    /// So many commands run at the same time.
    pub(crate) fn new(max_concurrent: usize) -> Self {
        Self {
            commands: Arc::new(Semaphore::new(max_concurrent)),
            long_answers: Arc::new(Semaphore::new(MAX_LONG_ANSWERS)),
        }
    }

    /// Waits until a command may run.
    pub(crate) async fn command(&self) -> OwnedSemaphorePermit {
        let commands = self.commands.clone();
        let permit = commands.acquire_owned().await.expect(NEVER_CLOSED);
        // Clients that do not read their answers get no further commands run.
        drop(self.long_answers.acquire().await.expect(NEVER_CLOSED));
        permit
    }

    /// Waits until an answer of so many bytes may exist. A short one always may.
    pub(crate) async fn answer(&self, bytes: usize) -> Option<AnswerPermit> {
        if bytes < LONG_ANSWER_BYTES {
            return None;
        }
        let long_answers = self.long_answers.clone();
        Some(AnswerPermit {
            _permit: long_answers.acquire_owned().await.expect(NEVER_CLOSED),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    /// Whether something is done without waiting.
    async fn is_ready<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::ZERO, future).await.is_ok()
    }

    #[tokio::test]
    async fn no_more_commands_run_than_allowed() {
        let permits = Permits::new(2);
        let first = permits.command().await;
        let _second = permits.command().await;
        assert!(!is_ready(permits.command()).await);
        drop(first);
        assert!(is_ready(permits.command()).await);
    }

    #[tokio::test]
    async fn long_answers_that_nobody_takes_hold_back_commands_and_short_answers_do_not() {
        let permits = Permits::new(2);
        assert!(permits.answer(LONG_ANSWER_BYTES - 1).await.is_none());
        let mut long = Vec::new();
        for _ in 0..MAX_LONG_ANSWERS {
            assert!(is_ready(permits.command()).await);
            long.push(permits.answer(LONG_ANSWER_BYTES).await.expect("a permit"));
        }
        assert!(!is_ready(permits.answer(LONG_ANSWER_BYTES)).await);
        assert!(!is_ready(permits.command()).await);
        assert!(is_ready(permits.answer(1)).await);
        long.pop();
        assert!(is_ready(permits.command()).await);
        assert!(is_ready(permits.answer(LONG_ANSWER_BYTES)).await);
    }
}

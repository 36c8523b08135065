//! Limits how many commands run at once, how many stored outputs are read at once, and how many long answers wait
//! for delivery.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// An answer of this size or more is long.
const LONG_ANSWER_BYTES: usize = 64 * 1024;

/// How many long answers may exist at once.
const MAX_LONG_ANSWERS: usize = 4;

/// How many stored outputs may be read at once. Each reading takes a thread, and a search some megabytes.
const MAX_OUTPUT_READERS: usize = 4;

const NEVER_CLOSED: &str = "the semaphores are never closed";

/// Grants permits in the order of the requests.
pub(crate) struct Permits {
    commands: Arc<Semaphore>,
    output_readers: Arc<Semaphore>,
    long_answers: Arc<Semaphore>,
}

/// Permission for one long answer to exist. A front holds it until the answer is delivered. While all are
/// taken, no further command starts, so a client that does not read its answers cannot exhaust memory.
#[derive(Debug)]
pub(crate) struct AnswerPermit {
    _permit: OwnedSemaphorePermit,
}

impl Permits {
    /// At most `max_concurrent` commands run at once.
    pub(crate) fn new(max_concurrent: usize) -> Self {
        Self {
            commands: Arc::new(Semaphore::new(max_concurrent)),
            output_readers: Arc::new(Semaphore::new(MAX_OUTPUT_READERS)),
            long_answers: Arc::new(Semaphore::new(MAX_LONG_ANSWERS)),
        }
    }

    /// Waits for permission to run a command.
    pub(crate) async fn command(&self) -> OwnedSemaphorePermit {
        let commands = self.commands.clone();
        let permit = commands.acquire_owned().await.expect(NEVER_CLOSED);
        // Back-pressure: no command starts while too many long answers are undelivered.
        drop(self.long_answers.acquire().await.expect(NEVER_CLOSED));
        permit
    }

    /// Waits for permission to read a stored output.
    pub(crate) async fn output_reader(&self) -> OwnedSemaphorePermit {
        let output_readers = self.output_readers.clone();
        output_readers.acquire_owned().await.expect(NEVER_CLOSED)
    }

    /// Waits for permission for an answer of this size. Short answers need none.
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

    /// Whether the future completes without waiting.
    async fn is_ready<T>(future: impl Future<Output = T>) -> bool {
        timeout(Duration::ZERO, future).await.is_ok()
    }

    #[tokio::test]
    async fn commands_beyond_the_limit_wait() {
        let permits = Permits::new(2);
        let first = permits.command().await;
        let _second = permits.command().await;
        assert!(!is_ready(permits.command()).await);
        drop(first);
        assert!(is_ready(permits.command()).await);
    }

    #[tokio::test]
    async fn undelivered_long_answers_block_commands_but_not_short_answers() {
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

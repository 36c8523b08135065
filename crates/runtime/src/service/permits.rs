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

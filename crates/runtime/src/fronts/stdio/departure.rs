//! The client's leaving: it closes its end of standard input, or dies.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::streams;

/// How long answers are still written after the client has left.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// How often to look whether the client is still there, while nothing is read that would tell.
const LOOK: Duration = Duration::from_millis(100);

/// Ends what still runs when the client leaves.
pub(super) struct Departure {
    stop: CancellationToken,
    has_begun: bool,
    looks: Interval,
}

impl Departure {
    /// Of a client that is there. What is cancelled ends everything.
    pub(super) fn new(stop: CancellationToken) -> Self {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stop,
            has_begun: false,
            looks,
        }
    }

    /// Notices that the client leaves, although there may be more to read than can be read now.
    /// It may be asked again when it was interrupted.
    pub(super) async fn watch(&mut self) {
        while !self.has_begun {
            self.looks.tick().await;
            if streams::is_input_closed() {
                self.begin();
            }
        }
        pending::<()>().await;
    }

    /// What is nearly done is still answered; the rest has nobody to wait for it.
    pub(super) fn begin(&mut self) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        let stop = self.stop.clone();
        tokio::spawn(async move {
            sleep(LAST_ANSWERS).await;
            stop.cancel();
        });
    }
}

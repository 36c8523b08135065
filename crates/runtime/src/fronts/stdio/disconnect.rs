//! The client's leaving: it closes its end of standard input, or dies.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::streams;

/// How long answers are still written after the client has left.
const RESPONSE_GRACE_PERIOD: Duration = Duration::from_millis(200);

/// How often to look whether the client is still there, while nothing is read that would tell.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Ends what still runs when the client leaves.
pub(super) struct DisconnectWatcher {
    stop: CancellationToken,
    is_disconnected: bool,
    poll_timer: Interval,
}

impl DisconnectWatcher {
    /// Of a client that is there. What is cancelled ends everything.
    pub(super) fn new(stop: CancellationToken) -> Self {
        let mut poll_timer = interval(POLL_INTERVAL);
        poll_timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stop,
            is_disconnected: false,
            poll_timer,
        }
    }

    /// Notices that the client leaves, although there may be more to read than can be read now.
    /// It may be asked again when it was interrupted.
    pub(super) async fn watch(&mut self) {
        while !self.is_disconnected {
            self.poll_timer.tick().await;
            if streams::is_input_closed() {
                self.begin();
            }
        }
        pending::<()>().await;
    }

    /// What is nearly done is still answered; the rest has nobody to wait for it.
    pub(super) fn begin(&mut self) {
        if self.is_disconnected {
            return;
        }
        self.is_disconnected = true;
        let stop = self.stop.clone();
        tokio::spawn(async move {
            sleep(RESPONSE_GRACE_PERIOD).await;
            stop.cancel();
        });
    }
}

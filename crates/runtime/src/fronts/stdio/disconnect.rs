//! Detects that the client has disconnected, by closing standard input or by exiting, and stops the server.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::streams;

/// How long responses are still written after the client has disconnected.
const RESPONSE_GRACE_PERIOD: Duration = Duration::from_millis(200);

/// How often to check for a disconnect while nothing is read. Reading would notice the end of input.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Cancels all running requests soon after the client has disconnected.
pub(super) struct DisconnectWatcher {
    stop: CancellationToken,
    is_disconnected: bool,
    poll_timer: Interval,
}

impl DisconnectWatcher {
    /// Creates a watcher that cancels `stop`.
    pub(super) fn new(stop: CancellationToken) -> Self {
        let mut poll_timer = interval(POLL_INTERVAL);
        poll_timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stop,
            is_disconnected: false,
            poll_timer,
        }
    }

    /// Polls for a disconnect. Never returns. For use while reading is paused, when unread input hides the
    /// end of input. The future may be dropped and created again.
    pub(super) async fn watch(&mut self) {
        while !self.is_disconnected {
            self.poll_timer.tick().await;
            if streams::is_input_closed() {
                self.disconnect();
            }
        }
        pending::<()>().await;
    }

    /// Cancels running requests after a grace period, in which those that are nearly done still get a
    /// response.
    pub(super) fn disconnect(&mut self) {
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

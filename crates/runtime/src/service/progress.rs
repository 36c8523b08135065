//! What is known of a call while it goes on: that it waits, that it runs, the last line it wrote. And how it
//! is told.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::Poll;
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::time::timeout;

use crate::lock::lock;

/// How often a client that wants to know hears of a call.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a call is doing. Whoever carries it out tells, and whoever reports it asks.
#[derive(Default)]
pub(crate) struct Progress(Mutex<State>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Running,
    Wrote(String),
}

impl Progress {
    /// The command has its place.
    pub(crate) fn started(&self) {
        self.set(State::Running);
    }

    /// The command wrote a line.
    pub(crate) fn wrote(&self, line: String) {
        self.set(State::Wrote(line));
    }

    /// What to say about it after so many seconds.
    pub(crate) fn message(&self, seconds: u64) -> String {
        match &*lock(&self.0) {
            State::Waiting => format!("{seconds} s: waiting for other commands to end"),
            State::Running => format!("{seconds} s: running"),
            State::Wrote(line) => format!("{seconds} s: {line}"),
        }
    }

    fn set(&self, state: State) {
        *lock(&self.0) = state;
    }
}

/// How a client is told.
pub(crate) type Tell<'a> = dyn Fn(ProgressNotificationParam) -> Told<'a> + Sync + 'a;

/// Done when it is told.
pub(crate) type Told<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Waits for something, and tells how it goes on: when it has begun, then every second. What is refused never
/// begins. The last message is out before this returns, because none may follow an answer.
pub(crate) async fn reported<T>(
    work: impl Future<Output = T>,
    progress: &Progress,
    token: ProgressToken,
    tell: &Tell<'_>,
) -> T {
    let start = Instant::now();
    let mut work = pin!(work);
    let begun = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    if let Poll::Ready(result) = begun {
        return result;
    }
    let (mut seconds, mut text) = (0, "started".to_owned());
    loop {
        #[expect(clippy::cast_precision_loss, reason = "no call takes that long")]
        let message = ProgressNotificationParam::new(token.clone(), seconds as f64);
        let mut told = tell(message.with_message(text));
        // It goes on also when the client does not listen.
        tokio::select! {
            result = &mut work => {
                told.await;
                return result;
            }
            () = &mut told => {}
        }
        if let Ok(result) = timeout(INTERVAL, &mut work).await {
            return result;
        }
        seconds = start.elapsed().as_secs();
        text = progress.message(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_the_time_and_the_last_that_is_known() {
        let progress = Progress::default();
        assert_eq!(
            progress.message(2),
            "2 s: waiting for other commands to end"
        );
        progress.started();
        assert_eq!(progress.message(3), "3 s: running");
        progress.wrote("half done".to_owned());
        assert_eq!(progress.message(4), "4 s: half done");
    }
}

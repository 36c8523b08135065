//! Reports the progress of a call to its client: waiting, running, its last line of output.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Instant;

use tokio::time::timeout;

use super::{Client, ProgressUpdate};
use crate::call::CallState;

/// Runs a call and reports its progress: once when it has started, then at an interval. A call that completes
/// at its first poll, such as a refused one, is not reported. The last report is delivered before this
/// returns, because no report may follow the answer.
pub(super) async fn report_while<T>(
    call: impl Future<Output = T>,
    state: &CallState,
    client: &impl Client,
) -> T {
    let start = Instant::now();
    let mut call = pin!(call);
    let first_poll = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
    let (mut seconds, mut message) = (0, "started".to_owned());
    if let Poll::Ready(result) = first_poll {
        // A fast command can have ended by now. A call that was refused has not started one.
        if state.has_started() {
            let update = ProgressUpdate { seconds, message };
            client.report_progress(update).await;
        }
        return result;
    }
    loop {
        let mut report = pin!(client.report_progress(ProgressUpdate { seconds, message }));
        // The call continues while the report waits for a client that does not read.
        tokio::select! {
            result = &mut call => {
                report.await;
                return result;
            }
            () = &mut report => {}
        }
        if let Ok(result) = timeout(client.report_interval(), &mut call).await {
            return result;
        }
        seconds = start.elapsed().as_secs();
        message = state.progress_message(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::lock;
    use std::sync::Mutex;
    use tokio::time::sleep;

    /// A client that records all reports.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<(u64, String)>>);

    impl Client for Recorder {
        fn wants_progress(&self) -> bool {
            true
        }

        async fn report_progress(&self, update: ProgressUpdate) {
            lock(&self.0).push((update.seconds, update.message));
        }
    }

    #[tokio::test]
    async fn a_call_is_reported_when_it_starts_and_then_at_an_interval() {
        let (client, state) = (Recorder::default(), CallState::default());
        let call = async {
            state.set_running();
            sleep(client.report_interval() * 3 / 2).await;
            7
        };
        assert_eq!(report_while(call, &state, &client).await, 7);
        let reports = lock(&client.0).clone();
        assert_eq!(
            reports,
            [(0, "started".to_owned()), (1, "1 s: running".to_owned())]
        );
    }

    #[tokio::test]
    async fn a_call_that_completes_at_once_is_reported_only_if_its_command_started() {
        let (client, state) = (Recorder::default(), CallState::default());
        report_while(async {}, &state, &client).await;
        assert!(lock(&client.0).is_empty());
        report_while(async { state.set_running() }, &state, &client).await;
        assert_eq!(lock(&client.0).as_slice(), [(0, "started".to_owned())]);
    }

    #[tokio::test]
    async fn a_client_cannot_ask_by_default() {
        assert_eq!(Recorder::default().ask("Delete it?").await, None);
    }
}

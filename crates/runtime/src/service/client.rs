//! The interface through which a call reaches the client that made it.

use std::time::Duration;

const DEFAULT_REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The client of a request. Each front implements this trait.
pub(crate) trait Client: Sync {
    /// Whether the client asked for progress reports.
    fn wants_progress(&self) -> bool;

    /// The time between two reports.
    fn report_interval(&self) -> Duration {
        DEFAULT_REPORT_INTERVAL
    }

    /// Reports progress. Completes when the report is delivered or can no longer be.
    fn report_progress(&self, update: ProgressUpdate) -> impl Future<Output = ()> + Send;

    /// Asks the user a yes-or-no question. `None` means that the client cannot ask.
    #[cfg_attr(not(test), expect(dead_code, reason = "no call asks yet"))]
    fn ask(&self, _question: &str) -> impl Future<Output = Option<bool>> + Send {
        std::future::ready(None)
    }
}

/// The progress of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgressUpdate {
    /// Seconds since the call started.
    pub(crate) seconds: u64,
    /// A description for the user.
    pub(crate) message: String,
}

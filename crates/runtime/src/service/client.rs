//! What a call may need from whoever asked for it.

/// The other end of a request. Each front implements it for its clients.
pub(crate) trait Client: Sync {
    /// Whether the client wants to know how a call goes on.
    fn wants_progress(&self) -> bool;

    /// Reports progress. It is done when the client has the report, or will never have it.
    fn report_progress(&self, update: ProgressUpdate) -> impl Future<Output = ()> + Send;

    /// Asks the person at the client a yes-or-no question. `None` means that nobody can be asked.
    #[cfg_attr(not(test), expect(dead_code, reason = "nothing asks yet"))]
    fn ask(&self, _question: &str) -> impl Future<Output = Option<bool>> + Send {
        std::future::ready(None)
    }
}

/// How a call goes on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgressUpdate {
    /// Seconds since the call began.
    pub(crate) seconds: u64,
    /// For a person to read.
    pub(crate) message: String,
}

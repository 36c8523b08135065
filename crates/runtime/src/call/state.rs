//! What a call is doing: whoever runs it says so, and whoever reports its progress asks.

use std::sync::Mutex;

use crate::lock::lock;

/// What a call is doing.
#[derive(Default)]
pub(crate) struct CallState(Mutex<CallPhase>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum CallPhase {
    #[default]
    Waiting,
    Running,
    Wrote(String),
}

impl CallState {
    /// The command starts.
    pub(crate) fn started(&self) {
        self.set(CallPhase::Running);
    }

    /// The command wrote a line.
    pub(crate) fn wrote(&self, line: String) {
        self.set(CallPhase::Wrote(line));
    }

    /// What to report after so many seconds.
    pub(crate) fn message(&self, seconds: u64) -> String {
        match &*lock(&self.0) {
            CallPhase::Waiting => format!("{seconds} s: waiting for other commands to end"),
            CallPhase::Running => format!("{seconds} s: running"),
            CallPhase::Wrote(line) => format!("{seconds} s: {line}"),
        }
    }

    fn set(&self, state: CallPhase) {
        *lock(&self.0) = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_the_time_and_the_last_that_is_known() {
        let progress = CallState::default();
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

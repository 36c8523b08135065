//! The state of a call, which progress reports read while the call runs.

use std::sync::Mutex;

use crate::lock::lock;

/// The current phase of a call, shared between the call and its progress reports.
#[derive(Default)]
pub(crate) struct CallState(Mutex<CallPhase>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum CallPhase {
    #[default]
    Waiting,
    Running,
    WroteLine(String),
}

impl CallState {
    /// Records that the command starts.
    pub(crate) fn set_running(&self) {
        self.set(CallPhase::Running);
    }

    /// Records a line of the command's output.
    pub(crate) fn set_last_line(&self, line: String) {
        self.set(CallPhase::WroteLine(line));
    }

    /// Whether the command has started.
    pub(crate) fn has_started(&self) -> bool {
        *lock(&self.0) != CallPhase::Waiting
    }

    /// The progress message after `seconds`.
    pub(crate) fn progress_message(&self, seconds: u64) -> String {
        match &*lock(&self.0) {
            CallPhase::Waiting => format!("{seconds} s: waiting for other commands to end"),
            CallPhase::Running => format!("{seconds} s: running"),
            CallPhase::WroteLine(line) => format!("{seconds} s: {line}"),
        }
    }

    fn set(&self, phase: CallPhase) {
        *lock(&self.0) = phase;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_message_has_the_time_and_the_latest_phase() {
        let state = CallState::default();
        assert_eq!(
            state.progress_message(2),
            "2 s: waiting for other commands to end"
        );
        state.set_running();
        assert_eq!(state.progress_message(3), "3 s: running");
        state.set_last_line("half done".to_owned());
        assert_eq!(state.progress_message(4), "4 s: half done");
    }
}

//! Finds, waits for and ends the processes of a command.

use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getsid, kill_process, kill_process_group, test_kill_process,
    test_kill_process_group, wait,
};

use crate::platform;

/// SIGTERM asks a process to exit. A stopped process handles it only after SIGCONT.
const EXIT_REQUEST: &[Signal] = &[Signal::TERM, Signal::CONT];

/// How long the process group of a command has to exit before its other processes are searched for. Usually
/// there are none.
const GROUP_EXIT_TIME: Duration = Duration::from_millis(5);

/// How long processes have to exit by themselves before they are killed.
const GRACE_PERIOD: Duration = Duration::from_millis(200);

/// How often to search for processes that were forked while others were killed.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// When to give up on a process that cannot be killed because it hangs in the kernel.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Which processes of a command to end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillScope {
    /// All of them.
    All,
    /// Those in this session. A process with its own session is a daemon, which should outlive its command.
    Session(Pid),
}

/// The processes of a command.
pub(crate) struct ProcessTree {
    /// The command's own process, which also leads its process group.
    leader: Pid,
    /// The leader's wait status, set when it was reaped. Its process id may be reused after that.
    status: Option<i32>,
    /// On systems without adoption of orphans: the processes that were found before the first signal.
    known: Vec<Pid>,
}

impl ProcessTree {
    /// The processes of a command that was started with this process id.
    pub(crate) fn new(leader: Pid) -> Self {
        Self {
            leader,
            status: None,
            known: Vec::new(),
        }
    }

    /// The wait status of the command's own process, if it has exited and was reaped.
    pub(crate) fn status(&self) -> Option<i32> {
        self.status
    }

    /// Reaps the children that have exited. Returns whether others are left.
    pub(crate) fn reap_children(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((child, status))) if child == self.leader => {
                    self.status = Some(status.as_raw());
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Whether the command's process group still has members. Always false on systems where orphans are
    /// adopted, because there they are children of this process.
    pub(crate) fn has_group(&self) -> bool {
        !platform::ADOPTS_ORPHANS && test_kill_process_group(self.leader).is_ok()
    }

    /// Asks each process once to exit, and kills those that are left after the grace period. Returns the
    /// leader's wait status.
    pub(crate) fn terminate(&mut self, kill_scope: KillScope) -> i32 {
        if !platform::ADOPTS_ORPHANS {
            self.known = descendants(kill_scope);
        }
        let is_group_signalled = self.status.is_none() || self.has_group();
        if is_group_signalled {
            signal_group(self.leader, EXIT_REQUEST);
            if self.exits_within(GROUP_EXIT_TIME, kill_scope) {
                return self.status_or_killed();
            }
        }
        let mut others = self.members(kill_scope);
        if is_group_signalled {
            // The group has its signal already. What it has started since is its cleanup.
            others.retain(|&other| getpgid(Some(other)) != Ok(self.leader));
        }
        signal_each(&others, EXIT_REQUEST);
        if !self.exits_within(GRACE_PERIOD, kill_scope) {
            let start = Instant::now();
            while start.elapsed() < KILL_TIMEOUT {
                self.kill(kill_scope);
                if self.exits_within(KILL_INTERVAL, kill_scope) {
                    break;
                }
            }
        }
        self.status_or_killed()
    }

    fn kill(&self, kill_scope: KillScope) {
        let members = self.members(kill_scope);
        // Killing a whole group at once leaves its processes no time to fork. The worker's own group is
        // spared.
        let own_group = getpgid(None);
        for &member in &members {
            if let Ok(group) = getpgid(Some(member))
                && Ok(group) != own_group
            {
                signal_group(group, &[Signal::KILL]);
            }
        }
        signal_each(&members, &[Signal::KILL]);
        if self.has_group() {
            signal_group(self.leader, &[Signal::KILL]);
        }
    }

    fn status_or_killed(&self) -> i32 {
        self.status.unwrap_or(Signal::KILL.as_raw())
    }

    fn exits_within(&mut self, timeout: Duration, kill_scope: KillScope) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        while self.is_alive(kill_scope) {
            if start.elapsed() >= timeout {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(KILL_INTERVAL);
        }
        true
    }

    fn is_alive(&mut self, kill_scope: KillScope) -> bool {
        let has_children = self.reap_children();
        self.known.retain(|&pid| test_kill_process(pid).is_ok());
        self.has_group()
            || !self.known.is_empty()
            || match kill_scope {
                KillScope::All => has_children,
                // A process that is being adopted can be missed, so search twice.
                KillScope::Session(_) => {
                    has_children && (0..2).any(|_| !descendants(kill_scope).is_empty())
                }
            }
    }

    fn members(&self, kill_scope: KillScope) -> Vec<Pid> {
        let mut members = descendants(kill_scope);
        for &pid in &self.known {
            if !members.contains(&pid) {
                members.push(pid);
            }
        }
        members
    }
}

fn descendants(kill_scope: KillScope) -> Vec<Pid> {
    let mut descendants = platform::descendants().unwrap_or_default();
    if let KillScope::Session(session) = kill_scope {
        descendants.retain(|&pid| getsid(Some(pid)) == Ok(session));
    }
    descendants
}

/// Signals processes. Errors are ignored, because a process may have exited meanwhile.
fn signal_each(pids: &[Pid], signals: &[Signal]) {
    for &signal in signals {
        for &pid in pids {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Signals a process group. Errors are ignored here too.
fn signal_group(leader: Pid, signals: &[Signal]) {
    for &signal in signals {
        let _ = kill_process_group(leader, signal);
    }
}

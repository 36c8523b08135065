//! Ends the processes that the server adopts when its supervisor was killed.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tokio::net::UnixStream;
use tokio::time::sleep;

use crate::platform;
use crate::pool::SharedState;

/// How long to wait for killed processes before searching again.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// How often to check whether adopted workers have exited.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// Waits until the supervisor at the other end of a socket has exited.
pub(crate) async fn closed(socket: &UnixStream) {
    while socket.readable().await.is_ok() {
        if socket.try_read(&mut [0]).is_ok() {
            return;
        }
    }
}

/// Waits until the supervisor exits although the server does not, because it was killed. Workers that are in use
/// remain, and are reaped when they exit. Everything else that the server adopts is killed: daemons, and what a
/// killed worker has left.
pub(crate) async fn end_orphans_of(
    supervisor: Pid,
    socket: Arc<UnixStream>,
    state: Arc<SharedState>,
) {
    closed(&socket).await;
    // The system closes its files before its children get a new parent.
    while state.lock().is_running_supervisor(supervisor) {
        sleep(KILL_INTERVAL).await;
    }
    loop {
        let mut adopted = platform::children().unwrap_or_default();
        let mut pause = REAP_INTERVAL;
        {
            let state = state.lock();
            // The supervisor is reaped when the next one starts.
            adopted.retain(|&pid| !state.is_supervisor(pid));
            if state.is_closing() || adopted.is_empty() {
                return;
            }
            for &pid in adopted.iter().filter(|&&pid| !state.is_worker(pid)) {
                let _ = kill_process(pid, Signal::KILL);
                pause = KILL_INTERVAL;
            }
        }
        for pid in adopted {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        sleep(pause).await;
    }
}

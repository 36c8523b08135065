//! Stops a command when a signal asks for it.

use std::io;
use std::os::unix::net::UnixStream as BlockingStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on a signal that asks the process to exit, so that running commands are ended first.
pub(super) fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    let (signals, writer) = BlockingStream::pair()?;
    signals.set_nonblocking(true)?;
    let mut signals = UnixStream::from_std(signals)?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    tokio::spawn(async move {
        let _ = signals.read_u8().await;
        stop.cancel();
    });
    Ok(())
}

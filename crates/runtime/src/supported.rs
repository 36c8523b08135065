//! Refuses to compile on unsupported platforms.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "CLImax runs on Linux and macOS only: it needs process groups and file descriptor passing"
);

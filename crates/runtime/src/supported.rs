//! Where the server runs.

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "CLImax runs on Linux and macOS: it relies on process groups, and on passing open files between processes"
);

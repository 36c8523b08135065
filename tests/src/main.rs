//! A server of the fixtures, built like a team's own server.

climax_runtime::catalog!();

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

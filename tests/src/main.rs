//! A server of the fixtures, made the way a team makes one of its own.

climax_runtime::catalog!();

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

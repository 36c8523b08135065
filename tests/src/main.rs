//! A server of the fixtures, made the way a team makes one of its own.

climax::catalog!();

fn main() -> std::process::ExitCode {
    climax::main(&CATALOG)
}

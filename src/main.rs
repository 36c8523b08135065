//! Runs the server with the baked catalog.

climax_runtime::catalog!();

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

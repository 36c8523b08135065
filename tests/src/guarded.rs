//! A server of the fixtures with a baked policy.

climax_runtime::catalog!("guarded.rs");

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

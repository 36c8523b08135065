//! The server of the configs that were baked in.

climax_runtime::catalog!();

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

//! The server of the configs that were baked in.

climax::catalog!();

fn main() -> std::process::ExitCode {
    climax::main(&CATALOG)
}

//! A server of configs that describe command lines of real programs.

climax_runtime::catalog!("programs.rs");

fn main() -> std::process::ExitCode {
    climax_runtime::main(&CATALOG)
}

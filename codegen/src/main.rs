//! Checks configs, or prints the code that is generated for them, without building anything.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use climax_codegen::diagnostic::render;
use climax_codegen::source::read;
use climax_codegen::{compile, emit};

/// Checks CLImax configs, or prints the Rust code that they become.
#[derive(Parser)]
#[command(name = "climax-codegen", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what is wrong with configs; exit with 1 if anything is
    Check {
        /// Configs, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Print the generated Rust code
    Emit {
        /// Configs, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
}

#[expect(clippy::print_stdout, reason = "this program's answers go to stdout")]
fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let (Command::Check { paths } | Command::Emit { paths }) = &command;
    let sources = match read("".as_ref(), paths) {
        Ok(sources) => sources,
        Err(errors) => {
            eprint!("{}", render(&errors, &[]));
            return ExitCode::FAILURE;
        }
    };
    let compiled = compile(&sources);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    let Some(catalog) = compiled.catalog else {
        return ExitCode::FAILURE;
    };
    match command {
        Command::Check { .. } => {
            for cli in &catalog.clis {
                println!("{}: {} tools", cli.name, cli.tools.len());
            }
        }
        Command::Emit { .. } => print!("{}", emit::rust_source(&catalog)),
    }
    ExitCode::SUCCESS
}

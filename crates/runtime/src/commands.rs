//! The command line of the server: one file for each subcommand.

pub(crate) mod configuration;
mod list;
mod run;
mod search;

use std::fmt;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use climax_core::output::counted;

use crate::catalog::Catalog;
use list::ListArguments;
use run::RunArguments;
use search::SearchArguments;

const USAGE_ERROR: u8 = 2;

/// An MCP server for the command-line tools that were baked into it.
#[derive(Parser)]
#[command(
    name = "climax",
    args_conflicts_with_subcommands = true,
    propagate_version = true
)]
struct ServerArguments {
    #[command(subcommand)]
    command: Option<ServerCommand>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Subcommand)]
enum ServerCommand {
    /// Serve over standard input and output (the default)
    #[command(display_name = "climax")]
    Run(RunArguments),
    /// Show what is baked into this binary
    #[command(display_name = "climax")]
    List(ListArguments),
    /// Find tools by what they do, as agents do
    #[command(display_name = "climax")]
    Search(SearchArguments),
}

/// Runs the program that serves a catalog. It reads the process's arguments.
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    climax_runner::unblock_signals();
    if climax_runner::is_helper_process() {
        return climax_runner::helper_main();
    }
    let ServerArguments { command, run } = arguments(catalog);
    let result = match command.unwrap_or(ServerCommand::Run(run)) {
        ServerCommand::Run(arguments) => run::execute(catalog, &arguments),
        ServerCommand::List(arguments) => list::execute(catalog, &arguments),
        ServerCommand::Search(arguments) => search::execute(catalog, &arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

/// Whether a name is that of a subcommand.
fn is_subcommand(name: &str) -> bool {
    ServerArguments::command().find_subcommand(name).is_some()
}

fn arguments(catalog: &'static Catalog) -> ServerArguments {
    // Most clients give none, and then there is no need to prepare for all that there could be.
    if std::env::args_os().len() <= 1 {
        return ServerArguments {
            command: None,
            run: RunArguments::default(),
        };
    }
    let version = format!(
        "{} (catalog {}, {}, {})",
        env!("CARGO_PKG_VERSION"),
        catalog.hash,
        counted(catalog.tables.clis.rows().len(), "CLI"),
        counted(catalog.tables.tools.rows().len(), "tool")
    );
    let matches = ServerArguments::command().version(version).get_matches();
    ServerArguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Why a command fails.
enum Failure {
    /// A sentence.
    Message(String),
    /// Diagnostics that were drawn.
    Diagnostics(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => writeln!(formatter, "error: {message}"),
            Self::Diagnostics(text) => formatter.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_arguments_are_the_defaults_that_the_help_tells() {
        let command = ServerArguments::command().version("1");
        let matches = command.get_matches_from(["climax"]);
        let parsed = ServerArguments::from_arg_matches(&matches).expect("no arguments");
        assert!(parsed.command.is_none());
        assert_eq!(parsed.run, RunArguments::default());
    }
}

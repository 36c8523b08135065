//! Parses the command line and runs a subcommand. Each subcommand has its own file.

mod call;
pub(crate) mod configuration;
mod list;
mod program;
mod run;
mod search;
mod show;
mod signals;
mod spinner;
mod table;

use std::fmt;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use climax_core::output::pluralize;

use crate::catalog::Catalog;
use call::CallArguments;
use configuration::NamePosition;
use list::ListArguments;
use run::RunArguments;
use search::SearchArguments;
use show::ShowArguments;

const USAGE_ERROR: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  climax                            Serve all tools
  climax git docker                 Serve only two CLIs
  climax --policy team.yaml         Serve what a policy allows
  climax list git                   List the tools of a CLI
  climax search undo a commit       Find tools for a task
  climax show git_log               Describe a tool
  climax call git_log max_count=3   Call a tool as an agent would
  claude mcp add climax -- climax   Add the server to a client";

/// MCP server for the command-line tools that were baked into it
#[derive(Parser)]
#[command(
    name = "climax",
    after_help = EXAMPLES,
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
    #[command(display_name = "climax", after_help = run::EXAMPLES)]
    Run(RunArguments),
    /// List the tools that are baked into this binary
    #[command(display_name = "climax", after_help = list::EXAMPLES)]
    List(ListArguments),
    /// Search tools by what they do, as agents do
    #[command(display_name = "climax", after_help = search::EXAMPLES)]
    Search(SearchArguments),
    /// Describe a tool: its arguments, an example and the command line that it becomes
    #[command(display_name = "climax", after_help = show::EXAMPLES)]
    Show(ShowArguments),
    /// Call a tool as an agent would, and print what the agent would read
    #[command(display_name = "climax", after_help = call::EXAMPLES)]
    Call(CallArguments),
}

/// The `main` of a server for a catalog. Reads the process's arguments.
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    climax_runner::protect_process();
    climax_runner::unblock_signals();
    if climax_runner::is_helper_process() {
        return climax_runner::helper_main();
    }
    let ServerArguments { command, run } = parse_arguments(catalog);
    let result = match command {
        None => run::execute(catalog, &run, NamePosition::First),
        Some(ServerCommand::Run(arguments)) => {
            run::execute(catalog, &arguments, NamePosition::AfterCommand)
        }
        Some(ServerCommand::List(arguments)) => list::execute(catalog, &arguments),
        Some(ServerCommand::Search(arguments)) => search::execute(catalog, &arguments),
        Some(ServerCommand::Show(arguments)) => show::execute(catalog, &arguments),
        Some(ServerCommand::Call(arguments)) => {
            return exit_code(call::execute(catalog, &arguments));
        }
    };
    exit_code(result.map(|()| ExitCode::SUCCESS))
}

/// The exit code of a subcommand. Prints why it failed.
fn exit_code(result: Result<ExitCode, Failure>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

/// The names of the subcommands.
fn subcommand_names() -> Vec<String> {
    let command = ServerArguments::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    names.map(str::to_owned).collect()
}

fn parse_arguments(catalog: &'static Catalog) -> ServerArguments {
    // Most clients pass no arguments, and building the parser would delay the start.
    if std::env::args_os().len() <= 1 {
        return ServerArguments {
            command: None,
            run: RunArguments::default(),
        };
    }
    let version = format!(
        "{} (catalog {}, {}, {}, {})",
        env!("CARGO_PKG_VERSION"),
        catalog.hash,
        pluralize(catalog.tables.clis.rows().len(), "CLI"),
        pluralize(catalog.tables.tools.rows().len(), "tool"),
        if climax_discovery::meaning::is_built_in() {
            "search by meaning"
        } else {
            "search by keyword only"
        }
    );
    let matches = ServerArguments::command().version(version).get_matches();
    ServerArguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Why a subcommand failed.
enum Failure {
    /// A message without `error:`.
    Message(String),
    /// Rendered diagnostics.
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
    fn a_start_without_arguments_uses_the_defaults_that_the_help_shows() {
        let command = ServerArguments::command().version("1");
        let matches = command.get_matches_from(["climax"]);
        let parsed = ServerArguments::from_arg_matches(&matches).expect("no arguments");
        assert!(parsed.command.is_none());
        assert_eq!(parsed.run, RunArguments::default());
    }
}

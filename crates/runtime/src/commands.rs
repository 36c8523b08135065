//! The command line of the server.

pub(crate) mod list;

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use climax_core::output::print;
use climax_input::diagnostic::Diagnostic;
use climax_input::draw::render;
use climax_policy::check::Local;
use rmcp::service::ServerInitializeError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::call::guard::{self, Guard};
use crate::call::{LONG_ANSWERS, Limits};
use crate::catalog::Catalog;
use crate::catalog::policies::{self, Allowed};
use crate::catalog::selection::Selection;
use crate::commands::list::{counted, json_list, table};
use crate::discovery;
use crate::fronts::stdio::{self, Stdio};
use crate::log::{self, LogLevel};
use crate::platform;
use crate::runner::{self, Keepers};
use crate::service::{Mode, Offer, Server};

const USAGE_ERROR: u8 = 2;

/// The commands of the command line.
const COMMANDS: [&str; 3] = ["run", "list", "search"];

/// An MCP server for the command-line tools that were baked into it.
#[derive(Parser)]
#[command(
    name = "climax",
    args_conflicts_with_subcommands = true,
    propagate_version = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Run,
}

#[derive(Subcommand)]
enum Command {
    /// Serve over standard input and output (the default)
    #[command(display_name = "climax")]
    Run(Run),
    /// Show what is baked into this binary
    #[command(display_name = "climax")]
    List {
        /// CLIs to show, by file or config name; all if none is named
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// A policy that says which of them are allowed; may be given several times
        #[arg(long, value_name = "FILE")]
        policy: Vec<PathBuf>,
    },
    /// Find tools by what they do, as agents do
    #[command(display_name = "climax")]
    Search {
        /// What is to be done, in plain words
        #[arg(value_name = "QUERY", required = true)]
        query: Vec<String>,
        /// Print JSON, as `search_mcp_tools` answers
        #[arg(long)]
        json: bool,
        /// How many results at most
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = result_count)]
        limit: usize,
        /// A policy that says which tools are allowed; may be given several times
        #[arg(long, value_name = "FILE")]
        policy: Vec<PathBuf>,
    },
}

#[derive(clap::Args, Debug, PartialEq, Eq)]
struct Run {
    /// CLIs to serve, by file or config name; all if none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Register every tool by itself, instead of `climax_search` and `climax_call`
    #[arg(long)]
    classic: bool,
    /// Register the discovery suite too: search in plain words, details, categories, capabilities
    #[arg(long, conflicts_with = "classic")]
    explore: bool,
    /// A policy that says what is allowed; may be given several times, and then all hold
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// How much to log to standard error
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    log_level: LogLevel,
    /// How many commands may run at the same time; further calls wait
    #[arg(long, value_name = "N", default_value_t = Self::default().max_concurrent, value_parser = at_least_one)]
    max_concurrent: usize,
    /// How many bytes of a command's output are kept, and a sixteenth of it of its complaints
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_output)]
    max_output: usize,
    /// How many bytes a message of the client may have
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_request, value_parser = at_least_one)]
    max_request: usize,
    /// Known from CLImax in Python, where configs are read at start.
    #[arg(long, hide = true, value_name = "FILE")]
    config: Vec<String>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            classic: false,
            explore: false,
            policy: Vec::new(),
            log_level: LogLevel::default(),
            max_concurrent: 256,
            max_output: 1024 * 1024,
            max_request: 16 * 1024 * 1024,
            config: Vec::new(),
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=Semaphore::MAX_PERMITS) => Ok(number),
        _ => Err("it is a number from 1".to_owned()),
    }
}

fn result_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=50) => Ok(number),
        _ => Err("it is a number from 1 to 50".to_owned()),
    }
}

/// Runs the program that serves a catalog. It reads the process's arguments.
#[must_use]
pub fn main(catalog: &'static Catalog) -> ExitCode {
    platform::unblock_signals();
    if runner::is_nursery() {
        return runner::nursery();
    }
    match start(catalog, arguments(catalog)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{failure}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

fn arguments(catalog: &'static Catalog) -> Arguments {
    // Most clients give none, and then there is no need to prepare for all that there could be.
    if std::env::args_os().len() <= 1 {
        return Arguments {
            command: None,
            run: Run::default(),
        };
    }
    let version = format!(
        "{} (catalog {}, {}, {})",
        env!("CARGO_PKG_VERSION"),
        catalog.hash,
        counted(catalog.tables.clis.rows().len(), "CLI"),
        counted(catalog.tables.tools.rows().len(), "tool")
    );
    let matches = Arguments::command().version(version).get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Why the server does not start.
enum Failure {
    /// In a sentence.
    Message(String),
    /// In messages that were drawn.
    Drawn(String),
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
            Self::Drawn(text) => formatter.write_str(text),
        }
    }
}

fn start(catalog: &'static Catalog, arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Some(Command::List {
            names,
            json,
            policy,
        }) => {
            let Allowed {
                selection,
                surroundings,
                ..
            } = allowed(catalog, &names, &policy, &|_, _| None)?;
            let text = if json {
                json_list(&selection)
            } else {
                let container = surroundings.iter().find_map(|it| it.container.as_ref());
                let container = container.map_or(String::new(), |container| {
                    format!("Commands run in containers of {}\n", container.image)
                });
                table(&selection) + &container
            };
            Ok(print(&text)?)
        }
        Some(Command::Search {
            query,
            json,
            limit,
            policy,
        }) => {
            let selection = allowed(catalog, &[], &policy, &|_, _| None)?.selection;
            let query = query.join(" ");
            if let Some(problem) = discovery::problem(&query) {
                return Err(problem.into());
            }
            let text = if json {
                discovery::json(&selection, &query, limit)
            } else {
                discovery::table(&selection, &query, limit)
            };
            Ok(print(&text)?)
        }
        Some(Command::Run(run)) => serve(catalog, &run),
        None => serve(catalog, &arguments.run),
    }
}

fn serve(catalog: &'static Catalog, run: &Run) -> Result<(), Failure> {
    if let Some(file) = run.config.first() {
        return Err(configs_are_baked(file).into());
    }
    let Allowed {
        selection,
        surroundings,
        ..
    } = allowed(catalog, &run.names, &run.policy, &guard::trouble)?;
    let guard = Guard::new(&surroundings).map_err(|errors| Failure::Drawn(render(&errors, &[])))?;
    let guard = Arc::new(guard);
    log::start(run.log_level)?;
    if io::stdin().is_terminal() {
        eprintln!("{}", greeting(&selection, run));
    }
    let mode = match (run.classic, run.explore) {
        (true, _) => Mode::Classic,
        (false, true) => Mode::Explore,
        (false, false) => Mode::Discovery,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let result = runtime.block_on(async {
        let limits = Limits {
            places: Arc::new(Semaphore::new(run.max_concurrent)),
            words: Arc::new(Semaphore::new(LONG_ANSWERS)),
            keepers: Keepers::new(run.max_concurrent, {
                let guard = guard.clone();
                move |name| guard.passes(name)
            }),
            max_output: run.max_output,
            guard,
        };
        let offer = Arc::new(Offer::new(selection, mode, limits));
        // Whatever cancels this ends all running calls, and these take their commands with them.
        let stop = CancellationToken::new();
        stop_on_signal(stop.clone()).map_err(|error| format!("cannot start: {error}"))?;
        let limits = stdio::Limits {
            max_request: run.max_request,
            max_concurrent: run.max_concurrent,
        };
        let transport = Stdio::new(offer.clone(), stop.clone(), limits);
        let server = Server::new(offer.clone());
        let result = match rmcp::service::serve_server_with_ct(server, transport, stop).await {
            Ok(running) => running
                .waiting()
                .await
                .map(drop)
                .map_err(|error| error.to_string()),
            // The client went away before it said anything: nothing to complain about.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        };
        offer.close().await;
        result
    });
    // A thread that still reads a terminal is not waited for.
    runtime.shutdown_background();
    result.map_err(Failure::Message)
}

/// A signal that asks the process to end is followed in order, not by sudden death.
fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    let (mut signals, writer) = UnixStream::pair()?;
    let writer = writer.into_std()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    tokio::spawn(async move {
        let _ = signals.read_u8().await;
        stop.cancel();
    });
    Ok(())
}

/// What is left of the catalog by policies, and of that the CLIs that have one of the names. Where
/// nothing is run, it does not matter what this machine has.
fn allowed(
    catalog: &'static Catalog,
    names: &[String],
    policies: &[PathBuf],
    trouble: &dyn Fn(Local, &str) -> Option<Diagnostic>,
) -> Result<Allowed, Failure> {
    let mut allowed = policies::apply(catalog, policies, trouble).map_err(Failure::Drawn)?;
    eprint!("{}", allowed.warnings);
    let all = allowed.selection;
    allowed.selection = all.named(names).map_err(|unknown| {
        if Selection::all(catalog)
            .named(slice::from_ref(unknown))
            .is_ok()
        {
            return format!("the policy allows no tool of `{unknown}`");
        }
        not_there(catalog, unknown)
    })?;
    Ok(allowed)
}

fn not_there(catalog: &Catalog, unknown: &str) -> String {
    let ending = Path::new(unknown).extension();
    let is_yaml = ending.is_some_and(|ending| ending == "yaml" || ending == "yml");
    if is_yaml || unknown.contains('/') {
        return configs_are_baked(unknown);
    }
    if COMMANDS.contains(&unknown) {
        return format!(
            "`{unknown}` is a command, and comes before everything else: climax {unknown} ..."
        );
    }
    if unknown == "validate" {
        return "configs are checked where they are baked: climax-codegen check FOLDER".to_owned();
    }
    let mut message = format!("no CLI named `{unknown}` is baked into this binary. There are:");
    for cli in catalog.tables.clis.rows().iter() {
        let [stem, name] = [cli.stem, cli.name].map(|piece| piece.of(&catalog.tables.text));
        let _ = write!(message, "\n  {stem}");
        if name != stem {
            let _ = write!(message, " ({name})");
        }
    }
    message
}

fn configs_are_baked(file: &str) -> String {
    format!(
        "`{file}` cannot be read: configs are baked into this binary when it is built. \
         Build one that has it: CLIMAX_CONFIGS={file} cargo build --release"
    )
}

/// For someone who starts the server by hand.
fn greeting(selection: &Selection, run: &Run) -> String {
    // The full path: clients start the server from other folders.
    let program = std::env::current_exe().map(|path| path.display().to_string());
    let mut words = vec![program.unwrap_or_else(|_| "climax".to_owned())];
    words.extend(run.names.iter().cloned());
    for (is_given, flag) in [(run.classic, "--classic"), (run.explore, "--explore")] {
        if is_given {
            words.push(flag.to_owned());
        }
    }
    for policy in &run.policy {
        let path = std::path::absolute(policy).unwrap_or_else(|_| policy.clone());
        words.extend(["--policy".to_owned(), path.display().to_string()]);
    }
    format!(
        "This is an MCP server with {}. It speaks JSON-RPC on standard input and output, and \
         is meant to be started by an MCP client, for example:\n\n  claude mcp add climax -- {}\n\n\
         `climax list` shows the tools. Waiting for a client; press Ctrl-C to stop.",
        counted(selection.tool_count() as usize, "tool"),
        words.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_arguments_are_the_defaults_that_the_help_tells() {
        let command = Arguments::command().version("1");
        let matches = command.get_matches_from(["climax"]);
        let parsed = Arguments::from_arg_matches(&matches).expect("no arguments");
        assert!(parsed.command.is_none());
        assert_eq!(parsed.run, Run::default());
    }
}

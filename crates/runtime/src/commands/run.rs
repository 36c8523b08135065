//! `climax run`: serves MCP over standard input and output.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use climax_core::output::counted;
use climax_input::draw::render;
use rmcp::service::ServerInitializeError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::configuration::{self, Configuration, baked_config_message};
use crate::call::guard::{self, ExecutionGuard};
use crate::catalog::Catalog;
use crate::catalog::policies::Allowed;
use crate::catalog::selection::Selection;
use crate::fronts::mcp::{self, Mcp};
use crate::fronts::stdio::{self, Stdio};
use crate::log::{self, LogLevel};
use crate::service::{Mode, Service};

#[derive(clap::Args, Debug, PartialEq, Eq)]
pub(super) struct RunArguments {
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
    #[arg(long, value_name = "N", default_value_t = Self::default().max_concurrent, value_parser = parse_positive)]
    max_concurrent: usize,
    /// How many bytes of a command's output are kept, and a sixteenth of it of its complaints
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_output)]
    max_output: usize,
    /// How many bytes a message of the client may have
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_request, value_parser = parse_positive)]
    max_request: usize,
    /// Known from CLImax in Python, where configs are read at start.
    #[arg(long, hide = true, value_name = "FILE")]
    config: Vec<String>,
}

impl Default for RunArguments {
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

fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=Semaphore::MAX_PERMITS) => Ok(number),
        _ => Err("it is a number from 1".to_owned()),
    }
}

/// Serves until the client leaves.
pub(super) fn execute(catalog: &'static Catalog, arguments: &RunArguments) -> Result<(), Failure> {
    if let Some(file) = arguments.config.first() {
        return Err(baked_config_message(file).into());
    }
    let configuration = configuration(catalog, arguments)?;
    log::start(arguments.log_level)?;
    if io::stdin().is_terminal() {
        eprintln!("{}", greeting(&configuration.selection, arguments));
    }
    let limits = stdio::StdioLimits {
        max_request_bytes: arguments.max_request,
        max_concurrent: configuration.max_concurrent,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let result = runtime.block_on(serve(configuration.service(), limits));
    // A thread that still reads a terminal is not waited for.
    runtime.shutdown_background();
    result.map_err(Failure::Message)
}

/// What the arguments mean, if they are right.
fn configuration(
    catalog: &'static Catalog,
    arguments: &RunArguments,
) -> Result<Configuration, Failure> {
    let Allowed {
        selection,
        surroundings,
        ..
    } = configuration::allowed(
        catalog,
        &arguments.names,
        &arguments.policy,
        &guard::machine_problem,
    )?;
    let guard = ExecutionGuard::new(&surroundings);
    Ok(Configuration {
        selection,
        guard: guard.map_err(|errors| Failure::Diagnostics(render(&errors, &[])))?,
        mode: match (arguments.classic, arguments.explore) {
            (true, _) => Mode::Classic,
            (false, true) => Mode::Explore,
            (false, false) => Mode::Discovery,
        },
        max_concurrent: arguments.max_concurrent,
        max_output: arguments.max_output,
    })
}

async fn serve(service: Service, limits: stdio::StdioLimits) -> Result<(), String> {
    let service = Arc::new(service);
    // Whatever cancels this ends all running calls, and these take their commands with them.
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone()).map_err(|error| format!("cannot start: {error}"))?;
    let transport = Stdio::new(limits, stop.clone(), {
        let service = service.clone();
        move |request| mcp::runs_command(&service, request)
    });
    let handler = Mcp::new(service.clone(), transport.deliveries());
    let result = match rmcp::service::serve_server_with_ct(handler, transport, stop).await {
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
    service.close().await;
    result
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

/// For someone who starts the server by hand.
fn greeting(selection: &Selection, run: &RunArguments) -> String {
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

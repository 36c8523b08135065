//! `climax run`: serves MCP over standard input and output.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

use climax_core::output::pluralize;
use climax_policy::rules::InheritedVariables;
use climax_runner::StoreOptions;
use rmcp::service::ServerInitializeError;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::configuration::{
    Configuration, DEFAULT_INLINE_BYTES, NamePosition, OutputLimits, allowed_with_guard,
    baked_config_message, inherited_variables, parse_inline_bytes,
};
use super::signals::stop_on_signal;
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::fronts::mcp::{self, Mcp};
use crate::fronts::stdio::{self, Stdio};
use crate::log::{self, LogLevel};
use crate::registration::CallTools;
use crate::service::{ServerMode, Service};

pub(super) const EXAMPLES: &str = "\
Examples:
  climax run                      Serve all tools
  climax run git docker           Serve only two CLIs
  climax run --classic            Register every tool by its own name
  climax run --policy team.yaml   Serve what a policy allows
  climax run --log-level info     Log every call to standard error";

#[derive(clap::Args, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
pub(super) struct RunArguments {
    /// CLIs to serve, by file name or config name (default: all)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Register every tool by its own name instead of `climax_search` and `climax_call`
    #[arg(long)]
    classic: bool,
    /// Also register the discovery suite: search in plain words, details, categories, capabilities
    #[arg(long, conflicts_with = "classic")]
    explore: bool,
    /// Replace `climax_call` by `climax_read`, `climax_write` and `climax_destructive`, so that a client can ask
    /// before some of them
    #[arg(long, conflicts_with = "classic")]
    split_calls: bool,
    /// Policy file that restricts what is allowed; can be repeated, and then all policies apply
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// Variables that commands inherit: all, all but those that look like secrets, or few. Policies can only
    /// restrict this further
    #[arg(long, value_name = "LEVEL", value_parser = inherited_variables(), default_value = "all")]
    env: InheritedVariables,
    /// Lowest level of logged messages (default: warning on standard error, debug in the log file)
    #[arg(long, value_enum, ignore_case = true)]
    log_level: Option<LogLevel>,
    /// Commands that may run at the same time; further calls wait
    #[arg(long, value_name = "N", default_value_t = Self::default().max_concurrent, value_parser = parse_positive)]
    max_concurrent: usize,
    /// Bytes of standard output in a result (standard error: 1/4 of it); longer output is stored
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().inline_output, value_parser = parse_inline_bytes)]
    inline_output: usize,
    /// Bytes of output stored per call; all calls together store at most four times as many
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_output)]
    max_output: u64,
    /// Directory for stored output (default: the system's directory for temporary files)
    #[arg(long, value_name = "DIRECTORY")]
    output_dir: Option<PathBuf>,
    /// Store long output, and register `climax_output` to read it
    #[arg(long, requires = "classic")]
    keep_output: bool,
    /// Maximum size of a client's message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Self::default().max_request, value_parser = parse_positive)]
    max_request: usize,
    /// An option of CLImax for Python, which reads configs at start. Accepted to explain how configs are
    /// baked.
    #[arg(long, hide = true, value_name = "FILE")]
    config: Vec<String>,
}

impl Default for RunArguments {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            classic: false,
            explore: false,
            split_calls: false,
            policy: Vec::new(),
            env: InheritedVariables::default(),
            log_level: None,
            max_concurrent: 256,
            inline_output: DEFAULT_INLINE_BYTES,
            max_output: 64 * 1024 * 1024,
            output_dir: None,
            keep_output: false,
            max_request: 16 * 1024 * 1024,
            config: Vec::new(),
        }
    }
}

fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=Semaphore::MAX_PERMITS) => Ok(number),
        _ => Err("expected a number of at least 1".to_owned()),
    }
}

/// Serves until the client disconnects.
pub(super) fn execute(
    catalog: &'static Catalog,
    arguments: &RunArguments,
    position: NamePosition,
) -> Result<(), Failure> {
    if let Some(file) = arguments.config.first() {
        return Err(baked_config_message(file).into());
    }
    let configuration = configuration(catalog, arguments, position)?;
    log::start(arguments.log_level)?;
    if io::stdin().is_terminal() {
        eprintln!("{}", terminal_message(&configuration.selection, arguments));
    }
    let service = configuration.service();
    let limits = stdio::StdioLimits {
        max_request_bytes: arguments.max_request,
        max_concurrent: service.max_concurrent(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let result = runtime.block_on(serve(service, limits));
    // Does not wait for the thread that may still read a terminal.
    runtime.shutdown_background();
    result.map_err(Failure::Message)
}

/// Checks the arguments.
fn configuration(
    catalog: &'static Catalog,
    arguments: &RunArguments,
    position: NamePosition,
) -> Result<Configuration, Failure> {
    let names = (arguments.names.as_slice(), position);
    let (mut selection, guard) =
        allowed_with_guard(catalog, names, &arguments.policy, arguments.env)?;
    if arguments.split_calls {
        selection.call_tools = CallTools::ByRisk;
    }
    Ok(Configuration {
        selection,
        guard,
        mode: match (arguments.classic, arguments.explore) {
            (true, _) => ServerMode::Classic,
            (false, true) => ServerMode::Explore,
            (false, false) => ServerMode::MetaTools,
        },
        max_concurrent: arguments.max_concurrent,
        output: OutputLimits {
            inline_bytes: arguments.inline_output,
            // Without meta tools or `climax_output`, nothing could read it.
            store: (!arguments.classic || arguments.keep_output).then(|| StoreOptions {
                directory: arguments
                    .output_dir
                    .clone()
                    .unwrap_or_else(std::env::temp_dir),
                max_call_bytes: arguments.max_output,
            }),
        },
    })
}

async fn serve(service: Service, limits: stdio::StdioLimits) -> Result<(), String> {
    let service = Arc::new(service);
    // Cancelling it ends all running calls and their commands.
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
        // The client disconnected before it sent anything, which is not an error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    };
    service.close().await;
    result
}

/// The message for a user who starts the server in a terminal.
fn terminal_message(selection: &Selection, arguments: &RunArguments) -> String {
    // The full path, because clients start the server from other directories.
    let program = std::env::current_exe().map(|path| path.display().to_string());
    let mut words = vec![program.unwrap_or_else(|_| "climax".to_owned())];
    words.extend(arguments.names.iter().cloned());
    for (is_set, flag) in [
        (arguments.classic, "--classic"),
        (arguments.explore, "--explore"),
        (arguments.split_calls, "--split-calls"),
    ] {
        if is_set {
            words.push(flag.to_owned());
        }
    }
    for policy in &arguments.policy {
        let path = std::path::absolute(policy).unwrap_or_else(|_| policy.clone());
        words.extend(["--policy".to_owned(), path.display().to_string()]);
    }
    format!(
        "This is an MCP server with {}. It speaks JSON-RPC on standard input and output. \
         An MCP client usually starts it. For example:\n\n  claude mcp add climax -- {}\n\n\
         `climax list` lists the tools. Waiting for a client; press Ctrl-C to stop.",
        pluralize(selection.tool_count() as usize, "tool"),
        words.join(" ")
    )
}

//! `climax call`: calls a tool as an agent would, and prints what the agent would read.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use climax_core::output::{pluralize, print};
use climax_core::risk::Risk;
use climax_policy::rules::InheritedVariables;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Failure;
use super::configuration::{
    Configuration, DEFAULT_INLINE_BYTES, NamePosition, OutputLimits, allowed_with_guard,
    inherited_variables, parse_inline_bytes,
};
use super::program::ToolProgram;
use super::signals::stop_on_signal;
use super::spinner::Spinner;
use crate::call::preview::shell_command;
use crate::call::{CallRequest, DryRun};
use crate::catalog::Catalog;
use crate::service::{Answer, Request, ServerMode, Service};

pub(super) const EXAMPLES: &str = "\
Examples:
  climax call git_log max_count=3
  climax call write_file path=notes.txt text='Some text'
  climax call git_log --json '{\"max_count\": 3}'
  climax call git_clean --dry-run";

/// The exit code for a result that is an error.
const TOOL_ERROR: u8 = 1;

/// The exit code after a signal, as shells have it for Ctrl-C.
const CANCELLED: u8 = 130;

#[derive(clap::Args)]
pub(super) struct CallArguments {
    /// Tool to call
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Arguments of the tool
    #[arg(value_name = "NAME=VALUE", value_parser = parse_argument)]
    arguments: Vec<(String, String)>,
    /// Arguments of the tool as a JSON object
    #[arg(long, value_name = "OBJECT", value_parser = parse_object)]
    json: Option<Map<String, Value>>,
    /// Print what would run, and do not run it
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    print_json: bool,
    /// Policy file that restricts what is allowed; can be repeated, and then all policies apply
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// Variables that commands inherit: all, all but those that look like secrets, or few. Policies can only
    /// restrict this further
    #[arg(long, value_name = "LEVEL", value_parser = inherited_variables(), default_value = "all")]
    env: InheritedVariables,
    /// Bytes of standard output in the result (standard error: 1/4 of it)
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_INLINE_BYTES, value_parser = parse_inline_bytes)]
    inline_output: usize,
}

fn parse_argument(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected a JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn execute(
    catalog: &'static Catalog,
    arguments: &CallArguments,
) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let (selection, guard) = allowed_with_guard(
        catalog,
        (&[], NamePosition::AfterCommand),
        &arguments.policy,
        arguments.env,
    )?;
    let configuration = Configuration {
        selection,
        guard,
        mode: ServerMode::MetaTools,
        max_concurrent: 1,
        output: OutputLimits {
            inline_bytes: arguments.inline_output,
            // Nothing could read it when this process has ended.
            store: None,
        },
    };
    let service = configuration.service();
    let answer = if arguments.dry_run {
        match service.dry_run(&request) {
            Ok(dry_run) if arguments.print_json => {
                print(&dry_run_json(&dry_run))?;
                return Ok(ExitCode::SUCCESS);
            }
            Ok(dry_run) => Answer {
                hints: dry_run.hints.clone(),
                ..Answer::new(dry_run_text(&dry_run), false)
            },
            Err(answer) => answer,
        }
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let request = Request::Call {
            call: request,
            max_risk: Risk::Destructive,
        };
        match runtime.block_on(call(service, request))? {
            Some(answer) => answer,
            None => return Ok(ExitCode::from(CANCELLED)),
        }
    };
    if arguments.print_json {
        let mut result = json!({
            "is_error": answer.is_error,
            "text": answer.text,
            "hints": answer.hints,
        });
        if let Some(structured) = answer.structured {
            result["structured"] = structured.into();
        }
        print(&format!("{result:#}\n"))?;
    } else {
        print(&format!("{}\n", answer.text))?;
        for hint in &answer.hints {
            // A closed terminal is no reason to fail.
            let _ = writeln!(io::stderr(), "{hint}");
        }
    }
    Ok(if answer.is_error {
        ExitCode::from(TOOL_ERROR)
    } else {
        ExitCode::SUCCESS
    })
}

/// Combines the arguments of both forms.
fn request(arguments: &CallArguments) -> Result<CallRequest, Failure> {
    let mut object = arguments.json.clone().unwrap_or_default();
    let pairs = &arguments.arguments;
    if let Some((name, _)) = pairs.iter().find(|(name, _)| object.contains_key(name)) {
        return Err(format!("the argument `{name}` is given twice").into());
    }
    for (name, value) in pairs {
        let value = Value::from(value.as_str());
        match object.get_mut(name) {
            None => {
                object.insert(name.clone(), value);
            }
            // A repeated argument is a list. The tool refuses it if it is not one.
            Some(Value::Array(items)) => items.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(CallRequest {
        tool: arguments.tool.clone(),
        arguments: object,
        unknown_parameters: Map::new(),
    })
}

/// Calls the tool. Returns `None` if a signal cancelled the call; nothing of it is left then.
async fn call(service: Service, request: Request) -> Result<Option<Answer>, String> {
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone()).map_err(|error| format!("cannot start: {error}"))?;
    let spinner = Spinner::new(io::stderr().is_terminal());
    let answer = tokio::select! {
        answer = service.respond(request, &spinner) => Some(answer),
        () = stop.cancelled() => None,
    };
    spinner.clear();
    service.close().await;
    Ok(answer)
}

fn program(dry_run: &DryRun) -> ToolProgram {
    ToolProgram::of_words(
        dry_run.argv.iter().map(String::as_str),
        dry_run.env.iter().map(String::as_str),
        dry_run.directory.as_deref(),
    )
}

fn dry_run_json(dry_run: &DryRun) -> String {
    let mut json = json!(dry_run);
    json["program"] = json!(program(dry_run).path);
    format!("{json:#}\n")
}

fn dry_run_text(dry_run: &DryRun) -> String {
    let words: Vec<_> = dry_run
        .argv
        .iter()
        .map(|word| word.as_str().into())
        .collect();
    let directory = match &dry_run.directory {
        Some(directory) => directory,
        None if dry_run.in_container => "in the container",
        None => "the current directory",
    };
    let input = dry_run.stdin.as_deref().filter(|input| !input.is_empty());
    let variables = if dry_run.env.is_empty() {
        "none".to_owned()
    } else {
        dry_run.env.join(" ")
    };
    let mut text = String::new();
    for (label, value) in [
        ("Program", program(dry_run).description()),
        ("Command line", shell_command(&words)),
        ("Directory", directory.to_owned()),
        (
            "Input",
            input.map_or("none".to_owned(), |input| pluralize(input.len(), "byte")),
        ),
        ("Variables", variables),
        ("Timeout", format!("{} s", dry_run.timeout_seconds)),
    ] {
        let _ = writeln!(text, "{label:<14}{value}");
    }
    if let Some(input) = input {
        let _ = writeln!(text, "\n{input}");
    }
    for (path, contents) in &dry_run.files {
        let _ = writeln!(text, "\n{path}:\n{contents}");
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_pairs_or_an_object() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(parse_argument("a=b=c"), pair("a", "b=c"));
        assert_eq!(parse_argument("a="), pair("a", ""));
        assert!(parse_argument("=b").is_err());
        assert!(parse_argument("a").is_err());
        assert!(parse_object("{\"a\": 1}").is_ok());
        assert_eq!(
            parse_object("[1]"),
            Err("expected a JSON object".to_owned())
        );
        assert!(parse_object("{").is_err());
    }
}

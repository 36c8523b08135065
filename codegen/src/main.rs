//! Checks configs, or prints the code that is generated for them, without building anything.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use climax_codegen::{Compiled, compile};
use climax_core::output;
use climax_input::code::{Code, EXPLANATIONS};
use climax_input::diagnostic::{Diagnostic, Severity, line_and_column};
use climax_input::draw::render;
use climax_input::source::{Source, read};
use serde_json::{Value, json};

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
        #[command(flatten)]
        files: Files,
        /// Print the messages as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the generated Rust code
    Emit {
        #[command(flatten)]
        files: Files,
    },
    /// Tell more about a message
    Explain {
        /// The message's code, such as CLX021; all if there is none
        code: Option<String>,
    },
}

#[derive(clap::Args)]
struct Files {
    /// Configs, or folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// A policy that is to be baked with them
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

fn main() -> ExitCode {
    let succeeded = match Arguments::parse().command {
        Command::Check { files, json: false } => check(&files),
        Command::Check { files, json: true } => check_json(&files),
        Command::Emit { files } => emit(&files),
        Command::Explain { code: Some(code) } => explain(&code),
        Command::Explain { code: None } => explain_all(),
    };
    if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns whether it was written.
fn print(text: &str) -> bool {
    output::print(text)
        .inspect_err(|message| eprintln!("error: {message}"))
        .is_ok()
}

fn check(files: &Files) -> bool {
    let (sources, compiled) = compiled(files);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    let line = |(name, tools): &(String, usize)| format!("{name}: {tools} tools\n");
    compiled.source.is_some() && print(&compiled.clis.iter().map(line).collect::<String>())
}

fn check_json(files: &Files) -> bool {
    let (sources, compiled) = compiled(files);
    let messages: Vec<Value> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| message(diagnostic, &sources))
        .collect();
    print(&format!("{:#}\n", Value::from(messages))) && compiled.source.is_some()
}

fn emit(files: &Files) -> bool {
    let (sources, compiled) = compiled(files);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    compiled.source.is_some_and(|source| print(&source))
}

fn compiled(files: &Files) -> (Vec<Source>, Compiled) {
    match read("".as_ref(), &files.paths, files.policy.as_deref()) {
        Ok(sources) => {
            let compiled = compile(&sources);
            (sources.all, compiled)
        }
        Err(diagnostics) => {
            let compiled = Compiled {
                source: None,
                clis: Vec::new(),
                diagnostics,
            };
            (Vec::new(), compiled)
        }
    }
}

/// A message for machines. What is not known is null.
fn message(diagnostic: &Diagnostic, sources: &[Source]) -> Value {
    let place = diagnostic.span.map(|span| {
        let source = &sources[span.source];
        (&source.path, line_and_column(&source.text, span.start))
    });
    json!({
        "file": place.map(|(path, _)| path),
        "line": place.map(|(_, (line, _))| line),
        "column": place.map(|(_, (_, column))| column),
        "severity": match diagnostic.code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": diagnostic.code.id(),
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}

fn explain(id: &str) -> bool {
    let Some(code) = Code::from_id(id) else {
        eprintln!("error: there is no code `{id}`; `climax-codegen explain` lists all");
        return false;
    };
    print(&format!("{}\n\n{}\n", code.id(), code.explanation()))
}

fn explain_all() -> bool {
    let mut lines = String::new();
    for (code, explanation) in EXPLANATIONS {
        let text = explanation.replace('\n', " ");
        let ends = [". ", ": "].iter().flat_map(|end| text.match_indices(end));
        let is_outside = |at: &usize| text[..*at].matches('`').count() % 2 == 0;
        let end = ends.map(|(at, _)| at).filter(is_outside).min();
        let sentence = &text[..end.unwrap_or(text.len())];
        lines += &[code.id().as_str(), "  ", sentence, "\n"].concat();
    }
    print(&lines)
}

//! Checks configs, or prints the code that is generated for them, without building anything.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use climax_codegen::code::{Code, EXPLANATIONS};
use climax_codegen::diagnostic::{Diagnostic, Severity, line_and_column, render};
use climax_codegen::source::{Source, read};
use climax_codegen::{compile, emit};
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
        /// Configs, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Print the messages as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the generated Rust code
    Emit {
        /// Configs, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Tell more about a message
    Explain {
        /// The message's code, such as CLX021; all if there is none
        code: Option<String>,
    },
}

fn main() -> ExitCode {
    let succeeded = match Arguments::parse().command {
        Command::Check { paths, json: false } => check(&paths),
        Command::Check { paths, json: true } => check_json(&paths),
        Command::Emit { paths } => emit(&paths),
        Command::Explain { code: Some(code) } => explain(&code),
        Command::Explain { code: None } => explain_all(),
    };
    if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A closed pipe (`emit FILE | head`) is no error.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn check(paths: &[PathBuf]) -> bool {
    let (sources, compiled) = compiled(paths);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    let Some(catalog) = compiled.catalog else {
        return false;
    };
    for cli in &catalog.clis {
        print(&format!("{}: {} tools\n", cli.name, cli.tools.len()));
    }
    true
}

fn check_json(paths: &[PathBuf]) -> bool {
    let (sources, compiled) = compiled(paths);
    let messages: Vec<Value> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| message(diagnostic, &sources))
        .collect();
    print(&format!("{:#}\n", Value::from(messages)));
    compiled.catalog.is_some()
}

fn emit(paths: &[PathBuf]) -> bool {
    let (sources, compiled) = compiled(paths);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    match compiled.catalog {
        Some(catalog) => print(&emit::rust_source(&catalog)),
        None => return false,
    }
    true
}

fn compiled(paths: &[PathBuf]) -> (Vec<Source>, climax_codegen::Compiled) {
    match read("".as_ref(), paths) {
        Ok(sources) => {
            let compiled = compile(&sources);
            (sources, compiled)
        }
        Err(diagnostics) => {
            let catalog = None;
            (
                Vec::new(),
                climax_codegen::Compiled {
                    catalog,
                    diagnostics,
                },
            )
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
    print(&format!("{}\n\n{}\n", code.id(), code.explanation()));
    true
}

fn explain_all() -> bool {
    for (code, explanation) in EXPLANATIONS {
        let text = explanation.replace('\n', " ");
        let sentence = text
            .split_once(['.', ':'])
            .map_or(text.as_str(), |(first, _)| first);
        print(&format!("{}  {sentence}\n", code.id()));
    }
    true
}

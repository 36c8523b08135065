//! The command-line program: checks configs, prints generated code, and explains diagnostic codes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use climax_codegen::base_schema::added_fields;
use climax_codegen::{Compiled, compile};
use climax_core::output::{self, pluralize};
use climax_input::code::{Code, EXPLANATIONS};
use climax_input::diagnostic::{Diagnostic, Severity, line_and_column};
use climax_input::draw::render;
use climax_input::source::{Source, read};
use serde_json::{Value, json};

/// Checks CLImax configs and prints the Rust code generated from them.
#[derive(Parser)]
#[command(name = "climax-codegen", version)]
struct CodegenArguments {
    #[command(subcommand)]
    command: CodegenCommand,
}

#[derive(Subcommand)]
enum CodegenCommand {
    /// Report errors and warnings in configs; exit with status 1 on errors
    Check {
        #[command(flatten)]
        files: InputFiles,
        /// Print the diagnostics as JSON
        #[arg(long)]
        json: bool,
        /// Refuse fields that CLImax for Python does not have
        #[arg(long)]
        base_schema: bool,
    },
    /// Print the generated Rust code
    Emit {
        #[command(flatten)]
        files: InputFiles,
    },
    /// Explain a diagnostic code
    Explain {
        /// The code, such as CLX021; lists all codes if omitted
        code: Option<String>,
    },
}

#[derive(clap::Args)]
struct InputFiles {
    /// Config files or folders
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Policy to bake with the configs
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

fn main() -> ExitCode {
    let succeeded = match CodegenArguments::parse().command {
        CodegenCommand::Check {
            files,
            json,
            base_schema,
        } => {
            let (sources, mut compiled) = compile_files(&files);
            if base_schema {
                refuse_added_fields(&sources, &mut compiled);
            }
            if json {
                print_json(&sources, &compiled)
            } else {
                print_report(&sources, &compiled)
            }
        }
        CodegenCommand::Emit { files } => emit(&files),
        CodegenCommand::Explain { code: Some(code) } => explain(&code),
        CodegenCommand::Explain { code: None } => explain_all(),
    };
    if succeeded {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns whether the text could be written.
fn print(text: &str) -> bool {
    output::print(text)
        .inspect_err(|message| eprintln!("error: {message}"))
        .is_ok()
}

/// Adds an error for each field that CLImax for Python does not have.
fn refuse_added_fields(sources: &[Source], compiled: &mut Compiled) {
    let added = added_fields(sources);
    if !added.is_empty() {
        compiled.source = None;
        compiled.diagnostics.extend(added);
    }
}

/// Returns whether there are no errors.
fn print_report(sources: &[Source], compiled: &Compiled) -> bool {
    eprint!("{}", render(&compiled.diagnostics, sources));
    let line = |(name, tools): &(String, usize)| format!("{name}: {}\n", pluralize(*tools, "tool"));
    compiled.source.is_some() && print(&compiled.clis.iter().map(line).collect::<String>())
}

/// Returns whether there are no errors.
fn print_json(sources: &[Source], compiled: &Compiled) -> bool {
    let diagnostics: Vec<Value> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic_json(diagnostic, sources))
        .collect();
    print(&format!("{:#}\n", Value::from(diagnostics))) && compiled.source.is_some()
}

fn emit(files: &InputFiles) -> bool {
    let (sources, compiled) = compile_files(files);
    eprint!("{}", render(&compiled.diagnostics, &sources));
    compiled.source.is_some_and(|source| print(&source))
}

fn compile_files(files: &InputFiles) -> (Vec<Source>, Compiled) {
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

/// A diagnostic as JSON. Unknown values are null.
fn diagnostic_json(diagnostic: &Diagnostic, sources: &[Source]) -> Value {
    let location = diagnostic.span.map(|span| {
        let source = &sources[span.source];
        (&source.path, line_and_column(&source.text, span.start))
    });
    json!({
        "file": location.map(|(path, _)| path),
        "line": location.map(|(_, (line, _))| line),
        "column": location.map(|(_, (_, column))| column),
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
        eprintln!("error: unknown code `{id}`; run `climax-codegen explain` to list all codes");
        return false;
    };
    print(&format!("{}\n\n{}\n", code.id(), code.explanation()))
}

fn explain_all() -> bool {
    let mut lines = String::new();
    for (code, explanation) in EXPLANATIONS {
        let text = explanation.replace('\n', " ");
        lines += &[code.id().as_str(), "  ", first_clause(&text), "\n"].concat();
    }
    print(&lines)
}

/// The text up to the first `. ` or `: ` outside of backticks.
fn first_clause(text: &str) -> &str {
    let ends = [". ", ": "].iter().flat_map(|end| text.match_indices(end));
    let is_outside_backticks =
        |offset: &usize| text[..*offset].matches('`').count().is_multiple_of(2);
    let end = ends
        .map(|(offset, _)| offset)
        .filter(is_outside_backticks)
        .min();
    &text[..end.unwrap_or(text.len())]
}

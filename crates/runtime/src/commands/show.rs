//! `climax show`: describes a tool, as text or as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::ToolRow;
use climax_core::output::print;
use climax_core::risk::Risk;
use climax_core::scalar::{Scalar, ValueShape};
use serde_json::{Map, Value, json};

use super::Failure;
use super::configuration::{NamePosition, allowed};
use super::list::tool_json;
use super::program::ToolProgram;
use super::table::{Column, ColumnWidth, format_table};
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::discovery::{example_calls, similar_names};

pub(super) const EXAMPLES: &str = "\
Examples:
  climax show git_log
  climax show git_log --json";

#[derive(clap::Args)]
pub(super) struct ShowArguments {
    /// Tool to describe
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Policy file that restricts which tools are allowed; can be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

const COLUMNS: [Column; 4] = [
    ("ARGUMENT", ColumnWidth::Content),
    ("TYPE", ColumnWidth::Content),
    ("DEFAULT", ColumnWidth::Content),
    ("DESCRIPTION", ColumnWidth::Share(1)),
];

pub(super) fn execute(catalog: &'static Catalog, arguments: &ShowArguments) -> Result<(), Failure> {
    // Nothing runs, so paths in policies need not exist on this machine.
    let selection = allowed(
        catalog,
        (&[], NamePosition::AfterCommand),
        &arguments.policy,
        &|_, _| None,
    )?
    .selection;
    let name = &arguments.tool;
    let Some((number, tool)) = selection.find_tool(name) else {
        return Err(unknown_tool(&selection, name).into());
    };
    let text = if arguments.json {
        format!("{:#}\n", details_json(&selection, number, &tool))
    } else {
        tool_text(&selection, number, &tool)
    };
    Ok(print(&text)?)
}

fn unknown_tool(selection: &Selection, name: &str) -> String {
    let similar = similar_names(selection, name);
    let suggestion = if similar.is_empty() {
        "`climax list` lists all tools".to_owned()
    } else {
        format!("did you mean `{}`?", similar.join("`, `"))
    };
    format!("there is no tool named `{name}`; {suggestion}")
}

fn tool_text(selection: &Selection, number: u32, tool: &ToolRow) -> String {
    let cli = selection.cli_of(tool);
    let name = selection.text(tool.name);
    let mut text = format!("{name}\n{}\n\n", selection.text(tool.description));
    for (label, value) in [
        ("CLI", selection.text(cli.name).to_owned()),
        (
            "Risk",
            tool.risk.map_or("not declared", Risk::name).to_owned(),
        ),
        ("Program", ToolProgram::of(selection, tool).description()),
    ] {
        let _ = writeln!(text, "{label:<9}{value}");
    }
    let arguments = selection.tables.arguments_of(tool);
    if arguments.is_empty() {
        text += "\nNo arguments\n";
    } else {
        let rows: Vec<[String; 4]> = arguments.iter().map(argument_row).collect();
        let _ = write!(text, "\n{}", format_table(COLUMNS, &rows));
    }
    for example in example_calls(selection, number, tool, 1) {
        let args = &example.arguments.args;
        let _ = writeln!(text, "\nExample\n  {}", call_command(name, args));
        let _ = writeln!(text, "\nIts command line\n  {}", example.command_line);
        for (label, value) in [
            ("Its input", &example.stdin),
            ("Its directory", &example.directory),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "\n{label}\n  {value}");
            }
        }
    }
    let schema = Value::from(selection.input_schema(tool));
    let _ = writeln!(text, "\nSchema\n{schema:#}");
    text
}

/// The `climax call` that makes a call.
fn call_command(name: &str, args: &Map<String, Value>) -> String {
    let pairs = args.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    });
    let words = ["climax", "call", name].map(str::to_owned);
    let words: Vec<_> = words.into_iter().chain(pairs).map(Into::into).collect();
    crate::call::preview::shell_command(&words)
}

fn argument_row(argument: &ArgumentFacts<'_>) -> [String; 4] {
    let format_scalar = |value: &Scalar<'_>| match value {
        Scalar::Text(text) => text.clone().into_owned(),
        other => other.json().to_string(),
    };
    let choices: Vec<String> = argument.choices.iter().map(format_scalar).collect();
    let default: Vec<String> = argument.default.iter().map(format_scalar).collect();
    let default = match default.join(", ") {
        none if none.is_empty() && argument.required => "required".to_owned(),
        default => default,
    };
    let list_mark = match argument.shape {
        ValueShape::List => "...",
        ValueShape::Single | ValueShape::Map => "",
    };
    [
        argument.name.to_owned(),
        if choices.is_empty() {
            match argument.shape {
                ValueShape::Map => "key=value...".to_owned(),
                _ => format!("{}{list_mark}", argument.kind.name()),
            }
        } else {
            format!("{}{list_mark}", choices.join("|"))
        },
        default,
        argument.description.to_owned(),
    ]
}

/// What `climax list --json` has about a tool, its program and an example.
fn details_json(selection: &Selection, number: u32, tool: &ToolRow) -> Value {
    let program = ToolProgram::of(selection, tool);
    let mut details = tool_json(selection, tool, Some(program.path.is_some()));
    details["program"] = json!(program.name);
    details["program_path"] = json!(program.path);
    details["examples"] = json!(example_calls(selection, number, tool, 1));
    details
}

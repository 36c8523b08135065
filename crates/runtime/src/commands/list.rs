//! `climax list`: prints the tools in the binary, as a table or as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::output::{pluralize, print};
use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar, ValueShape};
use climax_policy::limit::LimitTarget;
use serde_json::{Value, json};

use super::Failure;
use super::configuration::{NamePosition, allowed};
use super::program::ToolProgram;
use super::table::{Column, ColumnWidth, format_table};
use crate::catalog::Catalog;
use crate::catalog::policies::AllowedCatalog;
use crate::catalog::selection::Selection;

pub(super) const EXAMPLES: &str = "\
Examples:
  climax list
  climax list git docker
  climax list --policy team.yaml
  climax list --json";

#[derive(clap::Args)]
pub(super) struct ListArguments {
    /// CLIs to list, by file name or config name (default: all)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Policy file that restricts which tools are allowed; can be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

pub(super) fn execute(catalog: &'static Catalog, arguments: &ListArguments) -> Result<(), Failure> {
    // Nothing runs, so paths in policies need not exist on this machine.
    let AllowedCatalog {
        selection,
        execution_rules,
        ..
    } = allowed(
        catalog,
        (&arguments.names, NamePosition::AfterCommand),
        &arguments.policy,
        &|_, _| None,
    )?;
    let container = execution_rules
        .iter()
        .find_map(|rules| rules.container.as_ref());
    // In a container, programs come from its image.
    let programs = match container {
        Some(_) => ProgramLocation::Container,
        None => ProgramLocation::Machine,
    };
    let text = if arguments.json {
        json_list(&selection, programs)
    } else {
        let container = container.map_or(String::new(), |container| {
            format!(
                "Commands run in containers from the image {}\n",
                container.image
            )
        });
        tools_table(&selection, programs) + &container
    };
    Ok(print(&text)?)
}

/// Where the programs of tools are started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramLocation {
    Machine,
    Container,
}

const COLUMNS: [Column; 5] = [
    ("TOOL", ColumnWidth::Content),
    ("RISK", ColumnWidth::Content),
    ("DESCRIPTION", ColumnWidth::Share(2)),
    ("COMMAND", ColumnWidth::Share(1)),
    ("ARGUMENTS", ColumnWidth::Share(2)),
];

/// Formats the tools as one table per CLI.
fn tools_table(selection: &Selection, programs: ProgramLocation) -> String {
    let mut text = String::new();
    for cli in selection.clis() {
        let rows: Vec<[String; 5]> = selection
            .tools_of(&cli)
            .iter()
            .map(|tool| tool_row(selection, &tool))
            .collect();
        let _ = writeln!(
            text,
            "{} ({})",
            selection.text(cli.name),
            pluralize(rows.len(), "tool")
        );
        if programs == ProgramLocation::Machine {
            let missing = missing_programs(selection, &cli);
            if !missing.is_empty() {
                let _ = writeln!(text, "Not installed: {}", missing.join(", "));
            }
        }
        text += &format_table(COLUMNS, &rows);
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{} in all",
        pluralize(selection.tool_count() as usize, "tool")
    );
    text
}

/// The programs of a CLI's tools that are not installed, each once, in the order of the tools.
fn missing_programs(selection: &Selection, cli: &CliRow) -> Vec<String> {
    let mut missing = Vec::new();
    for tool in selection.tools_of(cli).iter() {
        let program = ToolProgram::of(selection, &tool);
        if program.path.is_none() && !missing.contains(&program.name) {
            missing.push(program.name);
        }
    }
    missing
}

fn tool_row(selection: &Selection, tool: &ToolRow) -> [String; 5] {
    let arguments = selection.tables.arguments_of(tool);
    let arguments: Vec<String> = arguments.iter().map(format_argument).collect();
    [
        selection.text(tool.name).to_owned(),
        tool.risk.map_or("", Risk::name).to_owned(),
        selection.text(tool.description).to_owned(),
        command_prefix(selection, tool),
        arguments.join(" "),
    ]
}

/// Formats an argument: `name`, `count:integer=10`, `count:1..50`, `format:json|text`, `path:/src.*/`, `paths...`.
/// Optional arguments are in brackets.
fn format_argument(argument: &ArgumentFacts<'_>) -> String {
    let mut text = argument.name.to_owned();
    let format_scalar = |value: &Scalar<'_>| match value {
        Scalar::Text(text) => text.clone().into_owned(),
        other => other.json().to_string(),
    };
    let (minimum, maximum) = (
        argument.minimum(LimitTarget::Value),
        argument.maximum(LimitTarget::Value),
    );
    let mut patterns = argument.patterns(LimitTarget::Value);
    if !argument.choices.is_empty() {
        text += ":";
        text += &argument
            .choices
            .iter()
            .map(format_scalar)
            .collect::<Vec<_>>()
            .join("|");
    } else if minimum.is_some() || maximum.is_some() {
        let format_bound =
            |bound: Option<Number>| bound.map_or(String::new(), |number| number.json().to_string());
        let (minimum, maximum) = (format_bound(minimum), format_bound(maximum));
        let _ = write!(text, ":{minimum}..{maximum}");
    } else if let Some(pattern) = patterns.find_map(|pattern| pattern.schema) {
        let _ = write!(text, ":/{pattern}/");
    } else if argument.kind != ArgumentType::String {
        text += ":";
        text += argument.kind.name();
    }
    match argument.shape {
        ValueShape::Single => {}
        ValueShape::List => text += "...",
        ValueShape::Map => text += ":key=value...",
    }
    if !argument.default.is_empty() {
        let default: Vec<String> = argument.default.iter().map(format_scalar).collect();
        text += "=";
        text += &default.join(",");
    }
    if argument.required {
        text
    } else {
        format!("[{text}]")
    }
}

/// The tools as JSON.
fn json_list(selection: &Selection, programs: ProgramLocation) -> String {
    let tools: Vec<Value> = selection
        .clis()
        .flat_map(|cli| selection.tools_of(&cli).iter())
        .map(|tool| {
            let is_installed = match programs {
                ProgramLocation::Container => None,
                ProgramLocation::Machine => Some(ToolProgram::of(selection, &tool).path.is_some()),
            };
            tool_json(selection, &tool, is_installed)
        })
        .collect();
    let list = json!({
        "catalog": selection.catalog.hash,
        "tools": tools,
    });
    format!("{list:#}\n")
}

/// A tool as JSON. `is_installed` says whether its program is, if that is known.
pub(super) fn tool_json(
    selection: &Selection,
    tool: &ToolRow,
    is_installed: Option<bool>,
) -> Value {
    let cli = selection.cli_of(tool);
    json!({
        "tool_name": selection.text(tool.name),
        "description": selection.text(tool.description),
        "cli_name": selection.text(cli.name),
        "category": cli.category.map(|category| selection.text(category)),
        "tags": selection.tables.list(cli.tags).collect::<Vec<_>>(),
        "risk": tool.risk.map(Risk::name),
        "input_schema": selection.input_schema(tool),
        "command": command_prefix(selection, tool),
        "installed": is_installed,
    })
}

/// The words that every command line of a tool starts with.
fn command_prefix(selection: &Selection, tool: &ToolRow) -> String {
    let base = selection.text(selection.cli_of(tool).command);
    let command = format!("{base} {}", selection.text(tool.command));
    command.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use climax_catalog::facts::{LimitFacts, PatternFacts, PlacementKind};

    #[test]
    fn an_argument_shows_its_type_its_default_and_whether_it_is_required() {
        let string = ArgumentFacts {
            name: "path",
            description: "",
            kind: ArgumentType::String,
            shape: ValueShape::Single,
            required: true,
            default: Vec::new(),
            choices: Vec::new(),
            placement: PlacementKind::Positional,
            flag: "",
            is_path: false,
            limits: Vec::new(),
        };
        assert_eq!(format_argument(&string), "path");
        let list = ArgumentFacts {
            shape: ValueShape::List,
            ..string.clone()
        };
        assert_eq!(format_argument(&list), "path...");
        let integer = ArgumentFacts {
            kind: ArgumentType::Integer,
            required: false,
            default: vec![Scalar::Integer(10)],
            ..string.clone()
        };
        assert_eq!(format_argument(&integer), "[path:integer=10]");
        let limited = ArgumentFacts {
            limits: vec![LimitFacts {
                min: Some(Number::Integer(1)),
                ..LimitFacts::default()
            }],
            ..integer
        };
        assert_eq!(format_argument(&limited), "[path:1..=10]");
        let choice = ArgumentFacts {
            choices: ["a", "b"].map(|text| Scalar::Text(text.into())).into(),
            ..string.clone()
        };
        assert_eq!(format_argument(&choice), "path:a|b");
        let pattern = PatternFacts {
            text: "a",
            schema: Some("^a$"),
        };
        let matched = ArgumentFacts {
            limits: vec![LimitFacts {
                pattern: Some(pattern),
                ..LimitFacts::default()
            }],
            ..string
        };
        assert_eq!(format_argument(&matched), "path:/^a$/");
    }
}

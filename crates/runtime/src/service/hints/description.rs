//! Describes a tool in a hint: what it does, its risk and its arguments.

use std::fmt::Write as _;

use climax_catalog::facts::ArgumentFacts;
use climax_catalog::tables::ToolRow;
use climax_core::risk::{Risk, assumed_risk};
use climax_core::scalar::{ArgumentType, Scalar};
use climax_discovery::notes::first_sentence;

use crate::catalog::selection::Selection;

/// A tool with its description, and a line for each argument.
pub(super) fn details(selection: &Selection, tool: &ToolRow) -> String {
    let description = selection.text(tool.description);
    let mut text = heading(selection, tool, description);
    for argument in selection.tables.arguments_of(tool) {
        let _ = write!(text, "\n  - {}", signature(&argument));
        if !argument.description.is_empty() {
            let _ = write!(text, ": {}", argument.description);
        }
    }
    text
}

/// Tools with their descriptions and the names of their arguments. The description of a tool that reads is cut to its
/// first sentence; for others, what happens to existing files and what may be lost is often said later.
pub(super) fn summaries<'s>(
    selection: &'s Selection,
    names: &'s [&str],
) -> impl Iterator<Item = String> + 's {
    let tools = names.iter().filter_map(|name| selection.find_tool(name));
    tools.map(|(_, tool)| summary(selection, &tool))
}

fn summary(selection: &Selection, tool: &ToolRow) -> String {
    let description = selection.text(tool.description);
    let description = match assumed_risk(tool.risk) {
        Risk::Write | Risk::Destructive => description,
        Risk::Read => first_sentence(description),
    };
    let mut text = heading(selection, tool, description);
    let arguments = selection.tables.arguments_of(tool);
    let arguments: Vec<String> = arguments.iter().map(signature).collect();
    if !arguments.is_empty() {
        let _ = write!(text, "\n  - {}", arguments.join(", "));
    }
    text
}

fn heading(selection: &Selection, tool: &ToolRow, description: &str) -> String {
    let risk = tool.risk.filter(|risk| *risk != Risk::Read);
    let risk = risk.map_or(String::new(), |risk| format!(" (risk: {})", risk.name()));
    let arguments = selection.tables.arguments.rows().slice(tool.arguments);
    let no_arguments = if arguments.is_empty() {
        " (no arguments)"
    } else {
        ""
    };
    let name = selection.text(tool.name);
    format!("{name}{risk}: {description}{no_arguments}")
}

/// The name of an argument, with what a call must know about its value.
fn signature(argument: &ArgumentFacts<'_>) -> String {
    let type_name = argument.shape.type_name(argument.kind);
    let choices: Vec<String> = argument.choices.iter().map(Scalar::to_string).collect();
    let notes = [
        argument.required.then(|| "required".to_owned()),
        (type_name != ArgumentType::String.name()).then(|| type_name.to_owned()),
        (!choices.is_empty()).then(|| format!("one of {}", choices.join(" | "))),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    match notes.as_slice() {
        [] => argument.name.to_owned(),
        notes => format!("{} ({})", argument.name, notes.join(", ")),
    }
}

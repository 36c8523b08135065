//! Shows what is baked into a binary: a table for people, JSON for programs.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::selection::Selection;

/// The widest that a description is shown.
const WIDEST: usize = 60;

/// A table of the tools, CLI by CLI.
pub(crate) fn table(selection: &Selection) -> String {
    let mut text = String::new();
    for cli in selection.clis() {
        let name = selection.text(cli.name);
        let _ = writeln!(text, "{name}: {} tools", cli.tool_count);
        let rows: Vec<[String; 4]> = selection
            .tools_of(cli)
            .iter()
            .map(|tool| row(selection, tool))
            .collect();
        let header = ["TOOL", "DESCRIPTION", "COMMAND", "ARGUMENTS"].map(str::to_owned);
        let widths: [usize; 3] = std::array::from_fn(|column| {
            let cells = rows.iter().chain([&header]).map(|row| &row[column]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        });
        for row in [&header].into_iter().chain(&rows) {
            let [tool, description, command, arguments] = row;
            let [tool_width, description_width, command_width] = widths;
            let line = format!(
                "  {tool:tool_width$}  {description:description_width$}  {command:command_width$}  {arguments}"
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{} tools in all", selection.tool_count());
    text
}

fn row(selection: &Selection, tool: &Tool) -> [String; 4] {
    let object = object(selection, tool);
    let description = object["description"].as_str().unwrap_or_default();
    let description = description.lines().next().unwrap_or_default();
    let description = match description.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", description[..end].trim_end()),
        None => description.to_owned(),
    };
    let required = object["input_schema"]["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let properties = object["input_schema"]["properties"].as_object();
    let arguments: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| argument(name, property, is_required(name)))
        .collect();
    [
        selection.text(tool.name).to_owned(),
        description,
        object["command"].as_str().unwrap_or_default().to_owned(),
        arguments.join(" "),
    ]
}

/// `name`, `count:integer=10`, `format:json|text`; brackets around what may be left out.
fn argument(name: &str, property: &Value, is_required: bool) -> String {
    let mut text = name.to_owned();
    let word = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    if let Some(values) = property["enum"].as_array() {
        text += ":";
        text += &values.iter().map(word).collect::<Vec<_>>().join("|");
    } else if property["type"] != "string" {
        text += ":";
        text += property["type"].as_str().unwrap_or_default();
    }
    if let Some(default) = property.get("default") {
        text += "=";
        text += &word(default);
    }
    if is_required {
        text
    } else {
        format!("[{text}]")
    }
}

/// Everything about the tools as JSON.
pub(crate) fn json_list(selection: &Selection) -> String {
    let tools: Vec<Value> = selection
        .clis()
        .flat_map(|cli| selection.tools_of(cli))
        .map(|tool| Value::Object(object(selection, tool)))
        .collect();
    let list = serde_json::json!({
        "catalog": selection.catalog.hash,
        "tools": tools,
    });
    format!("{list:#}\n")
}

fn object(selection: &Selection, tool: &Tool) -> Map<String, Value> {
    let Some(cli) = selection.catalog.clis.get(tool.cli as usize) else {
        return Map::new();
    };
    let json = [
        r#"{"tool_name":"#,
        selection.text(tool.head),
        selection.text(cli.entry_middle),
        selection.text(tool.schema),
        "}",
    ]
    .concat();
    let mut object: Map<String, Value> = serde_json::from_str(&json).unwrap_or_default();
    let command = format!(
        "{} {}",
        selection.text(cli.command),
        selection.text(tool.command)
    );
    object.insert("command".to_owned(), command.trim_end().into());
    object
}

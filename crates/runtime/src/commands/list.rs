//! Shows what is baked into a binary: a table for people, JSON for programs.

use std::fmt::Write as _;

use climax_catalog::facts::Argument;
use climax_catalog::tables::Tool;
use climax_core::scalar::{Kind, Number, Scalar};
use serde_json::{Value, json};

use crate::catalog::selection::Selection;

/// The width of a table where there is no terminal.
const USUAL_WIDTH: usize = 120;
const NARROWEST_CELL: usize = 12;
const GAP: usize = 2;

/// A table of the tools, CLI by CLI, as wide as the terminal.
pub(crate) fn table(selection: &Selection) -> String {
    let mut text = String::new();
    for cli in selection.clis() {
        let rows: Vec<[String; 4]> = selection
            .tools_of(&cli)
            .iter()
            .map(|tool| row(selection, &tool))
            .collect();
        let _ = writeln!(
            text,
            "{} ({})",
            selection.text(cli.name),
            counted(rows.len(), "tool")
        );
        text += &columns(["TOOL", "DESCRIPTION", "COMMAND", "ARGUMENTS"], &rows);
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{} in all",
        counted(selection.tool_count() as usize, "tool")
    );
    text
}

/// Rows under a header, as wide as the terminal: names, and three columns of which the third is short.
pub(crate) fn columns(header: [&str; 4], rows: &[[String; 4]]) -> String {
    let width = rustix::termios::tcgetwinsize(std::io::stdout())
        .map_or(USUAL_WIDTH, |size| usize::from(size.ws_col))
        .max(4 * (NARROWEST_CELL + GAP));
    let header = header.map(str::to_owned);
    let longest = rows.iter().chain([&header]).map(|row| row[0].len()).max();
    let name_width = longest.unwrap_or(0).min(width / 3);
    let rest = width - name_width - 4 * GAP;
    let widths = [name_width, rest * 2 / 5, rest / 5, rest * 2 / 5];
    let mut text = String::new();
    for row in [&header].into_iter().chain(rows) {
        push_row(&mut text, row, widths);
    }
    text
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn push_row(text: &mut String, row: &[String; 4], widths: [usize; 4]) {
    let cells: [Vec<String>; 4] = std::array::from_fn(|column| wrap(&row[column], widths[column]));
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for number in 0..height {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let part = cell.get(number).map_or("", String::as_str);
            let _ = write!(line, "{:GAP$}{part:width$}", "");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Breaks text into lines, between words where possible.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.len() <= width => {
                line.push(' ');
                line.extend(word);
                continue;
            }
            _ => {}
        }
        while word.len() > width {
            lines.push(word.drain(..width).collect());
        }
        lines.push(word.into_iter().collect());
    }
    lines
}

fn row(selection: &Selection, tool: &Tool) -> [String; 4] {
    let arguments = selection.tables.arguments_of(tool);
    let arguments: Vec<String> = arguments.iter().map(argument).collect();
    [
        selection.text(tool.name).to_owned(),
        selection.text(tool.description).to_owned(),
        command(selection, tool),
        arguments.join(" "),
    ]
}

/// `name`, `count:integer=10`, `count:1..50`, `format:json|text`, `path:/src.*/`; brackets around what
/// may be left out.
fn argument(argument: &Argument<'_>) -> String {
    let mut text = argument.name.to_owned();
    let word = |value: &Scalar<'_>| match value {
        Scalar::Text(text) => text.clone().into_owned(),
        other => other.json().to_string(),
    };
    let (minimum, maximum) = (argument.minimum(), argument.maximum());
    if !argument.choices.is_empty() {
        text += ":";
        text += &argument
            .choices
            .iter()
            .map(word)
            .collect::<Vec<_>>()
            .join("|");
    } else if minimum.is_some() || maximum.is_some() {
        let end = |bound: Option<Number>| bound.map_or(String::new(), |it| it.json().to_string());
        let _ = write!(text, ":{}..{}", end(minimum), end(maximum));
    } else if let Some(pattern) = argument.patterns().find_map(|it| it.schema) {
        let _ = write!(text, ":/{pattern}/");
    } else if argument.kind != Kind::String {
        text += ":";
        text += argument.kind.name();
    }
    if let Some(default) = &argument.default {
        text += "=";
        text += &word(default);
    }
    if argument.required {
        text
    } else {
        format!("[{text}]")
    }
}

/// Everything about the tools as JSON.
pub(crate) fn json_list(selection: &Selection) -> String {
    let tools: Vec<Value> = selection
        .clis()
        .flat_map(|cli| selection.tools_of(&cli).iter())
        .map(|tool| object(selection, &tool))
        .collect();
    let list = json!({
        "catalog": selection.catalog.hash,
        "tools": tools,
    });
    format!("{list:#}\n")
}

fn object(selection: &Selection, tool: &Tool) -> Value {
    let cli = selection.cli_of(tool);
    json!({
        "tool_name": selection.text(tool.name),
        "description": selection.text(tool.description),
        "cli_name": selection.text(cli.name),
        "category": cli.category.map(|category| selection.text(category)),
        "tags": selection.tables.list(cli.tags).collect::<Vec<_>>(),
        "input_schema": selection.schema(tool),
        "command": command(selection, tool),
    })
}

/// The words with which all command lines of a tool begin.
fn command(selection: &Selection, tool: &Tool) -> String {
    let base = selection.text(selection.cli_of(tool).command);
    let command = format!("{base} {}", selection.text(tool.command));
    command.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use climax_catalog::facts::{Limit, Pattern, PlacementKind};

    #[test]
    fn text_is_wrapped_between_words_and_long_words_are_broken() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a äöüßabcdef", 4), ["a", "äöüß", "abcd", "ef"]);
        assert_eq!(wrap("", 4), [""; 0]);
    }

    #[test]
    fn an_argument_shows_its_type_default_and_whether_it_must_be_given() {
        let string = Argument {
            name: "path",
            description: "",
            kind: Kind::String,
            required: true,
            default: None,
            choices: Vec::new(),
            placement: PlacementKind::Positional,
            limits: Vec::new(),
        };
        assert_eq!(argument(&string), "path");
        let integer = Argument {
            kind: Kind::Integer,
            required: false,
            default: Some(Scalar::Integer(10)),
            ..string.clone()
        };
        assert_eq!(argument(&integer), "[path:integer=10]");
        let limited = Argument {
            limits: vec![Limit {
                min: Some(Number::Integer(1)),
                ..Limit::default()
            }],
            ..integer
        };
        assert_eq!(argument(&limited), "[path:1..=10]");
        let choice = Argument {
            choices: ["a", "b"].map(|text| Scalar::Text(text.into())).into(),
            ..string.clone()
        };
        assert_eq!(argument(&choice), "path:a|b");
        let pattern = Pattern {
            text: "a",
            schema: Some("^a$"),
            automaton: &[],
        };
        let matched = Argument {
            limits: vec![Limit {
                pattern: Some(pattern),
                ..Limit::default()
            }],
            ..string
        };
        assert_eq!(argument(&matched), "path:/^a$/");
    }
}

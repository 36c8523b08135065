//! Tells what to do and what to watch for when a tool is called: facts of the config in words.

use std::time::Duration;

use climax_catalog::facts::{Argument, Limit, PlacementKind, Tool};
use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar};

/// More choices than this are in the schema only.
const MOST_CHOICES: usize = 12;

/// Sentences about a tool.
pub struct Guidance {
    /// What to do.
    pub best_practices: Vec<String>,
    /// What to watch for.
    pub common_pitfalls: Vec<String>,
}

/// What is to be known about a tool.
#[must_use]
pub fn guidance(tool: &Tool<'_>) -> Guidance {
    Guidance {
        best_practices: best_practices(tool),
        common_pitfalls: common_pitfalls(tool),
    }
}

fn best_practices(tool: &Tool<'_>) -> Vec<String> {
    let required: Vec<String> = tool
        .required()
        .map(|argument| format!("'{}' ({})", argument.name, argument.kind.name()))
        .collect();
    let mut sentences = vec![if required.is_empty() {
        "No argument is required.".to_owned()
    } else {
        format!("Always give {}.", required.join(", "))
    }];
    if tool.risk == Some(Risk::Read) {
        sentences.push("It only looks (risk: read), so it can be tried.".to_owned());
    }
    for argument in &tool.arguments {
        let name = argument.name;
        match argument.placement {
            PlacementKind::Stdin => {
                sentences.push(format!("What it is to read goes into '{name}'."));
            }
            PlacementKind::Directory => sentences.push(format!("'{name}' says where it runs.")),
            PlacementKind::Positional | PlacementKind::Flag => {}
        }
        if let Some(default) = &argument.default {
            let default = shown(default);
            sentences.push(format!("'{name}' is {default} unless it is given."));
        }
    }
    sentences
}

fn common_pitfalls(tool: &Tool<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    match tool.risk {
        Some(Risk::Destructive) => sentences.push(
            "It may destroy something (risk: destructive): be sure of the arguments.".to_owned(),
        ),
        Some(Risk::Write) => sentences.push("It changes something (risk: write).".to_owned()),
        Some(Risk::Read) | None => {}
    }
    for argument in &tool.arguments {
        let name = argument.name;
        if !argument.choices.is_empty() && argument.choices.len() <= MOST_CHOICES {
            let choices: Vec<String> = argument.choices.iter().map(shown).collect();
            sentences.push(format!("'{name}' can only be {}.", choices.join(", ")));
        }
        for limit in &argument.limits {
            sentences.extend(restriction(name, limit));
        }
    }
    let dashed: Vec<String> = tool
        .arguments
        .iter()
        .filter(|argument| is_read_as_option(argument))
        .map(|argument| format!("'{}'", argument.name))
        .collect();
    if !dashed.is_empty() {
        let names = dashed.join(", ");
        sentences.push(format!(
            "A value of {names} that begins with '-' is refused."
        ));
    }
    let seconds = Number::Float(Duration::from_millis(tool.timeout_ms).as_secs_f64()).to_string();
    let seconds = seconds.trim_end_matches(".0");
    sentences.push(format!("It is ended after {seconds} seconds."));
    sentences
}

fn is_read_as_option(argument: &Argument<'_>) -> bool {
    argument.placement == PlacementKind::Positional
        && argument.kind == ArgumentType::String
        && argument.choices.is_empty()
        && argument.limits.is_empty()
}

fn restriction(name: &str, limit: &Limit<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(pattern) = limit.pattern {
        let pattern = pattern.text;
        sentences.push(format!("'{name}' must match {pattern} (policy)."));
    }
    match (limit.min, limit.max) {
        (Some(min), Some(max)) => {
            sentences.push(format!("'{name}' must be from {min} to {max} (policy)."));
        }
        (Some(min), None) => sentences.push(format!("'{name}' must be at least {min} (policy).")),
        (None, Some(max)) => sentences.push(format!("'{name}' must be at most {max} (policy).")),
        (None, None) => {}
    }
    sentences
}

/// Text in quotes, numbers as they are.
fn shown(value: &Scalar<'_>) -> String {
    match value {
        Scalar::Text(text) => format!("'{text}'"),
        other => other.json().to_string(),
    }
}

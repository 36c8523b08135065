//! Turns facts about a tool into sentences that help an agent to call it.

use std::time::Duration;

use climax_catalog::facts::{ArgumentFacts, LimitFacts, PlacementKind, ToolFacts};
use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar};

/// Longer lists of choices are only in the schema.
const MAX_LISTED_CHOICES: usize = 12;

/// Sentences about a tool.
pub struct Guidance {
    /// How to call it.
    pub best_practices: Vec<String>,
    /// What can go wrong.
    pub common_pitfalls: Vec<String>,
}

/// The guidance for a tool.
#[must_use]
pub fn guidance(tool: &ToolFacts<'_>) -> Guidance {
    Guidance {
        best_practices: best_practices(tool),
        common_pitfalls: common_pitfalls(tool),
    }
}

fn best_practices(tool: &ToolFacts<'_>) -> Vec<String> {
    let required: Vec<String> = tool
        .required()
        .map(|argument| format!("'{}' ({})", argument.name, argument.kind.name()))
        .collect();
    let mut sentences = vec![if required.is_empty() {
        "No argument is required.".to_owned()
    } else {
        format!("Always provide {}.", required.join(", "))
    }];
    if tool.risk == Some(Risk::Read) {
        sentences.push("Read-only (risk: read), so it is safe to try.".to_owned());
    }
    for argument in &tool.arguments {
        let name = argument.name;
        match argument.placement {
            PlacementKind::Stdin => {
                sentences.push(format!("'{name}' is passed on standard input."));
            }
            PlacementKind::Directory => {
                sentences.push(format!("'{name}' is the working directory."));
            }
            PlacementKind::Positional | PlacementKind::Flag => {}
        }
        if let Some(default) = &argument.default {
            let default = format_value(default);
            sentences.push(format!("'{name}' defaults to {default}."));
        }
    }
    sentences
}

fn common_pitfalls(tool: &ToolFacts<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    match tool.risk {
        Some(Risk::Destructive) => sentences.push(
            "May delete or overwrite data (risk: destructive): check the arguments first."
                .to_owned(),
        ),
        Some(Risk::Write) => sentences.push("Changes data or state (risk: write).".to_owned()),
        Some(Risk::Read) | None => {}
    }
    for argument in &tool.arguments {
        let name = argument.name;
        if !argument.choices.is_empty() && argument.choices.len() <= MAX_LISTED_CHOICES {
            let choices: Vec<String> = argument.choices.iter().map(format_value).collect();
            sentences.push(format!("'{name}' must be one of {}.", choices.join(", ")));
        }
        for limit in &argument.limits {
            sentences.extend(limit_sentences(name, limit));
        }
    }
    let dash_refusing: Vec<String> = tool
        .arguments
        .iter()
        .filter(|argument| refuses_leading_dash(argument))
        .map(|argument| format!("'{}'", argument.name))
        .collect();
    if !dash_refusing.is_empty() {
        let names = dash_refusing.join(", ");
        sentences.push(format!("Values of {names} must not begin with '-'."));
    }
    let seconds = Number::Float(Duration::from_millis(tool.timeout_ms).as_secs_f64()).to_string();
    let seconds = seconds.trim_end_matches(".0");
    sentences.push(format!("Times out after {seconds} seconds."));
    sentences
}

fn refuses_leading_dash(argument: &ArgumentFacts<'_>) -> bool {
    argument.placement == PlacementKind::Positional
        && argument.kind == ArgumentType::String
        && argument.choices.is_empty()
        && argument.limits.is_empty()
}

fn limit_sentences(name: &str, limit: &LimitFacts<'_>) -> Vec<String> {
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

/// Formats a value: text in quotes, anything else as JSON.
fn format_value(value: &Scalar<'_>) -> String {
    match value {
        Scalar::Text(text) => format!("'{text}'"),
        other => other.json().to_string(),
    }
}

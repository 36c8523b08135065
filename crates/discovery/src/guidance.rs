//! Turns facts about a tool into sentences that help an agent to call it.

use std::time::Duration;

use climax_catalog::facts::{ArgumentFacts, LimitFacts, LimitOrigin, PlacementKind, ToolFacts};
use climax_core::risk::Risk;
use climax_core::scalar::{ArgumentType, Number, Scalar};
use climax_policy::limit::LimitTarget;

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
        .map(|argument| {
            format!(
                "'{}' ({})",
                argument.name,
                argument.shape.type_name(argument.kind)
            )
        })
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
            PlacementKind::Positional | PlacementKind::Flag | PlacementKind::SeparatedWord => {}
        }
        if !argument.default.is_empty() {
            let default: Vec<String> = argument.default.iter().map(format_value).collect();
            let default = default.join(", ");
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
        && argument.limits_of(LimitTarget::Value).next().is_none()
}

fn limit_sentences(name: &str, limit: &LimitFacts<'_>) -> Vec<String> {
    let subject = match limit.target {
        LimitTarget::Value => format!("'{name}' must"),
        LimitTarget::Key => format!("Keys of '{name}' must"),
        LimitTarget::Count => format!("The number of items of '{name}' must"),
    };
    let origin = match limit.origin {
        LimitOrigin::Config => "",
        LimitOrigin::Policy => " (policy)",
    };
    let pattern = limit
        .pattern
        .map(|pattern| format!("match {}", pattern.text));
    let range = match (limit.min, limit.max) {
        (Some(min), Some(max)) => Some(format!("be from {min} to {max}")),
        (Some(min), None) => Some(format!("be at least {min}")),
        (None, Some(max)) => Some(format!("be at most {max}")),
        (None, None) => None,
    };
    let requirements = pattern.into_iter().chain(range);
    requirements
        .map(|requirement| format!("{subject} {requirement}{origin}."))
        .collect()
}

/// Formats a value: text in quotes, anything else as JSON.
fn format_value(value: &Scalar<'_>) -> String {
    match value {
        Scalar::Text(text) => format!("'{text}'"),
        other => other.json().to_string(),
    }
}

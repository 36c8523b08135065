//! Turns configs as written into the checked model. Every rule about what makes sense lives here.

mod arguments;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::model::{Cli, Kind, Risk, Tool};
use crate::written;
use climax_catalog::facts::{ArgumentFacts, Facts, PlacementKind};
use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, Span};
use climax_input::fields::{At, closest};
use climax_input::source::Source;

use arguments::{args, argv_order, global_arg};

const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// Clients cut longer descriptions.
const LONG_DESCRIPTION: usize = 2048;
/// The limit of the strictest clients.
const LONGEST_TOOL_NAME: usize = 64;

/// Checks all configs together. Each comes with its source, in the same order.
pub fn check(
    configs: Vec<(&Source, written::Config)>,
    report: &mut Vec<Diagnostic>,
) -> (Vec<Cli>, Names) {
    let mut names = HashMap::new();
    let clis = configs
        .into_iter()
        .map(|(source, config)| cli(source, config, &mut names, report))
        .collect();
    (clis, names)
}

/// Where each tool's name was first seen, by its lower-case form.
pub type Names = HashMap<String, (String, Span)>;

fn cli(
    source: &Source,
    config: written::Config,
    names: &mut Names,
    report: &mut Vec<Diagnostic>,
) -> Cli {
    if let Some(command) = &config.command
        && command.value.trim().is_empty()
    {
        report.push(
            Diagnostic::new(
                Code::EmptyCommand,
                command.span,
                "the base command is empty",
            )
            .help("name the program that the tools run"),
        );
    }
    if let Some(command) = &config.command {
        no_shell(command, report);
    }
    for text in config.command.iter().chain(&config.working_dir) {
        no_nul(text, report);
    }
    for (name, value) in &config.env {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let message = "a variable's name is not empty and has no `=`";
            report.push(
                Diagnostic::new(Code::BadVariable, name.span, message).help("write `NAME: value`"),
            );
        }
        no_nul(value, report);
    }
    if let (None, Some(command)) = (&config.category, &config.command) {
        report.push(
            Diagnostic::new(Code::NoCategory, command.span, "this CLI has no category")
                .help("add `category: ...`: agents narrow their search by it"),
        );
    }
    let global_args = config
        .global_args
        .into_iter()
        .filter_map(|arg| global_arg(arg, report))
        .collect();
    let tools = config
        .tools
        .into_iter()
        .filter_map(|written| tool(written, names, report))
        .collect();
    let value = |text: Option<At<String>>| text.map(|text| text.value);
    Cli {
        stem: source.stem.clone(),
        name: value(config.name).unwrap_or_else(|| "climax".to_owned()),
        description: value(config.description).unwrap_or_default(),
        command: value(config.command).unwrap_or_default(),
        env: config
            .env
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.value, value.value))
            .collect(),
        working_dir: value(config.working_dir),
        category: value(config.category),
        tags: config.tags.into_iter().map(|tag| tag.value).collect(),
        global_args,
        tools,
    }
}

/// A NUL cannot be part of a command line or of the environment.
fn no_nul(text: &At<String>, report: &mut Vec<Diagnostic>) {
    if text.value.contains('\0') {
        report.push(
            Diagnostic::new(Code::NulCharacter, text.span, "this has a NUL character")
                .help("remove it: no program can be given one"),
        );
    }
}

/// What a shell would understand, and no program does.
fn no_shell(command: &At<String>, report: &mut Vec<Diagnostic>) {
    const SYNTAX: [&str; 9] = ["|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"];
    let is_quoted = |word: &str| word.starts_with(['"', '\'']) || word.ends_with(['"', '\'']);
    let mut words = command.value.split_whitespace();
    if let Some(word) = words.find(|word| SYNTAX.contains(word) || is_quoted(word)) {
        let message = format!("there is no shell: the program gets `{word}` as it is");
        report.push(
            Diagnostic::new(Code::ShellSyntax, command.span, message)
                .help("leave out quotes; put pipes and redirections into a script"),
        );
    }
}

fn tool(written: written::Tool, names: &mut Names, report: &mut Vec<Diagnostic>) -> Option<Tool> {
    if let Some(name) = &written.name {
        tool_name(name, names, report);
    }
    if let Some(description) = &written.description {
        if description.value.trim().is_empty() {
            report.push(
                Diagnostic::new(
                    Code::EmptyDescription,
                    description.span,
                    "the description is empty",
                )
                .help("agents choose a tool by its description: say what it does"),
            );
        } else if description.value.len() > LONG_DESCRIPTION {
            let message = format!(
                "this description has {} bytes; clients cut it after {LONG_DESCRIPTION}",
                description.value.len()
            );
            report.push(
                Diagnostic::new(Code::LongDescription, description.span, message)
                    .help("say first what decides about the choice of the tool"),
            );
        }
    }
    if let Some(command) = &written.command {
        no_nul(command, report);
        no_shell(command, report);
    }
    templates(&written, report);
    let risk = written.risk.as_ref().map(|risk| risk.value);
    let timeout_ms = timeout(written.timeout.as_ref(), report);
    let args = args(written.args, report);
    let command = written
        .command
        .map(|command| command.value)
        .unwrap_or_default();
    Some(Tool {
        name: written.name?.value,
        description: written.description?.value,
        command: command.split_whitespace().collect::<Vec<_>>().join(" "),
        argv_order: argv_order(&args),
        args,
        timeout_ms,
        risk,
    })
}

/// Warns of destructive tools that take just anything.
pub fn unlimited(facts: &Facts<'_>, names: &Names, report: &mut Vec<Diagnostic>) {
    let is_word = |placement| matches!(placement, PlacementKind::Positional | PlacementKind::Flag);
    let is_unlimited = |argument: &&ArgumentFacts<'_>| {
        argument.kind == Kind::String
            && argument.choices.is_empty()
            && argument.limits.is_empty()
            && is_word(argument.placement)
    };
    let tools = facts.tools.iter();
    for tool in tools.filter(|tool| tool.risk == Some(Risk::Destructive)) {
        let args = tool.arguments.iter().filter(is_unlimited);
        let args: Vec<&str> = args.map(|argument| argument.name).collect();
        let place = names.get(&tool.name.to_ascii_lowercase());
        if let (false, Some((_, span))) = (args.is_empty(), place) {
            let args = args.join("`, `");
            let message = format!("this destructive tool takes any text as `{args}`");
            report.push(
                Diagnostic::new(Code::UnlimitedDestructive, *span, message)
                    .help("limit the values with `enum`, or with a pattern in a policy"),
            );
        }
    }
}

fn tool_name(name: &At<String>, names: &mut Names, report: &mut Vec<Diagnostic>) {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let text = &name.value;
    if text.is_empty() || text.len() > LONGEST_TOOL_NAME || !text.bytes().all(allowed) {
        report.push(
            Diagnostic::new(
                Code::BadToolName,
                name.span,
                format!("`{text}` cannot be a tool's name"),
            )
            .help(format!(
                "use 1 to {LONGEST_TOOL_NAME} of the characters A-Z a-z 0-9 _ . -"
            )),
        );
        return;
    }
    let first = match names.entry(text.to_ascii_lowercase()) {
        Entry::Vacant(entry) => {
            entry.insert((text.clone(), name.span));
            return;
        }
        Entry::Occupied(entry) => entry.into_mut(),
    };
    let message = if first.0 == *text {
        format!("the tool `{text}` is defined twice")
    } else {
        format!("the tools `{text}` and `{}` differ in case only", first.0)
    };
    let mut error = Diagnostic::new(Code::DuplicateTool, name.span, message);
    // Through an alias, both stand in one place.
    if first.1 != name.span {
        error = error.related(first.1, "first defined here");
    }
    report.push(error.help("rename one of the two"));
}

fn timeout(timeout: Option<&At<Number>>, report: &mut Vec<Diagnostic>) -> u64 {
    let Some(&At { value, span }) = timeout else {
        return DEFAULT_TIMEOUT_MS;
    };
    let value = value.float();
    if value < 0.0 || !value.is_finite() {
        report.push(
            Diagnostic::new(
                Code::BadTimeout,
                span,
                "a timeout is a number of seconds above 0",
            )
            .help("leave it out for the default of 30 seconds"),
        );
        return DEFAULT_TIMEOUT_MS;
    }
    if value == 0.0 {
        report.push(
            Diagnostic::new(
                Code::ZeroTimeout,
                span,
                "a timeout of 0 means the default of 30 seconds",
            )
            .help("leave it out, or give a number of seconds"),
        );
        return DEFAULT_TIMEOUT_MS;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and finite; a cast saturates"
    )]
    let milliseconds = (value * 1000.0).round() as u64;
    milliseconds.max(1)
}

/// Every `{name}` in the templates for approval must stand for something.
fn templates(tool: &written::Tool, report: &mut Vec<Diagnostic>) {
    let args: Vec<&str> = tool
        .args
        .iter()
        .filter_map(|arg| Some(arg.name.as_ref()?.value.as_str()))
        .collect();
    let mut known = args.clone();
    known.extend(tool.resolve.iter().map(|(key, _)| key.value.as_str()));
    if let Some(message) = &tool.confirm_message {
        placeholders(message, &known, report);
    }
    for (_, resolve) in &tool.resolve {
        for template in &resolve.templates {
            placeholders(template, &args, report);
        }
    }
}

fn placeholders(template: &At<String>, known: &[&str], report: &mut Vec<Diagnostic>) {
    let text = template.value.replace("{{", "").replace("}}", "");
    for part in text.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else {
            report.push(
                Diagnostic::new(Code::BadPlaceholder, template.span, "a `{` is not closed")
                    .help("write `{{` for a brace that is meant as one"),
            );
            continue;
        };
        if !known.contains(&name) {
            let help = match closest(name, known) {
                Some(name) => format!("did you mean `{{{name}}}`?"),
                None => format!("it can be: {}", known.join(", ")),
            };
            report.push(
                Diagnostic::new(
                    Code::BadPlaceholder,
                    template.span,
                    format!("`{{{name}}}` is neither an argument nor a resolve key"),
                )
                .help(help),
            );
        }
    }
}

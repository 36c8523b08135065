//! Turns configs as written into the checked model. Every rule about what makes sense lives here.

use std::collections::HashMap;

use climax_core::scalar;
use climax_core::scalar::Number;

use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Arg, Cli, GlobalArg, Kind, Place, Scalar, Tool};
use crate::source::Source;
use crate::written::{self, At, closest};
use crate::yaml::{Node, OldReading, Value};

const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// Clients cut longer descriptions.
const LONG_DESCRIPTION: usize = 2048;
/// The limit of the strictest clients.
const LONGEST_TOOL_NAME: usize = 64;

/// Checks all configs together. Each comes with its source, in the same order.
pub fn check(configs: Vec<(&Source, written::Config)>, report: &mut Vec<Diagnostic>) -> Vec<Cli> {
    let mut names = HashMap::new();
    configs
        .into_iter()
        .map(|(source, config)| cli(source, config, &mut names, report))
        .collect()
}

/// Where each tool's name was first seen, by its lower-case form.
type Names = HashMap<String, (String, Span)>;

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
            Diagnostic::error(command.span, "the base command is empty")
                .help("name the program that the tools run"),
        );
    }
    for (name, value) in &config.env {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            report.push(Diagnostic::error(
                name.span,
                "a variable's name is not empty and has no `=`",
            ));
        }
        no_nul(value, report);
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
            .map(|(name, value)| (name.value, value.value))
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
        report.push(Diagnostic::error(text.span, "this has a NUL character"));
    }
}

fn tool(written: written::Tool, names: &mut Names, report: &mut Vec<Diagnostic>) -> Option<Tool> {
    if let Some(name) = &written.name {
        tool_name(name, names, report);
    }
    if let Some(description) = &written.description {
        if description.value.trim().is_empty() {
            report.push(
                Diagnostic::error(description.span, "the description is empty")
                    .help("agents choose a tool by its description: say what it does"),
            );
        } else if description.value.len() > LONG_DESCRIPTION {
            report.push(Diagnostic::warning(
                description.span,
                format!(
                    "this description has {} bytes; clients cut it after {LONG_DESCRIPTION}",
                    description.value.len()
                ),
            ));
        }
    }
    if let Some(command) = &written.command {
        no_nul(command, report);
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
        args,
        timeout_ms,
        risk,
    })
}

fn tool_name(name: &At<String>, names: &mut Names, report: &mut Vec<Diagnostic>) {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let text = &name.value;
    if text.is_empty() || text.len() > LONGEST_TOOL_NAME || !text.bytes().all(allowed) {
        report.push(
            Diagnostic::error(name.span, format!("`{text}` cannot be a tool's name")).help(
                format!("use 1 to {LONGEST_TOOL_NAME} of the characters A-Z a-z 0-9 _ . -"),
            ),
        );
        return;
    }
    let first = names
        .entry(text.to_ascii_lowercase())
        .or_insert_with(|| (text.clone(), name.span));
    if first.1 == name.span {
        return;
    }
    let message = if first.0 == *text {
        format!("the tool `{text}` is defined twice")
    } else {
        format!("the tools `{text}` and `{}` differ in case only", first.0)
    };
    report.push(
        Diagnostic::error(name.span, message)
            .related(first.1, "first defined here")
            .help("rename one of the two"),
    );
}

fn timeout(timeout: Option<&At<f64>>, report: &mut Vec<Diagnostic>) -> u64 {
    let Some(&At { value, span }) = timeout else {
        return DEFAULT_TIMEOUT_MS;
    };
    if value < 0.0 || !value.is_finite() {
        report.push(
            Diagnostic::error(span, "a timeout is a number of seconds above 0")
                .help("leave it out for the default of 30 seconds"),
        );
        return DEFAULT_TIMEOUT_MS;
    }
    if value == 0.0 {
        report.push(
            Diagnostic::warning(span, "a timeout of 0 means the default of 30 seconds")
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
                Diagnostic::error(template.span, "a `{` is not closed")
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
                Diagnostic::error(
                    template.span,
                    format!("`{{{name}}}` is neither an argument nor a resolve key"),
                )
                .help(help),
            );
        }
    }
}

fn args(written: Vec<written::Arg>, report: &mut Vec<Diagnostic>) -> Vec<Arg> {
    let mut seen: Vec<(String, Span)> = Vec::new();
    let mut single: [Option<Span>; 2] = [None, None];
    let mut args = Vec::new();
    for arg in written {
        if let Some(name) = &arg.name {
            if name.value.is_empty() {
                report.push(Diagnostic::error(name.span, "an argument needs a name"));
            }
            if let Some((_, first)) = seen.iter().find(|(seen, _)| *seen == name.value) {
                report.push(
                    Diagnostic::error(
                        name.span,
                        format!("the argument `{}` is defined twice", name.value),
                    )
                    .related(*first, "first defined here")
                    .help("rename one of the two"),
                );
            }
            seen.push((name.value.clone(), name.span));
        }
        for (flag, first, what) in [
            (&arg.cwd, 0, "the working directory"),
            (&arg.stdin, 1, "standard input"),
        ] {
            let Some(flag) = flag.as_ref().filter(|flag| flag.value) else {
                continue;
            };
            if let Some(first) = single[first] {
                report.push(
                    Diagnostic::error(flag.span, format!("a second argument sets {what}"))
                        .related(first, "the first one")
                        .help("a tool has one of them"),
                );
            }
            single[first] = Some(flag.span);
        }
        args.extend(self::arg(arg, report));
    }
    args
}

fn arg(written: written::Arg, report: &mut Vec<Diagnostic>) -> Option<Arg> {
    let kind = written
        .kind
        .as_ref()
        .map_or(Kind::String, |kind| kind.value);
    let choices = written
        .choices
        .as_ref()
        .and_then(|choices| self::choices(choices, kind, report));
    let default = written
        .default
        .as_ref()
        .and_then(|default| self::default(default, kind, choices.as_deref(), report));
    let required = written
        .required
        .as_ref()
        .is_some_and(|required| required.value);
    if let (true, Some(default)) = (required, &written.default) {
        report.push(
            Diagnostic::warning(default.span, "a required argument never takes its default")
                .help("remove `default` or `required`"),
        );
    }
    let place = place(&written, kind, report);
    Some(Arg {
        name: written.name?.value,
        description: written
            .description
            .map(|text| text.value)
            .unwrap_or_default(),
        kind,
        required,
        default,
        choices,
        place,
    })
}

fn place(written: &written::Arg, kind: Kind, report: &mut Vec<Diagnostic>) -> Place {
    let given = |flag: &Option<At<bool>>| {
        flag.as_ref()
            .filter(|flag| flag.value)
            .map(|flag| flag.span)
    };
    let places = [
        (given(&written.positional), "positional"),
        (given(&written.cwd), "cwd"),
        (given(&written.stdin), "stdin"),
    ];
    let mut set = places
        .iter()
        .filter_map(|(span, name)| span.map(|span| (span, *name)));
    let first = set.next();
    if let (Some((first_span, first)), Some((span, second))) = (first, set.next()) {
        report.push(
            Diagnostic::error(
                span,
                format!("an argument is `{first}` or `{second}`, not both"),
            )
            .related(first_span, "the other one")
            .help("remove one of the two"),
        );
    }
    let flag = written.flag.as_ref().filter(|flag| !flag.value.is_empty());
    if let Some(flag) = flag {
        no_nul(flag, report);
    }
    match first {
        Some((positional, "positional")) => {
            if let Some(flag) = flag {
                report.push(
                    Diagnostic::error(flag.span, "a positional argument has no flag")
                        .related(positional, "positional because of this")
                        .help("remove `flag` or `positional`"),
                );
            }
            Place::Positional
        }
        Some((span, name)) => {
            if kind != Kind::String {
                report.push(
                    Diagnostic::error(
                        span,
                        format!(
                            "a `{name}` argument is a string, and this one is {}",
                            kind.one()
                        ),
                    )
                    .help("set `type: string`"),
                );
            }
            if name == "cwd" {
                Place::Directory
            } else {
                Place::Stdin
            }
        }
        None => Place::Flag(match flag {
            Some(flag) => flag.value.clone(),
            None => default_flag(written.name.as_ref()),
        }),
    }
}

fn default_flag(name: Option<&At<String>>) -> String {
    let name = name.map_or("", |name| name.value.as_str());
    format!("--{}", name.replace('_', "-"))
}

fn global_arg(written: written::Arg, report: &mut Vec<Diagnostic>) -> Option<GlobalArg> {
    let name = written.name.as_ref()?;
    let kind = written
        .kind
        .as_ref()
        .map_or(Kind::String, |kind| kind.value);
    let Some(default) = written.default else {
        report.push(
            Diagnostic::warning(
                name.span,
                "a global argument without a default does nothing",
            )
            .help("add `default`, for example `default: \"$NAME\"`"),
        );
        return None;
    };
    // Whatever the type, it may be a variable, and is text until run time.
    let value = scalar(&default, Kind::String)
        .map_err(|problem| report.push(problem.diagnostic(&default, Kind::String)))
        .ok()?
        .word();
    let flag = match written.flag.filter(|flag| !flag.value.is_empty()) {
        Some(flag) => flag.value,
        None => default_flag(Some(name)),
    };
    Some(GlobalArg {
        flag,
        value,
        is_switch: kind == Kind::Boolean,
    })
}

fn choices(
    choices: &At<Vec<Node>>,
    kind: Kind,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<Scalar>> {
    if kind == Kind::Boolean {
        report.push(
            Diagnostic::error(choices.span, "a boolean argument has no `enum`")
                .help("remove `enum`: a boolean is true or false"),
        );
        return None;
    }
    if choices.value.is_empty() {
        report.push(
            Diagnostic::error(choices.span, "no value is allowed: the enum is empty")
                .help("list the values, or remove `enum`"),
        );
        return None;
    }
    let mut values: Vec<(Scalar, Span)> = Vec::new();
    for node in &choices.value {
        let value = match scalar(node, kind) {
            // CLImax in Python takes text only, whatever the type: `enum: ["1", "2"]`.
            Ok(value) if kind != Kind::String || matches!(node.value, Value::Text(_)) => value,
            Ok(_) => {
                report.push(Problem::WrongType.diagnostic(node, kind));
                continue;
            }
            Err(problem) => {
                report.push(problem.diagnostic(node, kind));
                continue;
            }
        };
        if value.word().contains(char::is_control) {
            report.push(Diagnostic::error(
                node.span,
                "an enum value has no control characters",
            ));
            continue;
        }
        if let Some((_, first)) = values.iter().find(|(seen, _)| seen.word() == value.word()) {
            report.push(
                Diagnostic::error(node.span, format!("`{}` is listed twice", value.word()))
                    .related(*first, "first listed here")
                    .help("remove one of the two"),
            );
            continue;
        }
        values.push((value, node.span));
    }
    (values.len() == choices.value.len())
        .then(|| values.into_iter().map(|(value, _)| value).collect())
}

fn default(
    node: &Node,
    kind: Kind,
    choices: Option<&[Scalar]>,
    report: &mut Vec<Diagnostic>,
) -> Option<Scalar> {
    let value = match scalar(node, kind) {
        Ok(value) => value,
        Err(problem) => {
            report.push(problem.diagnostic(node, kind));
            return None;
        }
    };
    let as_written = matches!(
        (&node.value, kind),
        (Value::Text(_), Kind::String)
            | (Value::Integer(_), Kind::Integer | Kind::Number)
            | (Value::Float(_), Kind::Number)
            | (Value::Boolean(_), Kind::Boolean)
    );
    if !as_written && node.old_reading.is_none() {
        report.push(
            Diagnostic::warning(
                node.span,
                format!(
                    "this default is {} and becomes the {} `{}`",
                    node.value.kind(),
                    kind.name(),
                    value.word()
                ),
            )
            .help(format!("write it as {}", kind.one())),
        );
    }
    if let Some(choices) = choices
        && !choices.iter().any(|choice| choice.word() == value.word())
    {
        let words: Vec<String> = choices.iter().map(Scalar::word).collect();
        report.push(
            Diagnostic::error(
                node.span,
                format!("the default `{}` is not in the enum", value.word()),
            )
            .help(format!("it can be: {}", words.join(", "))),
        );
    }
    Some(value)
}

/// Why a node is no value of a kind.
enum Problem {
    WrongType,
    Ambiguous(OldReading),
}

impl Problem {
    fn diagnostic(self, node: &Node, kind: Kind) -> Diagnostic {
        match self {
            Self::WrongType => Diagnostic::error(
                node.span,
                match &node.value {
                    Value::Text(text) => format!("`{text}` is not {}", kind.one()),
                    other => format!("expected {}, found {}", kind.one(), other.kind()),
                },
            )
            .help(match kind {
                Kind::String => "give one text, in quotes".to_owned(),
                _ => format!("give {}, or change `type`", kind.one()),
            }),
            Self::Ambiguous(reading) => Diagnostic::error(
                node.span,
                format!("YAML 1.1 takes this for {reading}, YAML 1.2 does not"),
            )
            .help("put it in quotes if it is meant as text, or write it another way"),
        }
    }
}

/// The value of a node as one of the kind, converted where that is safe.
fn scalar(node: &Node, kind: Kind) -> Result<Scalar, Problem> {
    match (kind, node.old_reading) {
        (_, None) => {}
        (Kind::Boolean, Some(OldReading::Boolean(value))) => return Ok(Scalar::Boolean(value)),
        (_, Some(reading)) => return Err(Problem::Ambiguous(reading)),
    }
    let converted = match (kind, &node.value) {
        (Kind::String, Value::Text(text)) => Some(Scalar::Text(text.clone())),
        (Kind::String, Value::Integer(integer)) => Some(Scalar::Text(integer.to_string())),
        (Kind::String, Value::Float(float)) => {
            Some(Scalar::Text(Number::Float(*float).to_string()))
        }
        (Kind::String, Value::Boolean(boolean)) => Some(Scalar::Text(boolean.to_string())),
        (Kind::Integer, Value::Integer(integer)) => Some(Scalar::Integer(*integer)),
        (Kind::Integer, Value::Float(float)) => scalar::whole(*float).map(Scalar::Integer),
        (Kind::Integer, Value::Boolean(boolean)) => Some(Scalar::Integer((*boolean).into())),
        (Kind::Integer, Value::Text(text)) => scalar::integer(text).map(Scalar::Integer),
        (Kind::Number, Value::Integer(integer)) => Some(Scalar::Number(Number::Integer(*integer))),
        (Kind::Number, Value::Float(float)) => Some(Scalar::Number(Number::Float(*float))),
        (Kind::Number, Value::Text(text)) => scalar::number(text).map(Scalar::Number),
        (Kind::Boolean, Value::Boolean(boolean)) => Some(Scalar::Boolean(*boolean)),
        (Kind::Boolean, Value::Integer(integer)) => Some(Scalar::Boolean(*integer != 0)),
        (Kind::Boolean, Value::Text(text)) => scalar::boolean(text).map(Scalar::Boolean),
        _ => None,
    };
    converted.ok_or(Problem::WrongType)
}

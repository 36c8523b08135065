//! The rules about arguments: where their values go, their defaults and enums.

use climax_core::scalar;
use climax_core::scalar::{Number, Scalar};

use super::no_nul;
use crate::model::{Arg, ArgumentPlacement, ArgumentType, GlobalArg};
use crate::written;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, Span};
use climax_input::fields::At;
use climax_input::yaml::{Node, OldReading, Value};

/// The order in which arguments go into the command line: positionals first, otherwise as they are defined.
pub(super) fn argv_order(args: &[Arg]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..args.len()).collect();
    order.sort_by_key(|number| args[*number].placement != ArgumentPlacement::Positional);
    order
}

pub(super) fn args(written: Vec<written::Arg>, report: &mut Vec<Diagnostic>) -> Vec<Arg> {
    let mut seen: Vec<(String, Span)> = Vec::new();
    let mut single: [Option<Span>; 2] = [None, None];
    let mut args = Vec::new();
    for arg in written {
        if let Some(name) = &arg.name {
            if name.value.is_empty() {
                report.push(
                    Diagnostic::new(Code::BadArgumentName, name.span, "an argument needs a name")
                        .help("agents see the name in the tool's schema: say what it is"),
                );
            }
            if let Some((_, first)) = seen.iter().find(|(seen, _)| *seen == name.value) {
                report.push(
                    Diagnostic::new(
                        Code::DuplicateArgument,
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
                    Diagnostic::new(
                        Code::SecondPlace,
                        flag.span,
                        format!("a second argument sets {what}"),
                    )
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
        .map_or(ArgumentType::String, |kind| kind.value);
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
            Diagnostic::new(
                Code::RequiredDefault,
                default.span,
                "a required argument never takes its default",
            )
            .help("remove `default` or `required`"),
        );
    }
    let placement = placement(&written, kind, report);
    if let (ArgumentPlacement::Positional, None, Some(Scalar::Text(text)), Some(node)) =
        (&placement, &choices, &default, &written.default)
        && text.starts_with('-')
        && text != "-"
    {
        let message = format!("the default `{text}` would be read as an option");
        report.push(
            Diagnostic::new(Code::BadDefault, node.span, message)
                .help("put it into the tool's `command`, or list it in `enum`"),
        );
    }
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
        placement,
    })
}

fn placement(
    written: &written::Arg,
    kind: ArgumentType,
    report: &mut Vec<Diagnostic>,
) -> ArgumentPlacement {
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
            Diagnostic::new(
                Code::SeveralPlaces,
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
        if flag.value.contains(char::is_whitespace) {
            let message = format!(
                "a flag is one word: the program gets `{}` as such",
                flag.value
            );
            report.push(
                Diagnostic::new(Code::ShellSyntax, flag.span, message)
                    .help("put what is fixed into the tool's `command`"),
            );
        }
    }
    match first {
        Some((positional, "positional")) => {
            if let Some(flag) = flag {
                report.push(
                    Diagnostic::new(
                        Code::PositionalFlag,
                        flag.span,
                        "a positional argument has no flag",
                    )
                    .related(positional, "positional because of this")
                    .help("remove `flag` or `positional`"),
                );
            }
            ArgumentPlacement::Positional
        }
        Some((span, name)) => {
            if kind != ArgumentType::String {
                report.push(
                    Diagnostic::new(
                        Code::PlaceNeedsString,
                        span,
                        format!(
                            "a `{name}` argument is a string, and this one is {}",
                            kind.with_article()
                        ),
                    )
                    .help("set `type: string`"),
                );
            }
            if name == "cwd" {
                ArgumentPlacement::Directory
            } else {
                ArgumentPlacement::Stdin
            }
        }
        None => {
            let flag = match flag {
                Some(flag) => flag.value.clone(),
                None => default_flag(written.name.as_ref()),
            };
            match kind {
                ArgumentType::Boolean => ArgumentPlacement::Switch(flag),
                _ if flag.ends_with('=') => ArgumentPlacement::JoinedFlag(flag),
                _ => ArgumentPlacement::Flag(flag),
            }
        }
    }
}

fn default_flag(name: Option<&At<String>>) -> String {
    let name = name.map_or("", |name| name.value.as_str());
    format!("--{}", name.replace('_', "-"))
}

pub(super) fn global_arg(written: written::Arg, report: &mut Vec<Diagnostic>) -> Option<GlobalArg> {
    let name = written.name.as_ref()?;
    let kind = written
        .kind
        .as_ref()
        .map_or(ArgumentType::String, |kind| kind.value);
    let Some(default) = written.default else {
        report.push(
            Diagnostic::new(
                Code::IdleGlobalArgument,
                name.span,
                "a global argument without a default does nothing",
            )
            .help("add `default`, for example `default: \"$NAME\"`"),
        );
        return None;
    };
    for (is_given, field) in [
        (written.positional.is_some(), "positional"),
        (written.cwd.is_some(), "cwd"),
        (written.stdin.is_some(), "stdin"),
        (written.required.is_some(), "required"),
        (written.choices.is_some(), "enum"),
    ] {
        if is_given {
            let message = format!("`{field}` does nothing in a global argument");
            report.push(
                Diagnostic::new(Code::IdleGlobalArgument, name.span, message)
                    .help("remove it: a global argument is a flag with its default"),
            );
        }
    }
    let is_variable = matches!(&default.value, Value::Text(text) if text.contains('$'));
    if !is_variable && let Err(problem) = scalar(&default, kind) {
        report.push(problem.diagnostic(Code::BadDefault, &default, kind));
        return None;
    }
    // Whatever the type, it may be a variable, and is text until run time.
    let value = scalar(&default, ArgumentType::String)
        .map_err(|problem| {
            report.push(problem.diagnostic(Code::BadDefault, &default, ArgumentType::String));
        })
        .ok()?
        .to_string();
    let flag = match written.flag.filter(|flag| !flag.value.is_empty()) {
        Some(flag) => flag.value,
        None => default_flag(Some(name)),
    };
    Some(GlobalArg {
        flag,
        value,
        is_switch: kind == ArgumentType::Boolean,
    })
}

fn choices(
    choices: &At<Vec<Node>>,
    kind: ArgumentType,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<Scalar<'static>>> {
    if kind == ArgumentType::Boolean {
        report.push(
            Diagnostic::new(
                Code::BooleanEnum,
                choices.span,
                "a boolean argument has no `enum`",
            )
            .help("remove `enum`: a boolean is true or false"),
        );
        return None;
    }
    if choices.value.is_empty() {
        report.push(
            Diagnostic::new(
                Code::EmptyEnum,
                choices.span,
                "no value is allowed: the enum is empty",
            )
            .help("list the values, or remove `enum`"),
        );
        return None;
    }
    let mut values: Vec<(Scalar<'static>, Span)> = Vec::new();
    for node in &choices.value {
        let value = match scalar(node, kind) {
            // CLImax in Python takes text only, whatever the type: `enum: ["1", "2"]`.
            Ok(value) if kind != ArgumentType::String || matches!(node.value, Value::Text(_)) => {
                value
            }
            Ok(_) => {
                report.push(Problem::WrongType.diagnostic(Code::BadEnumValue, node, kind));
                continue;
            }
            Err(problem) => {
                report.push(problem.diagnostic(Code::BadEnumValue, node, kind));
                continue;
            }
        };
        if value.to_string().contains(char::is_control) {
            let message = "an enum value has no control characters";
            report.push(
                Diagnostic::new(Code::BadEnumValue, node.span, message)
                    .help("remove line breaks, tabs and the like"),
            );
            continue;
        }
        if let Some((_, first)) = values.iter().find(|(seen, _)| seen.is_same(&value)) {
            report.push(
                Diagnostic::new(
                    Code::DuplicateEnumValue,
                    node.span,
                    format!("`{}` is listed twice", value.to_string()),
                )
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
    kind: ArgumentType,
    choices: Option<&[Scalar<'static>]>,
    report: &mut Vec<Diagnostic>,
) -> Option<Scalar<'static>> {
    let value = match scalar(node, kind) {
        Ok(value) => value,
        Err(problem) => {
            report.push(problem.diagnostic(Code::BadDefault, node, kind));
            return None;
        }
    };
    let as_written = matches!(
        (&node.value, kind),
        (Value::Text(_), ArgumentType::String)
            | (
                Value::Integer(_),
                ArgumentType::Integer | ArgumentType::Number
            )
            | (Value::Float(_), ArgumentType::Number)
            | (Value::Boolean(_), ArgumentType::Boolean)
    );
    if !as_written && node.old_reading.is_none() {
        report.push(
            Diagnostic::new(
                Code::ConvertedDefault,
                node.span,
                format!(
                    "this default is {} and becomes the {} `{}`",
                    node.value.kind(),
                    kind.name(),
                    value.to_string()
                ),
            )
            .help(format!("write it as {}", kind.with_article())),
        );
    }
    if let Some(choices) = choices
        && !choices.iter().any(|choice| choice.is_same(&value))
    {
        let words: Vec<String> = choices.iter().map(Scalar::to_string).collect();
        report.push(
            Diagnostic::new(
                Code::DefaultNotInEnum,
                node.span,
                format!("the default `{}` is not in the enum", value.to_string()),
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
    fn diagnostic(self, code: Code, node: &Node, kind: ArgumentType) -> Diagnostic {
        match self {
            Self::WrongType => Diagnostic::new(
                code,
                node.span,
                match &node.value {
                    Value::Text(text) => format!("`{text}` is not {}", kind.with_article()),
                    other => format!("expected {}, found {}", kind.with_article(), other.kind()),
                },
            )
            .help(match kind {
                ArgumentType::String => "give one text, in quotes".to_owned(),
                _ => format!("give {}, or change `type`", kind.with_article()),
            }),
            Self::Ambiguous(reading) => Diagnostic::new(
                Code::AmbiguousScalar,
                node.span,
                format!("YAML 1.1 takes this for {reading}, YAML 1.2 does not"),
            )
            .help("put it in quotes if it is meant as text, or write it another way"),
        }
    }
}

/// The value of a node as one of the kind, converted where that is safe.
fn scalar(node: &Node, kind: ArgumentType) -> Result<Scalar<'static>, Problem> {
    match (kind, node.old_reading) {
        (_, None) => {}
        (ArgumentType::Boolean, Some(OldReading::Boolean(value))) => {
            return Ok(Scalar::Boolean(value));
        }
        (_, Some(reading)) => return Err(Problem::Ambiguous(reading)),
    }
    let converted = match (kind, &node.value) {
        (ArgumentType::String, Value::Text(text)) => Some(Scalar::Text(text.clone().into())),
        (ArgumentType::String, Value::Integer(integer)) => {
            Some(Scalar::Text(integer.to_string().into()))
        }
        (ArgumentType::String, Value::Float(float)) => {
            Some(Scalar::Text(Number::Float(*float).to_string().into()))
        }
        (ArgumentType::String, Value::Boolean(boolean)) => {
            Some(Scalar::Text(boolean.to_string().into()))
        }
        (ArgumentType::Integer, Value::Integer(integer)) => Some(Scalar::Integer(*integer)),
        (ArgumentType::Integer, Value::Float(float)) => {
            scalar::integer_from_float(*float).map(Scalar::Integer)
        }
        (ArgumentType::Integer, Value::Boolean(boolean)) => {
            Some(Scalar::Integer((*boolean).into()))
        }
        (ArgumentType::Integer, Value::Text(text)) => {
            scalar::parse_integer(text).map(Scalar::Integer)
        }
        (ArgumentType::Number, Value::Integer(integer)) => {
            Some(Scalar::Number(Number::Integer(*integer)))
        }
        (ArgumentType::Number, Value::Float(float)) => Some(Scalar::Number(Number::Float(*float))),
        (ArgumentType::Number, Value::Text(text)) => {
            scalar::parse_exact_number(text).map(Scalar::Number)
        }
        (ArgumentType::Boolean, Value::Boolean(boolean)) => Some(Scalar::Boolean(*boolean)),
        (ArgumentType::Boolean, Value::Integer(integer)) => Some(Scalar::Boolean(*integer != 0)),
        (ArgumentType::Boolean, Value::Text(text)) => {
            scalar::parse_boolean(text).map(Scalar::Boolean)
        }
        _ => None,
    };
    converted.ok_or(Problem::WrongType)
}

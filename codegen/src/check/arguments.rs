//! Checks arguments: their names, types, defaults, enums, and where their values go.

use climax_core::scalar;
use climax_core::scalar::{Number, Scalar};

use super::reject_nul;
use crate::model::{ArgumentModel, ArgumentPlacement, ArgumentType, GlobalArgument};
use crate::written::WrittenArgument;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::Spanned;
use climax_input::yaml::{Node, Yaml11Reading, YamlValue};

/// The indices of the arguments in command-line order: positional ones first, otherwise in definition order.
pub(super) fn argv_order(arguments: &[ArgumentModel]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arguments.len()).collect();
    order.sort_by_key(|index| arguments[*index].placement != ArgumentPlacement::Positional);
    order
}

pub(super) fn check_arguments(
    written: Vec<WrittenArgument>,
    report: &mut Vec<Diagnostic>,
) -> Vec<ArgumentModel> {
    let mut seen: Vec<(String, SourceSpan)> = Vec::new();
    let (mut cwd_span, mut stdin_span) = (None, None);
    let mut arguments = Vec::new();
    for argument in written {
        if let Some(name) = &argument.name {
            if name.value.is_empty() {
                report.push(
                    Diagnostic::new(Code::BadArgumentName, name.span, "an argument needs a name")
                        .help("add one; agents see it in the input schema of the tool"),
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
        for (field, earlier_span, target) in [
            (&argument.cwd, &mut cwd_span, "the working directory"),
            (&argument.stdin, &mut stdin_span, "standard input"),
        ] {
            let Some(field) = field.as_ref().filter(|field| field.value) else {
                continue;
            };
            if let Some(earlier_span) = earlier_span.replace(field.span) {
                report.push(
                    Diagnostic::new(
                        Code::DuplicatePlacement,
                        field.span,
                        format!("a second argument sets {target}"),
                    )
                    .related(earlier_span, "the first one")
                    .help("remove one: a tool can have only one such argument"),
                );
            }
        }
        arguments.extend(check_argument(argument, report));
    }
    arguments
}

fn check_argument(written: WrittenArgument, report: &mut Vec<Diagnostic>) -> Option<ArgumentModel> {
    let argument_type = written
        .argument_type
        .as_ref()
        .map_or(ArgumentType::String, |argument_type| argument_type.value);
    let choices = written
        .choices
        .as_ref()
        .and_then(|choices| check_choices(choices, argument_type, report));
    let default = written
        .default
        .as_ref()
        .and_then(|default| check_default(default, argument_type, choices.as_deref(), report));
    let required = written
        .required
        .as_ref()
        .is_some_and(|required| required.value);
    if let (true, Some(default)) = (required, &written.default) {
        report.push(
            Diagnostic::new(
                Code::RequiredDefault,
                default.span,
                "a required argument never uses its default",
            )
            .help("remove `default` or `required`"),
        );
    }
    let placement = placement(&written, argument_type, report);
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
    Some(ArgumentModel {
        name: written.name?.value,
        description: written
            .description
            .map(|text| text.value)
            .unwrap_or_default(),
        argument_type,
        required,
        default,
        choices,
        placement,
    })
}

fn placement(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    report: &mut Vec<Diagnostic>,
) -> ArgumentPlacement {
    let span_if_true = |field: &Option<Spanned<bool>>| {
        let field = field.as_ref().filter(|field| field.value);
        field.map(|field| field.span)
    };
    let placement_fields = [
        (span_if_true(&written.positional), "positional"),
        (span_if_true(&written.cwd), "cwd"),
        (span_if_true(&written.stdin), "stdin"),
    ];
    let mut true_fields = placement_fields
        .iter()
        .filter_map(|(span, name)| span.map(|span| (span, *name)));
    let first = true_fields.next();
    if let (Some((first_span, first)), Some((span, second))) = (first, true_fields.next()) {
        report.push(
            Diagnostic::new(
                Code::ConflictingPlacements,
                span,
                format!("an argument is `{first}` or `{second}`, not both"),
            )
            .related(first_span, "the other one")
            .help("remove one of the two"),
        );
    }
    let flag = written.flag.as_ref().filter(|flag| !flag.value.is_empty());
    if let Some(flag) = flag {
        reject_nul(flag, report);
        if flag.value.contains(char::is_whitespace) {
            let message = format!(
                "a flag is one word: the program receives `{}` as one argument",
                flag.value
            );
            report.push(
                Diagnostic::new(Code::ShellSyntax, flag.span, message)
                    .help("move fixed words into the tool's `command`"),
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
                        "a positional argument cannot have a flag",
                    )
                    .related(positional, "positional because of this")
                    .help("remove `flag` or `positional`"),
                );
            }
            ArgumentPlacement::Positional
        }
        Some((span, name)) => {
            if argument_type != ArgumentType::String {
                report.push(
                    Diagnostic::new(
                        Code::PlacementNeedsString,
                        span,
                        format!(
                            "a `{name}` argument must be a string, not {}",
                            argument_type.with_article()
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
            match argument_type {
                ArgumentType::Boolean => ArgumentPlacement::Switch(flag),
                _ if flag.ends_with('=') => ArgumentPlacement::JoinedFlag(flag),
                _ => ArgumentPlacement::Flag(flag),
            }
        }
    }
}

fn default_flag(name: Option<&Spanned<String>>) -> String {
    let name = name.map_or("", |name| name.value.as_str());
    format!("--{}", name.replace('_', "-"))
}

pub(super) fn check_global_argument(
    written: WrittenArgument,
    report: &mut Vec<Diagnostic>,
) -> Option<GlobalArgument> {
    let name = written.name.as_ref()?;
    let argument_type = written
        .argument_type
        .as_ref()
        .map_or(ArgumentType::String, |argument_type| argument_type.value);
    let Some(default) = written.default else {
        report.push(
            Diagnostic::new(
                Code::IneffectiveGlobalArgument,
                name.span,
                "a global argument without a default does nothing",
            )
            .help("add `default`, for example `default: \"$NAME\"`"),
        );
        return None;
    };
    for (is_present, field) in [
        (written.positional.is_some(), "positional"),
        (written.cwd.is_some(), "cwd"),
        (written.stdin.is_some(), "stdin"),
        (written.required.is_some(), "required"),
        (written.choices.is_some(), "enum"),
    ] {
        if is_present {
            let message = format!("`{field}` does nothing in a global argument");
            report.push(
                Diagnostic::new(Code::IneffectiveGlobalArgument, name.span, message)
                    .help("remove it: a global argument is a flag with its default"),
            );
        }
    }
    let has_variable = matches!(&default.value, YamlValue::Text(text) if text.contains('$'));
    if !has_variable && let Err(error) = convert_scalar(&default, argument_type) {
        report.push(error.diagnostic(Code::BadDefault, &default, argument_type));
        return None;
    }
    // A value of any type may contain variables, so it stays text until run time.
    let value = convert_scalar(&default, ArgumentType::String)
        .map_err(|error| {
            report.push(error.diagnostic(Code::BadDefault, &default, ArgumentType::String));
        })
        .ok()?
        .to_string();
    let flag = match written.flag.filter(|flag| !flag.value.is_empty()) {
        Some(flag) => flag.value,
        None => default_flag(Some(name)),
    };
    Some(GlobalArgument {
        flag,
        value,
        is_switch: argument_type == ArgumentType::Boolean,
    })
}

fn check_choices(
    choices: &Spanned<Vec<Node>>,
    argument_type: ArgumentType,
    report: &mut Vec<Diagnostic>,
) -> Option<Vec<Scalar<'static>>> {
    if argument_type == ArgumentType::Boolean {
        report.push(
            Diagnostic::new(
                Code::BooleanEnum,
                choices.span,
                "a boolean argument cannot have an `enum`",
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
    let mut values: Vec<(Scalar<'static>, SourceSpan)> = Vec::new();
    for node in &choices.value {
        let value = match convert_scalar(node, argument_type) {
            // Every type accepts text, because CLImax for Python requires it: `enum: ["1", "2"]`. Strings
            // accept nothing else.
            Ok(value)
                if argument_type != ArgumentType::String
                    || matches!(node.value, YamlValue::Text(_)) =>
            {
                value
            }
            Ok(_) => {
                report.push(ScalarConversionError::WrongType.diagnostic(
                    Code::BadEnumValue,
                    node,
                    argument_type,
                ));
                continue;
            }
            Err(error) => {
                report.push(error.diagnostic(Code::BadEnumValue, node, argument_type));
                continue;
            }
        };
        if value.to_string().contains(char::is_control) {
            let message = "an enum value must not contain control characters";
            report.push(
                Diagnostic::new(Code::BadEnumValue, node.span, message)
                    .help("remove line breaks, tabs and other control characters"),
            );
            continue;
        }
        if let Some((_, first)) = values.iter().find(|(seen, _)| seen.is_same(&value)) {
            report.push(
                Diagnostic::new(
                    Code::DuplicateEnumValue,
                    node.span,
                    format!("`{value}` is listed twice"),
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

fn check_default(
    node: &Node,
    argument_type: ArgumentType,
    choices: Option<&[Scalar<'static>]>,
    report: &mut Vec<Diagnostic>,
) -> Option<Scalar<'static>> {
    let value = match convert_scalar(node, argument_type) {
        Ok(value) => value,
        Err(error) => {
            report.push(error.diagnostic(Code::BadDefault, node, argument_type));
            return None;
        }
    };
    let is_of_type = matches!(
        (&node.value, argument_type),
        (YamlValue::Text(_), ArgumentType::String)
            | (
                YamlValue::Integer(_),
                ArgumentType::Integer | ArgumentType::Number
            )
            | (YamlValue::Float(_), ArgumentType::Number)
            | (YamlValue::Boolean(_), ArgumentType::Boolean)
    );
    if !is_of_type && node.yaml_1_1_reading.is_none() {
        report.push(
            Diagnostic::new(
                Code::ConvertedDefault,
                node.span,
                format!(
                    "this default is {} and is converted to the {} `{value}`",
                    node.value.kind(),
                    argument_type.name()
                ),
            )
            .help(format!("write it as {}", argument_type.with_article())),
        );
    }
    if let Some(choices) = choices
        && !choices.iter().any(|choice| choice.is_same(&value))
    {
        let texts: Vec<String> = choices.iter().map(Scalar::to_string).collect();
        report.push(
            Diagnostic::new(
                Code::DefaultNotInEnum,
                node.span,
                format!("the default `{value}` is not in the enum"),
            )
            .help(format!("expected one of: {}", texts.join(", "))),
        );
    }
    Some(value)
}

/// Why a YAML node cannot be converted to a scalar of an argument type.
enum ScalarConversionError {
    WrongType,
    Ambiguous(Yaml11Reading),
}

impl ScalarConversionError {
    fn diagnostic(self, code: Code, node: &Node, argument_type: ArgumentType) -> Diagnostic {
        match self {
            Self::WrongType => Diagnostic::new(
                code,
                node.span,
                match &node.value {
                    YamlValue::Text(text) => {
                        format!("`{text}` is not {}", argument_type.with_article())
                    }
                    other => format!(
                        "expected {}, found {}",
                        argument_type.with_article(),
                        other.kind()
                    ),
                },
            )
            .help(match argument_type {
                ArgumentType::String => "write a single value in quotes".to_owned(),
                _ => format!("write {}, or change `type`", argument_type.with_article()),
            }),
            Self::Ambiguous(reading) => Diagnostic::new(
                Code::AmbiguousScalar,
                node.span,
                format!("YAML 1.1 reads this as {reading}, YAML 1.2 does not"),
            )
            .help("put it in quotes if it is meant as text, or write it unambiguously"),
        }
    }
}

/// Converts a YAML node to a scalar of an argument type. Fails if there is no conversion, or if YAML 1.1 and
/// YAML 1.2 read the node differently.
fn convert_scalar(
    node: &Node,
    argument_type: ArgumentType,
) -> Result<Scalar<'static>, ScalarConversionError> {
    match (argument_type, node.yaml_1_1_reading) {
        (_, None) => {}
        (ArgumentType::Boolean, Some(Yaml11Reading::Boolean(value))) => {
            return Ok(Scalar::Boolean(value));
        }
        (_, Some(reading)) => return Err(ScalarConversionError::Ambiguous(reading)),
    }
    let converted = match (argument_type, &node.value) {
        (ArgumentType::String, YamlValue::Text(text)) => Some(Scalar::Text(text.clone().into())),
        (ArgumentType::String, YamlValue::Integer(integer)) => {
            Some(Scalar::Text(integer.to_string().into()))
        }
        (ArgumentType::String, YamlValue::Float(float)) => {
            Some(Scalar::Text(Number::Float(*float).to_string().into()))
        }
        (ArgumentType::String, YamlValue::Boolean(boolean)) => {
            Some(Scalar::Text(boolean.to_string().into()))
        }
        (ArgumentType::Integer, YamlValue::Integer(integer)) => Some(Scalar::Integer(*integer)),
        (ArgumentType::Integer, YamlValue::Float(float)) => {
            scalar::integer_from_float(*float).map(Scalar::Integer)
        }
        (ArgumentType::Integer, YamlValue::Boolean(boolean)) => {
            Some(Scalar::Integer((*boolean).into()))
        }
        (ArgumentType::Integer, YamlValue::Text(text)) => {
            scalar::parse_integer(text).map(Scalar::Integer)
        }
        (ArgumentType::Number, YamlValue::Integer(integer)) => {
            Some(Scalar::Number(Number::Integer(*integer)))
        }
        (ArgumentType::Number, YamlValue::Float(float)) => {
            Some(Scalar::Number(Number::Float(*float)))
        }
        (ArgumentType::Number, YamlValue::Text(text)) => {
            scalar::parse_exact_number(text).map(Scalar::Number)
        }
        (ArgumentType::Boolean, YamlValue::Boolean(boolean)) => Some(Scalar::Boolean(*boolean)),
        (ArgumentType::Boolean, YamlValue::Integer(integer)) => {
            Some(Scalar::Boolean(*integer != 0))
        }
        (ArgumentType::Boolean, YamlValue::Text(text)) => {
            scalar::parse_boolean(text).map(Scalar::Boolean)
        }
        _ => None,
    };
    converted.ok_or(ScalarConversionError::WrongType)
}

//! Checks the values in a config: enums, defaults, and their conversion to the types of arguments.

use climax_core::scalar;
use climax_core::scalar::{Number, Scalar};
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::Spanned;
use climax_input::yaml::{Node, Yaml11Reading, YamlValue};

use crate::model::ArgumentType;

/// Checks `enum`.
pub(super) fn check_choices(
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

/// Checks a default, or an item of the default of a list.
pub(super) fn check_default(
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
pub(super) enum ScalarConversionError {
    WrongType,
    Ambiguous(Yaml11Reading),
}

impl ScalarConversionError {
    pub(super) fn diagnostic(
        self,
        code: Code,
        node: &Node,
        argument_type: ArgumentType,
    ) -> Diagnostic {
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
pub(super) fn convert_scalar(
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

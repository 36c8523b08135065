//! Turns arguments into JSON Schema for agents.

use climax_core::risk::{Risk, refuses_unknown_arguments};
use climax_core::scalar::{Number, Scalar};
use serde_json::{Map, Value, json};

use crate::facts::ArgumentFacts;

/// The input schema of a tool, with properties in definition order.
#[must_use]
pub fn input_schema(arguments: &[ArgumentFacts<'_>], risk: Option<Risk>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    let properties = arguments
        .iter()
        .map(|argument| (argument.name.to_owned(), property(argument).into()));
    let properties: Map<String, Value> = properties.collect();
    schema.insert("properties".to_owned(), properties.into());
    let required = arguments.iter().filter(|argument| argument.required);
    let required: Vec<&str> = required.map(|argument| argument.name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    if refuses_unknown_arguments(risk) {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}

/// The schema of one argument, including the limits of policies.
#[must_use]
pub fn property(argument: &ArgumentFacts<'_>) -> Map<String, Value> {
    // Patterns in JSON Schema have no flags, so a pattern with flags becomes part of the description.
    let inexpressible = argument
        .patterns()
        .filter(|pattern| pattern.schema.is_none())
        .map(|pattern| format!("(must match {})", pattern.text));
    let own_description =
        (!argument.description.is_empty()).then(|| argument.description.to_owned());
    let description: Vec<String> = own_description.into_iter().chain(inexpressible).collect();
    let mut patterns = argument.patterns().filter_map(|pattern| pattern.schema);
    let pattern = patterns.next();
    let other_patterns: Vec<Value> = patterns.map(|text| json!({"pattern": text})).collect();
    let choices: Vec<Value> = argument.choices.iter().map(Scalar::json).collect();
    let default = argument.default.as_ref().map(Scalar::json);
    let description = (!description.is_empty()).then(|| description.join(" "));
    let choices = (!choices.is_empty()).then_some(choices);
    let other_patterns = (!other_patterns.is_empty()).then_some(other_patterns);
    let keys = [
        ("type", Some(argument.kind.name().into())),
        ("description", description.map(Value::from)),
        ("default", default),
        ("enum", choices.map(Value::from)),
        ("pattern", pattern.map(Value::from)),
        ("minimum", argument.minimum().map(Number::json)),
        ("maximum", argument.maximum().map(Number::json)),
        ("allOf", other_patterns.map(Value::from)),
    ];
    keys.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{LimitFacts, PatternFacts, PlacementKind};
    use climax_core::scalar::ArgumentType;

    fn argument(name: &str, kind: ArgumentType) -> ArgumentFacts<'_> {
        ArgumentFacts {
            name,
            description: "",
            kind,
            required: false,
            default: None,
            choices: Vec::new(),
            placement: PlacementKind::Positional,
            limits: Vec::new(),
        }
    }

    fn pattern_limit<'f>(text: &'f str, schema: Option<&'f str>) -> LimitFacts<'f> {
        let pattern = PatternFacts {
            text,
            schema,
            automaton: &[],
        };
        LimitFacts {
            pattern: Some(pattern),
            ..LimitFacts::default()
        }
    }

    fn json_text(schema: Map<String, Value>) -> String {
        Value::from(schema).to_string()
    }

    #[test]
    fn a_tool_without_arguments_has_an_object_schema_without_properties() {
        assert_eq!(
            json_text(input_schema(&[], None)),
            r#"{"type":"object","properties":{}}"#
        );
    }

    #[test]
    fn tools_that_change_something_allow_no_additional_properties() {
        for risk in [Risk::Write, Risk::Destructive] {
            assert_eq!(
                json_text(input_schema(&[], Some(risk))),
                r#"{"type":"object","properties":{},"additionalProperties":false}"#
            );
        }
    }

    #[test]
    fn properties_keep_definition_order_and_have_type_description_default_and_enum() {
        let arguments = [
            ArgumentFacts {
                description: "say \"hi\"",
                required: true,
                ..argument("z", ArgumentType::String)
            },
            ArgumentFacts {
                default: Some(Scalar::Integer(10)),
                placement: PlacementKind::Directory,
                ..argument("a", ArgumentType::Integer)
            },
            ArgumentFacts {
                choices: vec![Scalar::Number(Number::Float(1.0))],
                ..argument("n", ArgumentType::Number)
            },
            argument("b", ArgumentType::Boolean),
        ];
        assert_eq!(
            json_text(input_schema(&arguments, Some(Risk::Read))),
            r#"{"type":"object","properties":{"z":{"type":"string","description":"say \"hi\""},"#
                .to_owned()
                + r#""a":{"type":"integer","default":10},"n":{"type":"number","enum":[1.0]},"#
                + r#""b":{"type":"boolean"}},"required":["z"]}"#
        );
    }

    #[test]
    fn a_property_combines_all_limits_and_has_its_keys_in_a_fixed_order() {
        let bounds = |min, max| LimitFacts {
            min,
            max,
            ..LimitFacts::default()
        };
        let integer = |integer| Some(Number::Integer(integer));
        let limited = ArgumentFacts {
            description: "How many",
            default: Some(Scalar::Integer(3)),
            choices: vec![Scalar::Integer(3)],
            limits: vec![
                bounds(integer(2), Some(Number::Float(4.5))),
                pattern_limit("[0-9]", Some("^(?:[0-9])$")),
                bounds(integer(1), integer(9)),
                pattern_limit("(?i)a", None),
                pattern_limit("3", Some("^(?:3)$")),
            ],
            ..argument("count", ArgumentType::Integer)
        };
        assert_eq!(
            json_text(property(&limited)),
            r#"{"type":"integer","description":"How many (must match (?i)a)","default":3,"enum":[3],"#
                .to_owned()
                + r#""pattern":"^(?:[0-9])$","minimum":2,"maximum":4.5,"allOf":[{"pattern":"^(?:3)$"}]}"#
        );
    }
}

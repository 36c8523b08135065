//! Arguments -> the JSON Schema that an agent reads.

use climax_core::scalar::{Number, Scalar};
use serde_json::{Map, Value, json};

use crate::facts::Argument;

/// The schema of a tool's arguments, with properties in definition order.
#[must_use]
pub fn input_schema(arguments: &[Argument<'_>]) -> Map<String, Value> {
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
    schema
}

/// The schema of one argument. A value that it allows is within all limits.
#[must_use]
pub fn property(argument: &Argument<'_>) -> Map<String, Value> {
    // JSON Schema has no flags, so a pattern that has some is described.
    let described = argument.patterns().filter(|it| it.schema.is_none());
    let described = described.map(|it| format!("(must match {})", it.text));
    let given = (!argument.description.is_empty()).then(|| argument.description.to_owned());
    let description: Vec<String> = given.into_iter().chain(described).collect();
    let mut schemas = argument.patterns().filter_map(|it| it.schema);
    let pattern = schemas.next();
    let other_patterns: Vec<Value> = schemas.map(|schema| json!({"pattern": schema})).collect();
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
    let given = keys
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    given.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Limit, Pattern, PlacementKind};
    use climax_core::scalar::ArgumentType;

    fn argument(name: &str, kind: ArgumentType) -> Argument<'_> {
        Argument {
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

    fn pattern<'f>(text: &'f str, schema: Option<&'f str>) -> Limit<'f> {
        let pattern = Pattern {
            text,
            schema,
            automaton: &[],
        };
        Limit {
            pattern: Some(pattern),
            ..Limit::default()
        }
    }

    fn text(schema: Map<String, Value>) -> String {
        Value::from(schema).to_string()
    }

    #[test]
    fn no_arguments_are_an_object_without_properties() {
        assert_eq!(
            text(input_schema(&[])),
            r#"{"type":"object","properties":{}}"#
        );
    }

    #[test]
    fn properties_keep_their_order_and_say_what_is_known() {
        let arguments = [
            Argument {
                description: "say \"hi\"",
                required: true,
                ..argument("z", ArgumentType::String)
            },
            Argument {
                default: Some(Scalar::Integer(10)),
                placement: PlacementKind::Directory,
                ..argument("a", ArgumentType::Integer)
            },
            Argument {
                choices: vec![Scalar::Number(Number::Float(1.0))],
                ..argument("n", ArgumentType::Number)
            },
            argument("b", ArgumentType::Boolean),
        ];
        assert_eq!(
            text(input_schema(&arguments)),
            r#"{"type":"object","properties":{"z":{"type":"string","description":"say \"hi\""},"#
                .to_owned()
                + r#""a":{"type":"integer","default":10},"n":{"type":"number","enum":[1.0]},"#
                + r#""b":{"type":"boolean"}},"required":["z"]}"#
        );
    }

    #[test]
    fn a_property_says_what_all_limits_allow_in_a_fixed_order() {
        let bounds = |min, max| Limit {
            min,
            max,
            ..Limit::default()
        };
        let integer = |integer| Some(Number::Integer(integer));
        let limited = Argument {
            description: "How many",
            default: Some(Scalar::Integer(3)),
            choices: vec![Scalar::Integer(3)],
            limits: vec![
                bounds(integer(2), Some(Number::Float(4.5))),
                pattern("[0-9]", Some("^(?:[0-9])$")),
                bounds(integer(1), integer(9)),
                pattern("(?i)a", None),
                pattern("3", Some("^(?:3)$")),
            ],
            ..argument("count", ArgumentType::Integer)
        };
        assert_eq!(
            text(property(&limited)),
            r#"{"type":"integer","description":"How many (must match (?i)a)","default":3,"enum":[3],"#
                .to_owned()
                + r#""pattern":"^(?:[0-9])$","minimum":2,"maximum":4.5,"allOf":[{"pattern":"^(?:3)$"}]}"#
        );
    }
}

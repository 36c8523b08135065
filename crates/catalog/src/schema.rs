//! Turns arguments into JSON Schema for agents.

use climax_core::risk::{Risk, refuses_unknown_arguments};
use climax_core::scalar::{Number, Scalar, ValueShape};
use climax_policy::limit::LimitTarget;
use serde_json::{Map, Value, json};

use crate::facts::{ArgumentFacts, CombinationFacts, CombinationKind};

/// The input schema of a tool, with properties in definition order.
#[must_use]
pub fn input_schema(
    arguments: &[ArgumentFacts<'_>],
    combinations: &[CombinationFacts],
    risk: Option<Risk>,
) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    let properties = (0..).zip(arguments).map(|(number, argument)| {
        let notes = combination_notes(number, arguments, combinations);
        (argument.name.to_owned(), property(argument, notes).into())
    });
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

/// What rules about combinations say about an argument, for its description. JSON Schema could express them, but
/// some clients refuse schemas with `anyOf` or `not` at the top.
fn combination_notes(
    number: u32,
    arguments: &[ArgumentFacts<'_>],
    combinations: &[CombinationFacts],
) -> Vec<String> {
    let mut notes = Vec::new();
    for rule in combinations {
        if !rule.arguments.contains(&number) {
            continue;
        }
        let others = rule.arguments.iter().filter(|other| **other != number);
        let others: Vec<&str> = others
            .map(|other| arguments[*other as usize].name)
            .collect();
        let others = others.join(", ");
        match rule.kind {
            CombinationKind::Exclusive => notes.push(format!("(not together with {others})")),
            CombinationKind::AtLeastOne => notes.push(format!("(this or {others} is required)")),
            CombinationKind::Requires if rule.arguments.first() == Some(&number) => {
                notes.push(format!("(only together with {others})"));
            }
            CombinationKind::Requires => {}
        }
    }
    notes
}

/// The schema of one argument with its limits. `notes` are appended to the description.
#[must_use]
pub fn property(argument: &ArgumentFacts<'_>, notes: Vec<String>) -> Map<String, Value> {
    let values = value_schema(argument);
    let mut description: Vec<String> = Vec::new();
    if !argument.description.is_empty() {
        description.push(argument.description.to_owned());
    }
    description.extend(inexpressible_limits(argument));
    description.extend(notes);
    let description = (!description.is_empty()).then(|| description.join(" "));
    let mut defaults = argument.default.iter().map(Scalar::json);
    let count_bound = |bound: Option<Number>| bound.map(Number::json);
    let mut schema = Map::new();
    let mut insert = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(key.to_owned(), value);
        }
    };
    insert("type", Some(argument.shape.type_name(argument.kind).into()));
    insert("description", description.map(Value::from));
    match argument.shape {
        ValueShape::Single => {
            insert("default", defaults.next());
            for (key, value) in values {
                insert(key, Some(value));
            }
        }
        ValueShape::List => {
            let defaults: Vec<Value> = defaults.collect();
            insert("default", (!defaults.is_empty()).then(|| defaults.into()));
            let mut items = json!({"type": argument.kind.name()});
            for (key, value) in values {
                items[key] = value;
            }
            insert("items", Some(items));
            // An empty list counts as missing.
            let minimum = match argument.minimum(LimitTarget::Count) {
                None | Some(Number::Integer(0)) if argument.required => Some(Number::Integer(1)),
                minimum => minimum,
            };
            insert("minItems", count_bound(minimum));
            insert(
                "maxItems",
                count_bound(argument.maximum(LimitTarget::Count)),
            );
        }
        ValueShape::Map => {
            insert("additionalProperties", Some(json!({"type": "string"})));
            let mut patterns = argument.patterns(LimitTarget::Key);
            let pattern = patterns.find_map(|pattern| pattern.schema);
            insert("minProperties", argument.required.then(|| 1.into()));
            insert(
                "propertyNames",
                pattern.map(|text| json!({"pattern": text})),
            );
        }
    }
    schema
}

/// The part of the schema that restricts values, without the type.
fn value_schema(argument: &ArgumentFacts<'_>) -> Vec<(&'static str, Value)> {
    let mut patterns = argument
        .patterns(LimitTarget::Value)
        .filter_map(|pattern| pattern.schema);
    let pattern = patterns.next();
    let other_patterns: Vec<Value> = patterns.map(|text| json!({"pattern": text})).collect();
    let choices: Vec<Value> = argument.choices.iter().map(Scalar::json).collect();
    let choices = (!choices.is_empty()).then_some(choices);
    let other_patterns = (!other_patterns.is_empty()).then_some(other_patterns);
    let minimum = argument.minimum(LimitTarget::Value);
    let maximum = argument.maximum(LimitTarget::Value);
    let keys = [
        ("enum", choices.map(Value::from)),
        ("pattern", pattern.map(Value::from)),
        ("minimum", minimum.map(Number::json)),
        ("maximum", maximum.map(Number::json)),
        ("allOf", other_patterns.map(Value::from)),
    ];
    keys.into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

/// Limits that JSON Schema cannot express, for the description: its patterns have no flags, and none applies to
/// the entry of a map.
fn inexpressible_limits(argument: &ArgumentFacts<'_>) -> Vec<String> {
    let is_map = argument.shape == ValueShape::Map;
    let values = argument
        .patterns(LimitTarget::Value)
        .filter(|pattern| is_map || pattern.schema.is_none())
        .map(|pattern| format!("(must match {})", pattern.text));
    let keys = argument
        .patterns(LimitTarget::Key)
        .filter(|pattern| pattern.schema.is_none())
        .map(|pattern| format!("(keys must match {})", pattern.text));
    values.chain(keys).collect()
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
            shape: ValueShape::Single,
            required: false,
            default: Vec::new(),
            choices: Vec::new(),
            placement: PlacementKind::Positional,
            flag: "",
            is_path: false,
            limits: Vec::new(),
        }
    }

    fn pattern_limit<'f>(text: &'f str, schema: Option<&'f str>) -> LimitFacts<'f> {
        let pattern = PatternFacts { text, schema };
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
            json_text(input_schema(&[], &[], None)),
            r#"{"type":"object","properties":{}}"#
        );
    }

    #[test]
    fn tools_that_change_something_allow_no_additional_properties() {
        for risk in [Risk::Write, Risk::Destructive] {
            assert_eq!(
                json_text(input_schema(&[], &[], Some(risk))),
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
                default: vec![Scalar::Integer(10)],
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
            json_text(input_schema(&arguments, &[], Some(Risk::Read))),
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
            default: vec![Scalar::Integer(3)],
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
            json_text(property(&limited, Vec::new())),
            r#"{"type":"integer","description":"How many (must match (?i)a)","default":3,"enum":[3],"#
                .to_owned()
                + r#""pattern":"^(?:[0-9])$","minimum":2,"maximum":4.5,"allOf":[{"pattern":"^(?:3)$"}]}"#
        );
    }
}

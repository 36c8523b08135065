//! Turns a tool's arguments into the JSON Schema that an agent reads.

use std::fmt::Write as _;

use climax_core::pieces::json;
use serde_json::Value;

use crate::model::{Arg, Scalar};

/// The input schema as compact JSON, properties in definition order.
#[must_use]
pub fn input_schema(args: &[Arg]) -> String {
    let properties: Vec<String> = args
        .iter()
        .map(|arg| format!("{}:{}", json(&arg.name), property(arg)))
        .collect();
    let required: Vec<String> = args
        .iter()
        .filter(|arg| arg.required)
        .map(|arg| json(&arg.name))
        .collect();
    let mut schema = format!(
        r#"{{"type":"object","properties":{{{}}}"#,
        properties.join(",")
    );
    if !required.is_empty() {
        let _ = write!(schema, r#","required":[{}]"#, required.join(","));
    }
    schema.push('}');
    schema
}

fn property(arg: &Arg) -> String {
    let mut property = format!(r#"{{"type":"{}""#, arg.kind.name());
    if !arg.description.is_empty() {
        let _ = write!(property, r#","description":{}"#, json(&arg.description));
    }
    if let Some(default) = &arg.default {
        let _ = write!(property, r#","default":{}"#, default.json());
    }
    if let Some(choices) = &arg.choices {
        let choices: Vec<Value> = choices.iter().map(Scalar::json).collect();
        let _ = write!(property, r#","enum":{}"#, Value::from(choices));
    }
    property.push('}');
    match &arg.limit {
        Some(limit) => limit.property(&property),
        None => property,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Place};

    fn arg(name: &str, kind: Kind) -> Arg {
        Arg {
            name: name.to_owned(),
            description: String::new(),
            kind,
            required: false,
            default: None,
            choices: None,
            place: Place::Positional,
            limit: None,
        }
    }

    #[test]
    fn no_arguments_are_an_object_without_properties() {
        assert_eq!(input_schema(&[]), r#"{"type":"object","properties":{}}"#);
    }

    #[test]
    fn properties_keep_their_order_and_say_what_is_known() {
        let args = [
            Arg {
                description: "say \"hi\"".to_owned(),
                required: true,
                ..arg("z", Kind::String)
            },
            Arg {
                default: Some(Scalar::Integer(10)),
                place: Place::Directory,
                ..arg("a", Kind::Integer)
            },
            Arg {
                choices: Some(vec![Scalar::Number(climax_core::scalar::Number::Float(
                    1.0,
                ))]),
                ..arg("n", Kind::Number)
            },
            arg("b", Kind::Boolean),
        ];
        assert_eq!(
            input_schema(&args),
            r#"{"type":"object","properties":{"z":{"type":"string","description":"say \"hi\""},"#
                .to_owned()
                + r#""a":{"type":"integer","default":10},"n":{"type":"number","enum":[1.0]},"#
                + r#""b":{"type":"boolean"}},"required":["z"]}"#
        );
    }
}

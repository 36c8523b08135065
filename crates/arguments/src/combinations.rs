//! Checks which arguments a call combines.

use climax_catalog::Tables;
use climax_catalog::facts::CombinationKind;
use climax_catalog::tables::{ArgumentRow, CombinationRow, ToolRow};
use climax_core::scalar::{ArgumentType, parse_boolean};
use serde_json::{Map, Value};

/// An error line for each rule about combinations that a call violates.
pub(crate) fn violations(
    tables: &Tables,
    tool: &ToolRow,
    arguments: &Map<String, Value>,
) -> Vec<String> {
    let rules = tables.combinations.rows().slice(tool.combinations);
    let violation = |rule| violation(tables, tool, &rule, arguments);
    rules.iter().filter_map(violation).collect()
}

fn violation(
    tables: &Tables,
    tool: &ToolRow,
    rule: &CombinationRow,
    arguments: &Map<String, Value>,
) -> Option<String> {
    let rows = tables.arguments.rows().slice(tool.arguments);
    let numbers = tables.numbers.rows().slice(rule.arguments);
    let members: Vec<(&str, bool)> = numbers
        .iter()
        .map(|number| {
            let row = rows.get(number);
            let name = row.name.of(&tables.text);
            (name, is_given(&row, arguments.get(name)))
        })
        .collect();
    let names = |is_given: bool| {
        let members = members.iter().filter(move |member| member.1 == is_given);
        members.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    match rule.kind {
        CombinationKind::Exclusive => {
            let given = names(true);
            (given.len() > 1).then(|| {
                let given = given.join("', '");
                format!("Arguments '{given}' exclude each other: give only one")
            })
        }
        CombinationKind::AtLeastOne => names(true).is_empty().then(|| {
            let missing = names(false).join("', '");
            format!("At least one of the arguments '{missing}' is required")
        }),
        CombinationKind::Requires => {
            let (first, is_first_given) = *members.first()?;
            let missing = names(false);
            (is_first_given && !missing.is_empty()).then(|| {
                let missing = missing.join("', '");
                format!("Argument '{first}' requires '{missing}'")
            })
        }
    }
}

/// Whether a call gives an argument a value. `null`, empty lists and maps, and `false` do not count.
fn is_given(argument: &ArgumentRow, value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(entries)) => !entries.is_empty(),
        Some(value) if argument.kind == ArgumentType::Boolean => match value {
            Value::Bool(boolean) => *boolean,
            Value::String(text) => parse_boolean(text) != Some(false),
            other => other.as_i64() != Some(0),
        },
        Some(_) => true,
    }
}

//! Checks the fields of a tool that refer to its arguments or to its results: combinations, exit codes and examples.

use climax_catalog::facts::{CombinationFacts, CombinationKind};
use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::fields::{Spanned, closest};
use climax_input::yaml::{Node, YamlValue};
use serde_json::{Map, Value};

use crate::model::ExampleModel;
use crate::written::{WrittenArgument, WrittenExample, WrittenRequirement, WrittenTool};

/// Checks `exclusive`, `at_least_one` and `requires`.
pub(super) fn check_combinations(
    tool: &WrittenTool,
    report: &mut Vec<Diagnostic>,
) -> Vec<CombinationFacts> {
    let names: Vec<&str> = tool
        .args
        .iter()
        .filter_map(|argument| Some(argument.name.as_ref()?.value.as_str()))
        .collect();
    let exclusive = tool.exclusive.iter();
    let exclusive = exclusive.map(|group| (CombinationKind::Exclusive, group));
    let at_least_one = tool.at_least_one.iter();
    let at_least_one = at_least_one.map(|group| (CombinationKind::AtLeastOne, group));
    let mut rules = Vec::new();
    for (kind, group) in exclusive.chain(at_least_one) {
        if group.value.len() < 2 {
            report.push(
                Diagnostic::new(
                    Code::BadCombination,
                    group.span,
                    "a rule about combinations names at least two arguments",
                )
                .help("write a list of lists, such as `[[lines, bytes]]`"),
            );
        }
        if kind == CombinationKind::Exclusive {
            check_exclusive(&group.value, tool, report);
        }
        rules.extend(rule(kind, group.value.iter(), &names, report));
    }
    for WrittenRequirement { argument, required } in &tool.requires {
        if required.is_empty() {
            report.push(
                Diagnostic::new(
                    Code::BadCombination,
                    argument.span,
                    "this names no argument that is required",
                )
                .help("write `requires: {a: [b]}`, or remove the entry"),
            );
        }
        let arguments = std::iter::once(argument).chain(required);
        rules.extend(rule(CombinationKind::Requires, arguments, &names, report));
    }
    rules
}

/// Reports exclusive arguments that are always on the command line.
fn check_exclusive(group: &[Spanned<String>], tool: &WrittenTool, report: &mut Vec<Diagnostic>) {
    for name in group {
        let has_name = |argument: &&WrittenArgument| {
            let written = argument.name.as_ref();
            written.is_some_and(|written| written.value == name.value)
        };
        let argument = tool.args.iter().find(has_name);
        let is_always_there = argument.is_some_and(|argument| {
            let required = argument.required.as_ref();
            argument.default.is_some() || required.is_some_and(|required| required.value)
        });
        if is_always_there {
            let message = format!(
                "`{}` is required or has a default, so it excludes the others always",
                name.value
            );
            report.push(
                Diagnostic::new(Code::BadCombination, name.span, message)
                    .help("make it optional, without a default"),
            );
        }
    }
}

fn rule<'w>(
    kind: CombinationKind,
    arguments: impl Iterator<Item = &'w Spanned<String>>,
    names: &[&str],
    report: &mut Vec<Diagnostic>,
) -> Option<CombinationFacts> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut is_valid = true;
    for argument in arguments {
        let Some(number) = (0..).zip(names).find(|(_, name)| **name == argument.value) else {
            let message = format!("the tool has no argument `{}`", argument.value);
            let help = match closest(&argument.value, names) {
                Some(name) => format!("did you mean `{name}`?"),
                None if names.is_empty() => "the tool has no arguments".to_owned(),
                None => format!("its arguments are: {}", names.join(", ")),
            };
            report.push(Diagnostic::new(Code::BadCombination, argument.span, message).help(help));
            is_valid = false;
            continue;
        };
        if numbers.contains(&number.0) {
            let message = format!("`{}` is listed twice", argument.value);
            report.push(
                Diagnostic::new(Code::BadCombination, argument.span, message)
                    .help("remove one of the two"),
            );
            is_valid = false;
        }
        numbers.push(number.0);
    }
    is_valid.then_some(CombinationFacts {
        kind,
        arguments: numbers,
    })
}

/// Checks `ok_exit_codes`. The code 0 is never an error, so it is left out.
pub(super) fn check_exit_codes(
    codes: &[Spanned<Number>],
    report: &mut Vec<Diagnostic>,
) -> Vec<i64> {
    let mut valid = Vec::new();
    for code in codes {
        match code.value {
            Number::Integer(0) => {}
            Number::Integer(number @ 1..=255) => valid.push(number),
            _ => report.push(
                Diagnostic::new(
                    Code::BadExitCode,
                    code.span,
                    "an exit code is a whole number from 0 to 255",
                )
                .help("write such a number, or remove it"),
            ),
        }
    }
    valid
}

/// Converts an example to JSON. The stage `examples` checks it with the code that reads calls.
pub(super) fn example_model(
    written: WrittenExample,
    report: &mut Vec<Diagnostic>,
) -> Option<ExampleModel> {
    let WrittenExample { request, args } = written;
    if request.value.trim().is_empty() {
        report.push(
            Diagnostic::new(Code::BadExample, request.span, "the request is empty")
                .help("write what a person would ask for"),
        );
    }
    let mut arguments = Map::new();
    let mut spans = Vec::new();
    for (key, value) in args {
        let YamlValue::Text(name) = key.value else {
            let message = "the names of arguments are text";
            report
                .push(Diagnostic::new(Code::WrongType, key.span, message).help("put it in quotes"));
            return None;
        };
        spans.push((name.clone(), value.span));
        arguments.insert(name, json(value, report)?);
    }
    Some(ExampleModel {
        span: request.span,
        request: request.value,
        arguments,
        spans,
    })
}

/// A YAML node as JSON. Reports scalars that YAML 1.1 and YAML 1.2 read differently.
fn json(node: Node, report: &mut Vec<Diagnostic>) -> Option<Value> {
    if let Some(reading) = node.yaml_1_1_reading {
        let message = format!("YAML 1.1 reads this as {reading}, YAML 1.2 does not");
        report.push(
            Diagnostic::new(Code::AmbiguousScalar, node.span, message)
                .help("put it in quotes if it is meant as text, or write it unambiguously"),
        );
        return None;
    }
    Some(match node.value {
        YamlValue::Null => Value::Null,
        YamlValue::Boolean(boolean) => boolean.into(),
        YamlValue::Integer(integer) => integer.into(),
        YamlValue::Float(float) => float.into(),
        YamlValue::Text(text) => text.into(),
        YamlValue::List(nodes) => {
            let values = nodes.into_iter().map(|node| json(node, report));
            values.collect::<Option<Vec<Value>>>()?.into()
        }
        YamlValue::Map(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let key = match key.value {
                    YamlValue::Text(text) => text,
                    other => {
                        let message = format!("a key must be text, found {}", other.kind());
                        report.push(
                            Diagnostic::new(Code::WrongType, key.span, message)
                                .help("put it in quotes"),
                        );
                        return None;
                    }
                };
                map.insert(key, json(value, report)?);
            }
            map.into()
        }
    })
}

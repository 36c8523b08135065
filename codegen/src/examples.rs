//! Checks the examples of tools with the code that reads calls, and adds them to the facts.

use bumpalo::Bump;
use climax_arguments::argv::Argv;
use climax_arguments::read_call;
use climax_arguments::reader::{ArgumentLimits, ArgumentReader, CallRefusal, ChoiceType};
use climax_arguments::value::ArgumentValue;
use climax_catalog::build;
use climax_catalog::facts::{ExampleFacts, ExampleValue, Facts, ToolFacts};
use climax_core::scalar::{ArgumentType, Number, Scalar, ValueShape};
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use serde_json::Value;

use crate::model::{
    ArgumentModel, ArgumentPlacement, ArgvSection, CliModel, ExampleModel, ToolModel, ValueForm,
};

/// Adds the examples of all tools to the facts. Reports those that a call would refuse.
pub fn add_examples<'f>(clis: &'f [CliModel], facts: &mut Facts<'f>, report: &mut Vec<Diagnostic>) {
    let tools = clis.iter().flat_map(|cli| &cli.tools);
    for (tool, tool_facts) in tools.zip(&mut facts.tools) {
        if tool.examples.is_empty() {
            continue;
        }
        let alone = ToolFacts {
            cli: 0,
            ..tool_facts.clone()
        };
        let tables = build(&Facts {
            clis: vec![facts.clis[tool_facts.cli].clone()],
            tools: vec![alone],
            has_policy: false,
        });
        for example in &tool.examples {
            match refusal(tool, &tables, example) {
                Some(problem) => report.push(problem),
                None => tool_facts.examples.push(example_facts(tool, example)),
            }
        }
    }
}

/// Why a call with the arguments of an example would be refused.
fn refusal(
    tool: &ToolModel,
    tables: &climax_catalog::Tables,
    example: &ExampleModel,
) -> Option<Diagnostic> {
    let row = tables.tools.rows().get(0);
    let arena = Bump::new();
    let limits = ArgumentLimits {
        rows: tables.limits.rows().slice(row.limits),
        text: &tables.text,
    };
    let choices = tool.arguments.iter().map(|argument| {
        let choices = argument.choices.as_ref()?.iter().map(Scalar::to_string);
        Some(choices.collect::<Vec<_>>().join("\n"))
    });
    let choices: Vec<Option<String>> = choices.collect();
    let is_argument = |name: &str| tool.arguments.iter().any(|argument| argument.name == name);
    let unknown = example.arguments.keys().filter(|name| !is_argument(name));
    let unknown = unknown.map(|name| format!("Unknown argument '{name}'"));
    let result = read_call(
        tables,
        &row,
        limits,
        &example.arguments,
        Argv::new("program", "", &arena),
        unknown.collect(),
        |reader, argv| {
            for (argument, choices) in tool.arguments.iter().zip(&choices) {
                read_argument(argument, choices.as_deref(), reader, argv);
            }
        },
    );
    let Err(CallRefusal::Arguments(lines) | CallRefusal::Policy(lines)) = result else {
        return None;
    };
    // The value that the first line is about, if it is about one.
    let first = lines.first().map_or("", String::as_str);
    let mut spans = example.spans.iter();
    let span = spans.find(|(name, _)| first.contains(&format!("'{name}'")));
    let span = span.map_or(example.span, |(_, span)| *span);
    Some(
        Diagnostic::new(
            Code::BadExample,
            span,
            "a call with these arguments is refused",
        )
        .help(lines.join("; ")),
    )
}

/// Does what the generated code does for one argument.
fn read_argument<'a>(
    argument: &'a ArgumentModel,
    choices: Option<&'a str>,
    reader: &mut ArgumentReader<'a>,
    argv: &mut Argv<'a>,
) {
    match argument.argument_type {
        ArgumentType::String => read_typed::<&str>(argument, choices, reader, argv),
        ArgumentType::Integer => read_typed::<i64>(argument, choices, reader, argv),
        ArgumentType::Number => read_typed::<Number>(argument, choices, reader, argv),
        ArgumentType::Boolean => read_typed::<bool>(argument, choices, reader, argv),
    }
}

fn read_typed<'a, T: ArgumentValue<'a>>(
    argument: &'a ArgumentModel,
    choices: Option<&'a str>,
    reader: &mut ArgumentReader<'a>,
    argv: &mut Argv<'a>,
) {
    let name = argument.name.as_str();
    let is_guarded = argument.placement == ArgumentPlacement::Positional
        && argument.section != ArgvSection::AfterSeparator
        && argument.argument_type == ArgumentType::String
        && argument.file_suffix.is_none()
        && choices.is_none();
    match (&argument.form, choices) {
        (ValueForm::Single, None) => {
            let value: Option<T> = if argument.required {
                Some(reader.required(name))
            } else {
                reader.optional(name)
            };
            if is_guarded {
                argv.positional(name, value);
            }
        }
        (ValueForm::Single, Some(choices)) => {
            let choice_type = match argument.argument_type {
                ArgumentType::String | ArgumentType::Boolean => ChoiceType::Text,
                ArgumentType::Integer => ChoiceType::Integer,
                ArgumentType::Number => ChoiceType::Number,
            };
            if argument.required {
                reader.required_choice(name, choice_type, choices);
            } else {
                reader.optional_choice(name, choice_type, choices);
            }
        }
        (ValueForm::List { separator }, _) => {
            let items: &'a [T] = if argument.required {
                reader.required_list(name, choices)
            } else {
                reader.list(name, choices)
            };
            match separator {
                Some(separator) => {
                    let joined = argv.joined(name, separator, items);
                    if is_guarded {
                        argv.positional(name, joined);
                    }
                }
                None if is_guarded => argv.positional(name, items),
                None => {}
            }
        }
        (ValueForm::Map { key_value }, _) => {
            let entries = if argument.required {
                reader.required_map(name, key_value)
            } else {
                reader.map(name, key_value)
            };
            if is_guarded {
                argv.positional(name, entries);
            }
        }
    }
}

/// An accepted example as typed values.
fn example_facts<'f>(tool: &ToolModel, example: &'f ExampleModel) -> ExampleFacts<'f> {
    let mut values = Vec::new();
    for (number, argument) in tool.arguments.iter().enumerate() {
        let Some(given) = example.arguments.get(&argument.name) else {
            continue;
        };
        let mut push = |key: Option<&'f str>, value: &Value| {
            values.push(ExampleValue {
                argument: number,
                key: key.map(Into::into),
                value: scalar(argument.argument_type, value),
            });
        };
        match (argument.form.shape(), given) {
            (ValueShape::List, Value::Array(items)) => {
                for item in items {
                    push(None, item);
                }
            }
            (ValueShape::Map, Value::Object(entries)) => {
                for (key, value) in entries {
                    push(Some(key), value);
                }
            }
            (_, Value::Null) => {}
            (_, value) => push(None, value),
        }
    }
    ExampleFacts {
        request: example.request.as_str().into(),
        values,
    }
}

/// A value that the reader accepted, as a scalar.
fn scalar(argument_type: ArgumentType, value: &Value) -> Scalar<'static> {
    let arena = Bump::new();
    let scalar = match argument_type {
        ArgumentType::String => {
            <&str>::coerce(value, &arena).map(|text| Scalar::Text(text.to_owned().into()))
        }
        ArgumentType::Integer => i64::coerce(value, &arena).map(Scalar::Integer),
        ArgumentType::Number => Number::coerce(value, &arena).map(Scalar::Number),
        ArgumentType::Boolean => bool::coerce(value, &arena).map(Scalar::Boolean),
    };
    scalar.expect("the reader accepted the value")
}

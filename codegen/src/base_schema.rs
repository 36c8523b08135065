//! Reports what a config uses that CLImax for Python does not have, for teams that use both.

use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_input::source::Source;
use climax_input::yaml::{self, Node, YamlValue};

/// The added fields of a config.
const CONFIG_FIELDS: [&str; 1] = ["pass_env"];

/// The added fields of a tool.
const TOOL_FIELDS: [&str; 7] = [
    "exclusive",
    "at_least_one",
    "requires",
    "ok_exit_codes",
    "examples",
    "keywords",
    "output",
];

/// The added fields of an argument.
const ARGUMENT_FIELDS: [&str; 14] = [
    "items",
    "min_items",
    "max_items",
    "separator",
    "key_value",
    "keys",
    "joined",
    "place",
    "after_separator",
    "as_file",
    "path",
    "pattern",
    "min",
    "max",
];

/// An error for each added field or value in the configs.
#[must_use]
pub fn added_fields(configs: &[Source]) -> Vec<Diagnostic> {
    let mut report = Vec::new();
    for (number, source) in configs.iter().enumerate() {
        // A syntax error is reported by `compile`.
        if let Ok(config) = yaml::parse(number, source) {
            check_config(&config, &mut report);
        }
    }
    report
}

fn check_config(config: &Node, report: &mut Vec<Diagnostic>) {
    check_fields(config, "a config", &CONFIG_FIELDS, report);
    for argument in items(config, "global_args") {
        check_argument(argument, report);
    }
    for tool in items(config, "tools") {
        check_fields(tool, "a tool", &TOOL_FIELDS, report);
        for argument in items(tool, "args") {
            check_argument(argument, report);
        }
    }
}

fn check_argument(argument: &Node, report: &mut Vec<Diagnostic>) {
    check_fields(argument, "an argument", &ARGUMENT_FIELDS, report);
    for (key, value) in entries(argument) {
        match (&key.value, &value.value) {
            (YamlValue::Text(key), YamlValue::Text(name))
                if key == "type" && matches!(name.as_str(), "array" | "object") =>
            {
                report.push(added(value, &format!("the type `{name}`")));
            }
            (YamlValue::Text(key), YamlValue::Map(_)) if key == "flag" => {
                report.push(added(value, "a flag for each value of a boolean"));
            }
            _ => {}
        }
    }
}

fn check_fields(node: &Node, subject: &str, added_fields: &[&str], report: &mut Vec<Diagnostic>) {
    for (key, _) in entries(node) {
        if let YamlValue::Text(name) = &key.value
            && added_fields.contains(&name.as_str())
        {
            report.push(added(key, &format!("the field `{name}` of {subject}")));
        }
    }
}

fn added(node: &Node, what: &str) -> Diagnostic {
    let message = format!("CLImax for Python does not have {what}");
    Diagnostic::new(Code::AddedField, node.span, message)
        .help("remove it, or check without `--base-schema`")
}

fn entries(node: &Node) -> &[(Node, Node)] {
    match &node.value {
        YamlValue::Map(entries) => entries,
        _ => &[],
    }
}

/// The elements of the list in a field.
fn items<'n>(node: &'n Node, field: &str) -> &'n [Node] {
    let is_field =
        |(key, _): &&(Node, Node)| matches!(&key.value, YamlValue::Text(name) if name == field);
    match entries(node)
        .iter()
        .find(is_field)
        .map(|(_, value)| &value.value)
    {
        Some(YamlValue::List(items)) => items,
        _ => &[],
    }
}

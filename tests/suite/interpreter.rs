//! Interprets configs: turns a tool as its config defines it and the JSON arguments of a call into what the call
//! runs, or into the text of the refusal. It follows the documented rules, and shares no code with the
//! crates that read and write arguments.

mod definition;
mod values;
mod words;

use climax_runtime::internals::PlannedCall;
use serde_json::{Map, Value, json};

use crate::random_tools::{DASHED, is_match};
pub(crate) use definition::{ArgumentDefinition, ConfigDefinition, ToolDefinition};
use values::{TypedValue, choices, convert, defaults, python_float, shorten};
use words::{expand, flag_words, global_words, is_option, switch_words};

/// The sections of a command line, in order.
const SECTIONS: [&str; 5] = [
    "before_command",
    "positionals",
    "flags",
    "after_flags",
    "after_separator",
];

/// What a call runs, with paths of files relative to their directory, or why it is refused.
pub(crate) fn interpret(
    config: &ConfigDefinition,
    tool: &ToolDefinition,
    arguments: &Map<String, Value>,
) -> Result<PlannedCall, String> {
    let definitions = tool.args.as_slice();
    let mut call = Call::default();
    call.resolve_names(definitions, arguments);
    let json_values = call.values.clone();
    let values: Vec<Vec<TypedValue>> = definitions
        .iter()
        .zip(&json_values)
        .map(|(definition, value)| call.read(definition, value))
        .collect();
    let mut sections: [Vec<String>; 5] = Default::default();
    for (section, words) in SECTIONS.iter().zip(&mut sections) {
        for (definition, values) in definitions.iter().zip(&values) {
            if definition.section() == *section {
                words.extend(call.write(definition, values));
            }
        }
    }
    call.check_combinations(definitions, tool);
    let refuses_unknown = matches!(tool.risk.as_deref(), Some("write" | "destructive"));
    call.refuse_names(definitions, refuses_unknown);
    let errors = [call.missing, call.invalid, call.other].concat();
    if !errors.is_empty() {
        let errors = errors.join("\n  - ");
        return Err(format!("Argument validation failed:\n  - {errors}"));
    }
    let [
        before_command,
        positionals,
        flags,
        after_flags,
        after_separator,
    ] = sections;
    let base = expand(&config.command).0;
    let split = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let separator = (!after_separator.is_empty()).then(|| "--".to_owned());
    let words = [
        split(&base),
        before_command,
        split(&tool.command),
        positionals,
        flags,
        after_flags,
        config.global_args.iter().flat_map(global_words).collect(),
        separator.into_iter().collect(),
        after_separator,
    ];
    Ok(PlannedCall {
        words: words.concat(),
        directory: call.directory.or_else(|| config.working_dir.clone()),
        stdin: call.stdin,
        files: call.files,
    })
}

/// A call while it is interpreted.
#[derive(Default)]
struct Call {
    /// The JSON value of each argument that the tool defines.
    values: Vec<Value>,
    duplicates: Vec<String>,
    unknown: Vec<String>,
    missing: Vec<String>,
    invalid: Vec<String>,
    other: Vec<String>,
    directory: Option<String>,
    stdin: Option<String>,
    files: Vec<(String, String)>,
}

impl Call {
    /// Finds the argument for each key of the call. Text of a list or map that holds nested JSON is read.
    fn resolve_names(
        &mut self,
        definitions: &[ArgumentDefinition],
        arguments: &Map<String, Value>,
    ) {
        self.values = vec![Value::Null; definitions.len()];
        let mut used_keys: Vec<Option<&str>> = vec![None; definitions.len()];
        let mut broken_json: Vec<Option<String>> = vec![None; definitions.len()];
        for (key, value) in arguments {
            let with_name = |is_name: &dyn Fn(&str) -> bool| -> Vec<usize> {
                let numbers = 0..definitions.len();
                numbers
                    .filter(|number| is_name(&definitions[*number].name))
                    .collect()
            };
            let mut numbers = with_name(&|name| name == key);
            if numbers.is_empty() {
                numbers = with_name(&|name| is_spelling(key, name));
            }
            let [number] = numbers[..] else {
                self.unknown.push(key.clone());
                continue;
            };
            let name = definitions[number].name.as_str();
            let exact = (name != key && arguments.contains_key(name)).then_some(name);
            if let Some(first) = exact.or(used_keys[number]) {
                let line = format!("Argument '{name}' is given twice: as '{first}' and '{key}'");
                self.duplicates.push(line);
                continue;
            }
            used_keys[number] = Some(key);
            let (first, json_type) = match definitions[number].argument_type() {
                "array" => ('[', "list"),
                "object" => ('{', "object"),
                _ => ('\0', ""),
            };
            let json = value
                .as_str()
                .filter(|text| text.trim_start().starts_with(first));
            let parsed = json.and_then(|text| serde_json::from_str(text).ok());
            if let (Some(text), None) = (json, &parsed)
                && text.trim_start()[1..].trim_start().starts_with('"')
            {
                broken_json[number] = Some(format!(
                    "Argument '{name}': '{text}' is not a valid JSON {json_type}"
                ));
            }
            self.values[number] = parsed.unwrap_or(value.clone());
        }
        self.duplicates.extend(broken_json.into_iter().flatten());
    }

    /// The typed values of an argument. Records what is wrong with them.
    fn read(&mut self, definition: &ArgumentDefinition, value: &Value) -> Vec<TypedValue> {
        let name = definition.name.as_str();
        let is_list = definition.argument_type() == "array";
        let is_map = definition.argument_type() == "object";
        let is_empty_list = is_list && value.as_array().is_some_and(Vec::is_empty);
        let is_empty_map = is_map && value.as_object().is_some_and(Map::is_empty);
        if definition.required && (value.is_null() || is_empty_list || is_empty_map) {
            let line = format!("Missing required argument '{name}'");
            self.missing.push(line);
            return Vec::new();
        }
        if value.is_null() || is_empty_list {
            return defaults(definition);
        }
        match value {
            Value::Object(entries) if is_map => self.read_map(definition, entries),
            other if is_map => {
                self.refuse_conversion(name, other, "object");
                Vec::new()
            }
            Value::Array(items) if is_list => {
                self.check_count(definition, items.len());
                let items = items.iter();
                items
                    .filter_map(|item| self.read_value(definition, item))
                    .collect()
            }
            single => {
                if is_list {
                    self.check_count(definition, 1);
                }
                let value = self.read_value(definition, single);
                value.into_iter().collect()
            }
        }
    }

    fn read_value(&mut self, definition: &ArgumentDefinition, value: &Value) -> Option<TypedValue> {
        let name = definition.name.as_str();
        let value_type = definition.value_type();
        let Some(mut converted) = convert(value, value_type) else {
            self.refuse_conversion(name, value, value_type);
            return None;
        };
        if let Some(choices) = choices(definition) {
            let Some(choice) = choices.iter().find(|choice| choice.equals(&converted)) else {
                let choices: Vec<String> = choices.iter().map(TypedValue::text).collect();
                let choices = choices.join(", ");
                let line = format!("Argument '{name}' must be one of: {choices}");
                self.invalid.push(line);
                return None;
            };
            converted = choice.clone();
        }
        self.check_pattern(
            name,
            "value",
            definition.pattern.as_deref(),
            &converted.text(),
        );
        if let Some(number) = converted.number() {
            let bounds = [definition.min, definition.max];
            self.check_bounds(
                name,
                "value",
                (number, &converted.text()),
                bounds,
                python_float,
            );
        }
        Some(converted)
    }

    /// The entries of a map, each with its key.
    fn read_map(
        &mut self,
        definition: &ArgumentDefinition,
        entries: &Map<String, Value>,
    ) -> Vec<TypedValue> {
        let name = definition.name.as_str();
        let sign = definition.key_value.as_deref().unwrap_or("=");
        let mut words = Vec::new();
        for (key, value) in entries {
            if key.is_empty() || key.contains(sign) {
                let key = shorten(key);
                self.invalid.push(format!(
                    "Argument '{name}': key '{key}' must not be empty or contain '{sign}'"
                ));
                continue;
            }
            self.check_pattern(name, "key", definition.keys.as_deref(), key);
            let Some(value) = convert(value, "string") else {
                self.refuse_conversion(name, value, "string");
                continue;
            };
            let entry = format!("{key}{sign}{}", value.text());
            self.check_pattern(name, "value", definition.pattern.as_deref(), &entry);
            words.push(TypedValue::Text(entry));
        }
        words
    }

    fn check_count(&mut self, definition: &ArgumentDefinition, count: usize) {
        let count = count.to_string();
        let number = count.parse().expect("a number");
        let bounds = [definition.min_items, definition.max_items];
        let name = definition.name.as_str();
        let format = |bound: f64| bound.to_string();
        self.check_bounds(name, "number of items", (number, &count), bounds, format);
    }

    fn check_bounds(
        &mut self,
        name: &str,
        subject: &str,
        (number, number_text): (f64, &str),
        [min, max]: [Option<f64>; 2],
        format: impl Fn(f64) -> String,
    ) {
        if let Some(min) = min.filter(|min| number < *min) {
            let min = format(min);
            self.invalid.push(format!(
                "Argument '{name}': {subject} {number_text} is below minimum {min}"
            ));
        }
        if let Some(max) = max.filter(|max| number > *max) {
            let max = format(max);
            self.invalid.push(format!(
                "Argument '{name}': {subject} {number_text} exceeds maximum {max}"
            ));
        }
    }

    fn check_pattern(&mut self, name: &str, subject: &str, pattern: Option<&str>, value: &str) {
        if let Some(pattern) = pattern.filter(|pattern| !is_match(pattern, value)) {
            let value = shorten(value);
            self.invalid.push(format!(
                "Argument '{name}': {subject} '{value}' does not match pattern '{pattern}'"
            ));
        }
    }

    fn refuse_conversion(&mut self, name: &str, value: &Value, type_name: &str) {
        let shown = match value {
            Value::String(text) => shorten(text),
            other => shorten(&other.to_string()),
        };
        let help = if value.is_f64() && type_name == "string" {
            " exactly, because it is beyond 64 bits; send it as a string"
        } else {
            ""
        };
        self.invalid.push(format!(
            "Argument '{name}': cannot convert '{shown}' to {type_name}{help}"
        ));
    }

    /// The words for an argument. Sets the directory, standard input and files.
    fn write(&mut self, definition: &ArgumentDefinition, values: &[TypedValue]) -> Vec<String> {
        let name = definition.name.as_str();
        let first = values.first().map(TypedValue::text);
        if definition.cwd {
            self.directory = first.filter(|directory| !directory.is_empty());
            return Vec::new();
        }
        if definition.stdin {
            self.stdin = first;
            return Vec::new();
        }
        let is_positional = definition.positional;
        let is_separated = definition.after_separator;
        if let (Some(TypedValue::Boolean(boolean)), false) =
            (values.first(), is_positional || is_separated)
        {
            return switch_words(definition, *boolean);
        }
        let mut is_text = matches!(values.first(), Some(TypedValue::Text(_)));
        let mut words: Vec<String> = values.iter().map(TypedValue::text).collect();
        if let (Some(separator), false) = (definition.separator.as_deref(), words.is_empty()) {
            for item in words.iter().filter(|item| item.contains(separator)) {
                let item = shorten(item);
                self.other.push(format!(
                    "Argument '{name}': item '{item}' must not contain the separator '{separator}'"
                ));
            }
            words = vec![words.join(separator)];
            is_text = true;
        }
        if definition.as_file.is_some()
            && let Some(text) = words.pop()
        {
            let is_safe = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
            let stem: String = name.chars().filter(is_safe).collect();
            let suffix = definition
                .as_file
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or_default();
            let path = format!("{stem}-{}{suffix}", self.files.len() + 1);
            self.files.push((path.clone(), text));
            words = vec![path];
        }
        if is_separated {
            words
        } else if is_positional {
            let is_free = definition.value_type() == "string" && definition.choices.is_none();
            let is_guarded = is_free && definition.pattern.as_deref() != Some(DASHED);
            words.retain(|word| {
                let is_refused = is_guarded && is_option(word);
                if is_refused {
                    let word = shorten(word);
                    self.other.push(format!(
                        "Argument '{name}': value '{word}' would be read as an option"
                    ));
                }
                !is_refused
            });
            words
        } else {
            let words = words.into_iter();
            words
                .flat_map(|word| flag_words(definition, word, is_text))
                .collect()
        }
    }

    fn check_combinations(&mut self, definitions: &[ArgumentDefinition], tool: &ToolDefinition) {
        let names_where = |group: &[String], is_wanted: bool| -> Vec<String> {
            let members = group.iter().filter(|name| {
                let mut arguments = definitions.iter().zip(&self.values);
                let argument = arguments.find(|(definition, _)| definition.name == **name);
                let (definition, value) = argument.expect("it exists");
                is_given(definition, value) == is_wanted
            });
            members.cloned().collect()
        };
        let mut lines = Vec::new();
        for group in &tool.exclusive {
            let given = names_where(group, true);
            if given.len() > 1 {
                let given = given.join("', '");
                lines.push(format!(
                    "Arguments '{given}' exclude each other: give only one"
                ));
            }
        }
        for group in &tool.at_least_one {
            if names_where(group, true).is_empty() {
                let group = group.join("', '");
                lines.push(format!(
                    "At least one of the arguments '{group}' is required"
                ));
            }
        }
        for (name, required) in &tool.requires {
            let required = required.as_array().into_iter().flatten();
            let required = required.filter_map(Value::as_str).map(str::to_owned);
            let absent = names_where(&required.collect::<Vec<_>>(), false);
            let is_given = !names_where(std::slice::from_ref(name), true).is_empty();
            if is_given && !absent.is_empty() {
                let absent = absent.join("', '");
                lines.push(format!("Argument '{name}' requires '{absent}'"));
            }
        }
        self.other.append(&mut lines);
    }

    fn refuse_names(&mut self, definitions: &[ArgumentDefinition], refuses_unknown: bool) {
        self.other.append(&mut self.duplicates);
        if !refuses_unknown {
            return;
        }
        let names: Vec<&str> = definitions
            .iter()
            .map(|definition| definition.name.as_str())
            .collect();
        for (definition, value) in definitions.iter().zip(&self.values) {
            let name = &definition.name;
            let is_empty = match (definition.argument_type(), value) {
                ("array", Value::Array(items)) if items.contains(&json!("")) => {
                    let line = format!("Argument '{name}' has an empty value");
                    self.other.push(line);
                    false
                }
                ("array", Value::Array(items)) => items.is_empty(),
                ("object", Value::Object(entries)) => entries.is_empty(),
                (_, Value::String(text)) => text.is_empty() && definition.cwd,
                _ => false,
            };
            if is_empty && !definition.required {
                let line = format!("Argument '{name}' is empty: it needs a value");
                self.other.push(line);
            }
        }
        for (definition, value) in definitions.iter().zip(&self.values) {
            let (name, text) = (&definition.name, value.as_str().unwrap_or_default());
            if definition.argument_type() == "array" && is_joined(text) {
                let values: Vec<&str> = text.split(',').map(str::trim).collect();
                let (values, one) = (json!(values), json!([text]));
                let line =
                    format!("Argument '{name}': pass a list: {values}, or {one} for one value");
                self.other.push(line);
            }
        }
        let paths = definitions.iter().zip(&self.values);
        let paths = paths.filter(|(definition, _)| definition.path && definition.after_separator);
        for (definition, value) in paths {
            let name = &definition.name;
            let values = match value {
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            let options = values.iter().filter_map(Value::as_str);
            let options = options.filter(|text| text.starts_with('-') && *text != "-");
            self.other.extend(options.map(|text| {
                format!(
                    "Argument '{name}': '{text}' looks like an option; write './{text}' for a file"
                )
            }));
        }
        let expected = match names[..] {
            [] => "this tool takes no arguments".to_owned(),
            _ => format!("expected one of {}", names.join(", ")),
        };
        for key in &self.unknown {
            self.other
                .push(format!("Unknown argument '{key}': {expected}"));
        }
    }
}

/// Whether a text joins several values with commas. The random texts join no paths with spaces.
fn is_joined(text: &str) -> bool {
    let can_be_in_a_value = |byte: u8| !byte.is_ascii_whitespace() && !b"[]{}\"'".contains(&byte);
    let is_value = |part: &str| {
        let is_text = !part.is_empty() && !part.starts_with('-');
        is_text && part.bytes().all(can_be_in_a_value)
    };
    text.contains(',') && text.split(',').map(str::trim).all(is_value)
}

/// Whether a call gives an argument a value. `null`, empty lists and maps, and what a boolean reads as `false` do
/// not count.
fn is_given(definition: &ArgumentDefinition, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        other if definition.argument_type() == "boolean" => {
            convert(other, "boolean") != Some(TypedValue::Boolean(false))
        }
        _ => true,
    }
}

/// Whether a key differs from a name only in case, in `-` for `_`, or by camel case.
fn is_spelling(key: &str, name: &str) -> bool {
    let fold = |text: &str| text.to_lowercase().replace('-', "_");
    let fold_camel_case = |text: &str| {
        let mut folded = String::new();
        for character in text.chars() {
            if character.is_uppercase() && folded.ends_with(char::is_lowercase) {
                folded.push('_');
            }
            folded.push(character);
        }
        fold(&folded)
    };
    fold(key) == fold(name) || fold_camel_case(key) == fold_camel_case(name)
}

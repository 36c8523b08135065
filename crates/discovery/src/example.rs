//! Makes example calls of a tool from its arguments.

use climax_catalog::facts::{
    ArgumentFacts, CombinationKind, ExampleValue, PlacementKind, ToolFacts,
};
use climax_core::scalar::{self, ArgumentType, Number, Scalar, ValueShape};
use climax_policy::limit::LimitTarget;

/// The number of optional arguments in the second example.
const MAX_OPTIONAL_ARGUMENTS: usize = 2;

/// Sample texts by a word of the argument's name, sorted.
const SAMPLE_TEXTS: [(&str, &str); 68] = [
    ("address", "127.0.0.1"),
    ("author", "alice"),
    ("base", "main"),
    ("body", "Some text"),
    ("branch", "main"),
    ("comment", "Some text"),
    ("commit", "HEAD"),
    ("content", "Some text"),
    ("cwd", "."),
    ("data", "Some text"),
    ("date", "2026-01-31"),
    ("description", "Some text"),
    ("dest", "copy.txt"),
    ("destination", "copy.txt"),
    ("dir", "."),
    ("directory", "."),
    ("domain", "example.com"),
    ("email", "alice@example.com"),
    ("expression", "."),
    ("extension", "txt"),
    ("file", "notes.txt"),
    ("filename", "notes.txt"),
    ("filepath", "notes.txt"),
    ("filter", "."),
    ("folder", "."),
    ("format", "json"),
    ("group", "staff"),
    ("head", "main"),
    ("host", "example.com"),
    ("hostname", "example.com"),
    ("id", "1"),
    ("image", "example:latest"),
    ("input", "Some text"),
    ("ip", "127.0.0.1"),
    ("json", "{}"),
    ("keyword", "example"),
    ("keywords", "example"),
    ("language", "en"),
    ("message", "Fix a typo"),
    ("mode", "644"),
    ("number", "1"),
    ("output", "out.txt"),
    ("owner", "alice"),
    ("password", "secret"),
    ("path", "notes.txt"),
    ("paths", "notes.txt"),
    ("pattern", "TODO"),
    ("port", "8080"),
    ("query", "example"),
    ("ref", "HEAD"),
    ("regex", "TODO"),
    ("remote", "origin"),
    ("repo", "owner/name"),
    ("repository", "owner/name"),
    ("rev", "HEAD"),
    ("revision", "HEAD"),
    ("since", "2026-01-01"),
    ("source", "notes.txt"),
    ("stdin", "Some text"),
    ("tag", "v1.0.0"),
    ("text", "Some text"),
    ("time", "12:00"),
    ("title", "A short title"),
    ("until", "2026-01-31"),
    ("uri", "https://example.com"),
    ("url", "https://example.com"),
    ("user", "alice"),
    ("version", "1.0.0"),
];

/// Sample numbers by a word of the argument's name, sorted. Other arguments get 1.
const SAMPLE_NUMBERS: [(&str, i64); 13] = [
    ("count", 10),
    ("days", 7),
    ("depth", 2),
    ("height", 100),
    ("limit", 10),
    ("lines", 10),
    ("max", 10),
    ("port", 8080),
    ("seconds", 30),
    ("size", 10),
    ("timeout", 30),
    ("width", 100),
    ("year", 2026),
];

/// The arguments of an example call.
pub type Example<'f> = Vec<ExampleValue<'f>>;

/// The examples that the config gives. If it gives none, makes a call with the required arguments only (or with
/// standard input, if none is required), and one with optional arguments, if there are any. Makes none if it finds
/// no value that limits allow for a required argument.
#[must_use]
pub fn examples<'f>(tool: &ToolFacts<'f>) -> Vec<Example<'f>> {
    if !tool.examples.is_empty() {
        let examples = tool.examples.iter();
        return examples.map(|example| example.values.clone()).collect();
    }
    let has_required = tool.required().next().is_some();
    let needed = needed_arguments(tool);
    let is_minimal = |number: usize, argument: &ArgumentFacts<'_>| {
        argument.required
            || needed.contains(&number)
            || !has_required && argument.placement == PlacementKind::Stdin
    };
    let arguments = || tool.arguments.iter().enumerate();
    let minimal: Option<Example<'f>> = arguments()
        .filter(|(number, argument)| is_minimal(*number, argument))
        .map(|(number, argument)| sample(number, argument))
        .collect();
    let Some(minimal) = minimal else {
        return Vec::new();
    };
    // The working directory says nothing about the tool. Arguments under rules about combinations may not go
    // together.
    let is_optional = |number: usize, argument: &ArgumentFacts<'_>| {
        !is_minimal(number, argument)
            && argument.placement != PlacementKind::Directory
            && !is_in_a_combination(tool, number)
    };
    let optional: Example<'f> = arguments()
        .filter(|(number, argument)| is_optional(*number, argument))
        .filter_map(|(number, argument)| sample(number, argument))
        .take(MAX_OPTIONAL_ARGUMENTS)
        .collect();
    let mut examples = vec![minimal];
    if !optional.is_empty() {
        let mut longer = [examples[0].clone(), optional].concat();
        longer.sort_unstable_by_key(|value| value.argument);
        examples.push(longer);
    }
    examples
}

/// The first argument of each group of which a call needs at least one.
fn needed_arguments(tool: &ToolFacts<'_>) -> Vec<usize> {
    let rules = tool.combinations.iter();
    let rules = rules.filter(|rule| rule.kind == CombinationKind::AtLeastOne);
    let is_required = |number: &u32| tool.arguments[*number as usize].required;
    let unmet = rules.filter(|rule| !rule.arguments.iter().any(is_required));
    let first = unmet.filter_map(|rule| rule.arguments.first());
    first.map(|number| *number as usize).collect()
}

fn is_in_a_combination(tool: &ToolFacts<'_>, argument: usize) -> bool {
    let mut numbers = tool.combinations.iter().flat_map(|rule| &rule.arguments);
    numbers.any(|number| *number as usize == argument)
}

/// A sample value of an argument. A list gets one item, and a map one entry.
fn sample<'f>(number: usize, argument: &ArgumentFacts<'f>) -> Option<ExampleValue<'f>> {
    let is_map = argument.shape == ValueShape::Map;
    let is_key = |key: &&str| {
        let mut limits = argument.limits_of(LimitTarget::Key);
        limits.all(|limit| limit.borrowed().allows(&Scalar::Text((*key).into())))
    };
    let keys = ["name", "NAME", "key", "app", "a", "A"];
    let key = is_map.then(|| keys.into_iter().find(is_key));
    Some(ExampleValue {
        argument: number,
        key: match key {
            Some(key) => Some(key?.into()),
            None => None,
        },
        value: sample_value(argument)?,
    })
}

/// The most specific value that the argument and its limits allow.
fn sample_value<'f>(argument: &ArgumentFacts<'f>) -> Option<Scalar<'f>> {
    let default = argument.default.iter();
    if !argument.choices.is_empty() {
        // A choice other than the default shows more.
        let is_default = |value: &&Scalar<'f>| argument.default.first() == Some(*value);
        let choices = argument.choices.iter();
        let others = choices.clone().filter(|choice| !is_default(choice));
        let mut all = others.chain(choices.filter(is_default));
        return all.find(|value| argument.allows(value)).cloned();
    }
    let is_allowed = |value: &Scalar<'f>| argument.allows(value);
    match argument.kind {
        ArgumentType::Boolean => [true, false]
            .map(Scalar::Boolean)
            .into_iter()
            .find(is_allowed),
        ArgumentType::Integer | ArgumentType::Number => {
            let sample =
                Number::Integer(look_up_by_name(argument.name, &SAMPLE_NUMBERS).unwrap_or(1));
            let limits = argument.limits_of(LimitTarget::Value);
            let bounds = limits.flat_map(|limit| [limit.min, limit.max]);
            let numbers = [sample].into_iter().chain(bounds.flatten());
            let numbers = numbers.filter_map(|number| scalar_at_least(argument.kind, number));
            numbers.chain(default.cloned()).find(is_allowed)
        }
        ArgumentType::String => {
            let text = |text: &'f str| Scalar::Text(text.into());
            let documented = documented_example(argument.description).map(text);
            let path = argument.is_path.then_some("notes.txt");
            let by_name = look_up_by_name(argument.name, &SAMPLE_TEXTS).or(path);
            let by_name = by_name.map(text);
            let my_name = || format!("my-{}", argument.name.replace(['_', ' '], "-"));
            let my_name = || Scalar::Text(my_name().into());
            let samples = SAMPLE_TEXTS.iter().map(|(_, value)| text(value));
            let short = ["example", "a", "A", "1"].into_iter().map(text);
            let mut values = default.cloned().chain(documented).chain(by_name);
            let others = || std::iter::once_with(my_name).chain(samples).chain(short);
            values
                .find(is_allowed)
                .or_else(|| others().find(is_allowed))
        }
    }
}

/// The example value in a description: `name=web` in "e.g. name=web, ...".
fn documented_example(description: &str) -> Option<&str> {
    let (_, example) = ["e.g. ", "for example ", "such as "]
        .iter()
        .find_map(|phrase| description.split_once(phrase))?;
    let is_quoted = example.starts_with(['\'', '"', '`']);
    let terminators: &[&str] = if is_quoted {
        &["'", "\"", "`"]
    } else {
        &[", ", " or ", " and ", " for ", "; ", ". ", ")"]
    };
    let example = &example[usize::from(is_quoted)..];
    let end = terminators
        .iter()
        .filter_map(|terminator| example.find(terminator))
        .min();
    let example = &example[..end.unwrap_or(example.len())];
    let example = example.trim().trim_end_matches(['.', ';', ',']);
    // Longer text is more likely a sentence, and a call refuses values that look like options.
    let is_value = !example.is_empty() && example.len() <= 40 && !example.starts_with('-');
    is_value.then_some(example)
}

/// A number as a value of a type. For an integer type, it is rounded up.
fn scalar_at_least<'f>(kind: ArgumentType, number: Number) -> Option<Scalar<'f>> {
    match number {
        _ if kind == ArgumentType::Number => Some(Scalar::Number(number)),
        Number::Integer(integer) => Some(Scalar::Integer(integer)),
        Number::Float(float) => scalar::integer_from_float(float.ceil()).map(Scalar::Integer),
    }
}

/// The entry for the last word of a name that has an entry. The last word says most about the kind of value.
fn look_up_by_name<T: Copy>(name: &str, table: &[(&str, T)]) -> Option<T> {
    let name = name.to_lowercase();
    let mut words = name.rsplit(|character: char| !character.is_alphanumeric());
    words.find_map(|word| {
        let row = table.binary_search_by_key(&word, |(word, _)| word).ok()?;
        Some(table[row].1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_facts::{argument, tool};
    use climax_catalog::facts::{LimitFacts, PatternFacts};

    /// The examples of a tool, each as `name=value ...`.
    fn example_texts(tool: &ToolFacts<'_>) -> Vec<String> {
        let assignment = |value: &ExampleValue<'_>| {
            let name = tool.arguments[value.argument].name;
            format!("{name}={}", value.value.json())
        };
        let text =
            |example: &Example<'_>| example.iter().map(assignment).collect::<Vec<_>>().join(" ");
        examples(tool).iter().map(text).collect()
    }

    fn text(text: &str) -> Scalar<'_> {
        Scalar::Text(text.into())
    }

    #[test]
    fn sample_tables_are_sorted() {
        assert!(SAMPLE_TEXTS.is_sorted_by_key(|row| row.0));
        assert!(SAMPLE_NUMBERS.is_sorted_by_key(|row| row.0));
    }

    #[test]
    fn values_come_from_names_types_enums_and_defaults() {
        let mut format = argument("format", ArgumentType::String);
        format.choices = vec![text("text"), text("xml")];
        format.default = vec![text("text")];
        let mut id = argument("container_id", ArgumentType::String);
        id.required = true;
        let container = argument("container", ArgumentType::String);
        let mut branch = argument("source_branch", ArgumentType::String);
        branch.default = vec![text("trunk")];
        assert_eq!(
            example_texts(&tool(vec![format, id, container])),
            [
                r#"container_id="1""#,
                r#"format="xml" container_id="1" container="my-container""#
            ]
        );
        let number = argument("max_lines", ArgumentType::Integer);
        assert_eq!(
            example_texts(&tool(vec![branch, number])),
            ["", r#"source_branch="trunk" max_lines=10"#]
        );
    }

    #[test]
    fn the_example_of_a_description_is_found() {
        for (description, expected) in [
            (
                "Condition as key=value, e.g. name=web, label=a or x=y.",
                Some("name=web"),
            ),
            ("Only the last while, e.g. 10m or 2h.", Some("10m")),
            (
                "Labels, e.g. 'tier in (front,back)'.",
                Some("tier in (front,back)"),
            ),
            (
                "Pod, or type/name such as deployment/web for one",
                Some("deployment/web"),
            ),
            ("An option (e.g. --all)", None),
            (
                "Platform of the image, e.g. linux/arm64.",
                Some("linux/arm64"),
            ),
            ("Nothing", None),
        ] {
            assert_eq!(documented_example(description), expected, "{description}");
        }
    }

    #[test]
    fn a_tool_without_arguments_or_with_only_a_directory_has_one_example() {
        let mut directory = argument("cwd", ArgumentType::String);
        directory.placement = PlacementKind::Directory;
        assert_eq!(example_texts(&tool(vec![])), [""]);
        assert_eq!(example_texts(&tool(vec![directory])), [""]);
    }

    #[test]
    fn examples_only_have_values_that_policies_allow() {
        let pattern = |text| LimitFacts {
            pattern: Some(PatternFacts { text, schema: None }),
            ..LimitFacts::default()
        };
        let mut count = argument("count", ArgumentType::Integer);
        count.required = true;
        count.limits = vec![LimitFacts {
            min: Some(Number::Integer(20)),
            max: Some(Number::Integer(30)),
            ..LimitFacts::default()
        }];
        let mut branch = argument("branch", ArgumentType::String);
        branch.limits = vec![pattern("HEAD|x+")];
        let with_both = tool(vec![count, branch]);
        assert_eq!(
            example_texts(&with_both),
            ["count=20", r#"count=20 branch="HEAD""#]
        );
        let mut unusual = argument("unusual", ArgumentType::String);
        unusual.limits = vec![pattern("qqq+")];
        assert_eq!(example_texts(&tool(vec![unusual])), [""]);
        let mut unusual = argument("unusual", ArgumentType::String);
        unusual.limits = vec![pattern("qqq+")];
        unusual.required = true;
        assert_eq!(example_texts(&tool(vec![unusual])), [""; 0]);
    }
}

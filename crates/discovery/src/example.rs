//! Makes calls that a tool takes, with values that its arguments could have.

use climax_catalog::facts::{Argument, PlacementKind, Tool};
use climax_core::scalar::{self, ArgumentType, Number, Scalar};

/// How many arguments that may be left out the second example has.
const MOST_OPTIONAL: usize = 2;

/// What text an argument could have, by a word of its name.
const TEXTS: [(&str, &str); 68] = [
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

/// What number an argument could have, by a word of its name. Others have 1.
const NUMBERS: [(&str, i64); 13] = [
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

/// The arguments of a call: their numbers, and values for them.
pub type Example<'f> = Vec<(usize, Scalar<'f>)>;

/// One call with only what must be given (or what it reads, if nothing must be), and one with something more
/// if there is more. None if no value could be found that a policy allows for an argument that must be
/// given.
#[must_use]
pub fn examples<'f>(tool: &Tool<'f>) -> Vec<Example<'f>> {
    let has_required = tool.required().next().is_some();
    let is_first = |argument: &Argument<'_>| {
        argument.required || !has_required && argument.placement == PlacementKind::Stdin
    };
    let arguments = || tool.arguments.iter().enumerate();
    let first = arguments().filter(|(_, argument)| is_first(argument));
    let first: Option<Example<'f>> = first
        .map(|(number, argument)| Some((number, value(argument)?)))
        .collect();
    let Some(first) = first else {
        return Vec::new();
    };
    // Where a command runs tells nothing about the tool.
    let is_optional = |argument: &Argument<'_>| {
        !is_first(argument) && argument.placement != PlacementKind::Directory
    };
    let optional: Example<'f> = arguments()
        .filter(|(_, argument)| is_optional(argument))
        .filter_map(|(number, argument)| Some((number, value(argument)?)))
        .take(MOST_OPTIONAL)
        .collect();
    let mut examples = vec![first];
    if !optional.is_empty() {
        let mut longer = [examples[0].clone(), optional].concat();
        longer.sort_by_key(|(number, _)| *number);
        examples.push(longer);
    }
    examples
}

/// A value that an argument takes, the most telling one first.
fn value<'f>(argument: &Argument<'f>) -> Option<Scalar<'f>> {
    let default = argument.default.iter();
    if !argument.choices.is_empty() {
        let is_default = |value: &&Scalar<'f>| argument.default.as_ref() == Some(*value);
        let choices = argument.choices.iter();
        let others = choices.clone().filter(|choice| !is_default(choice));
        let mut all = others.chain(choices.filter(is_default));
        return all.find(|value| argument.allows(value)).cloned();
    }
    let allowed = |value: &Scalar<'f>| argument.allows(value);
    match argument.kind {
        ArgumentType::Boolean => [true, false].map(Scalar::Boolean).into_iter().find(allowed),
        ArgumentType::Integer | ArgumentType::Number => {
            let usual = Number::Integer(by_name(argument.name, &NUMBERS).unwrap_or(1));
            let bounds = argument.limits.iter().flat_map(|it| [it.min, it.max]);
            let numbers = [usual].into_iter().chain(bounds.flatten());
            let numbers = numbers.filter_map(|number| near(argument.kind, number));
            numbers.chain(default.cloned()).find(allowed)
        }
        ArgumentType::String => {
            let text = |text: &'f str| Scalar::Text(text.into());
            let told = told(argument.description).map(text);
            let by_name = by_name(argument.name, &TEXTS).map(text);
            let mine = || format!("my-{}", argument.name.replace(['_', ' '], "-"));
            let mine = || Scalar::Text(mine().into());
            let texts = TEXTS.iter().map(|(_, value)| text(value));
            let short = ["example", "a", "A", "1"].into_iter().map(text);
            let mut values = default.cloned().chain(told).chain(by_name);
            let others = || std::iter::once_with(mine).chain(texts).chain(short);
            values.find(allowed).or_else(|| others().find(allowed))
        }
    }
}

/// A value that a description gives as an example: `e.g. name=web, ...`.
fn told(description: &str) -> Option<&str> {
    let (_, example) = ["e.g. ", "for example ", "such as "]
        .iter()
        .find_map(|words| description.split_once(words))?;
    let quote = example.starts_with(['\'', '"', '`']);
    let ends: &[&str] = if quote {
        &["'", "\"", "`"]
    } else {
        &[", ", " or ", " and ", " for ", "; ", ". ", ")"]
    };
    let example = &example[usize::from(quote)..];
    let end = ends.iter().filter_map(|end| example.find(end)).min();
    let example = &example[..end.unwrap_or(example.len())];
    let example = example.trim().trim_end_matches(['.', ';', ',']);
    // Longer ones are rather sentences, and what looks like an option is refused.
    let is_value = !example.is_empty() && example.len() <= 40 && !example.starts_with('-');
    is_value.then_some(example)
}

/// A number as a value, or the whole number above it.
fn near<'f>(kind: ArgumentType, number: Number) -> Option<Scalar<'f>> {
    match number {
        _ if kind == ArgumentType::Number => Some(Scalar::Number(number)),
        Number::Integer(integer) => Some(Scalar::Integer(integer)),
        Number::Float(float) => scalar::integer_from_float(float.ceil()).map(Scalar::Integer),
    }
}

/// The entry for the last word of a name that has one: it says what kind of thing it is.
fn by_name<T: Copy>(name: &str, table: &[(&str, T)]) -> Option<T> {
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
    use crate::sample::{argument, tool};
    use climax_catalog::facts::{Limit, Pattern};

    /// The examples of a tool, as `name=value ...`.
    fn texts(tool: &Tool<'_>) -> Vec<String> {
        let word = |(number, value): &(usize, Scalar<'_>)| {
            format!("{}={}", tool.arguments[*number].name, value.json())
        };
        let text = |example: &Example<'_>| example.iter().map(word).collect::<Vec<_>>().join(" ");
        examples(tool).iter().map(text).collect()
    }

    fn text(text: &str) -> Scalar<'_> {
        Scalar::Text(text.into())
    }

    #[test]
    fn tables_are_sorted() {
        assert!(TEXTS.is_sorted_by_key(|row| row.0));
        assert!(NUMBERS.is_sorted_by_key(|row| row.0));
    }

    #[test]
    fn values_follow_from_names_types_enums_and_defaults() {
        let mut format = argument("format", ArgumentType::String);
        format.choices = vec![text("text"), text("xml")];
        format.default = Some(text("text"));
        let mut id = argument("container_id", ArgumentType::String);
        id.required = true;
        let container = argument("container", ArgumentType::String);
        let mut branch = argument("source_branch", ArgumentType::String);
        branch.default = Some(text("trunk"));
        assert_eq!(
            texts(&tool(vec![format, id, container])),
            [
                r#"container_id="1""#,
                r#"format="xml" container_id="1" container="my-container""#
            ]
        );
        let number = argument("max_lines", ArgumentType::Integer);
        assert_eq!(
            texts(&tool(vec![branch, number])),
            ["", r#"source_branch="trunk" max_lines=10"#]
        );
    }

    #[test]
    fn a_description_may_give_an_example() {
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
            assert_eq!(told(description), expected, "{description}");
        }
    }

    #[test]
    fn a_tool_without_arguments_has_one_example_and_a_directory_is_no_reason_for_another() {
        let mut directory = argument("cwd", ArgumentType::String);
        directory.placement = PlacementKind::Directory;
        assert_eq!(texts(&tool(vec![])), [""]);
        assert_eq!(texts(&tool(vec![directory])), [""]);
    }

    #[test]
    fn a_value_is_one_that_policies_allow_or_there_is_none() {
        let pattern = |text| Limit {
            pattern: Some(Pattern {
                text,
                schema: None,
                automaton: &[],
            }),
            ..Limit::default()
        };
        let mut count = argument("count", ArgumentType::Integer);
        count.required = true;
        count.limits = vec![Limit {
            min: Some(Number::Integer(20)),
            max: Some(Number::Integer(30)),
            ..Limit::default()
        }];
        let mut branch = argument("branch", ArgumentType::String);
        branch.limits = vec![pattern("HEAD|x+")];
        let with_both = tool(vec![count, branch]);
        assert_eq!(texts(&with_both), ["count=20", r#"count=20 branch="HEAD""#]);
        let mut odd = argument("odd", ArgumentType::String);
        odd.limits = vec![pattern("qqq+")];
        assert_eq!(texts(&tool(vec![odd])), [""]);
        let mut odd = argument("odd", ArgumentType::String);
        odd.limits = vec![pattern("qqq+")];
        odd.required = true;
        assert_eq!(texts(&tool(vec![odd])), [""; 0]);
    }
}

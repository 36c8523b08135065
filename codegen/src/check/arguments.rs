//! Checks arguments: their names, types, defaults, enums, and where their values go.

use climax_core::scalar::{Number, Scalar};
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::Spanned;
use climax_input::yaml::{Node, YamlValue};
use climax_policy::check::{KnownArgument, check_limit};
use climax_policy::limit::{Limit, LimitTarget};
use climax_policy::pattern::Pattern;

use super::misplaced;
use super::placement::{check_flag, check_placement, default_flag};
use super::values::{check_choices, check_default, convert_scalar};
use crate::model::{
    ArgumentModel, ArgumentPlacement, ArgumentType, ArgvSection, GlobalArgument, ValueForm,
};
use crate::written::{WrittenArgument, WrittenFlag, WrittenType};

/// The indices of the arguments in command-line order: by section, and in definition order within a section.
pub(super) fn argv_order(arguments: &[ArgumentModel]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..arguments.len()).collect();
    order.sort_by_key(|index| arguments[*index].section);
    order
}

pub(super) fn check_arguments(
    written: Vec<WrittenArgument>,
    report: &mut Vec<Diagnostic>,
) -> Vec<ArgumentModel> {
    warn_about_order(&written, report);
    let mut seen: Vec<(String, SourceSpan)> = Vec::new();
    let (mut cwd_span, mut stdin_span) = (None, None);
    let mut arguments = Vec::new();
    for argument in written {
        if let Some(name) = &argument.name {
            if name.value.is_empty() {
                report.push(
                    Diagnostic::new(Code::BadArgumentName, name.span, "an argument needs a name")
                        .help("add one; agents see it in the input schema of the tool"),
                );
            }
            if let Some((_, first)) = seen.iter().find(|(seen, _)| *seen == name.value) {
                report.push(
                    Diagnostic::new(
                        Code::DuplicateArgument,
                        name.span,
                        format!("the argument `{}` is defined twice", name.value),
                    )
                    .related(*first, "first defined here")
                    .help("rename one of the two"),
                );
            }
            seen.push((name.value.clone(), name.span));
        }
        for (field, earlier_span, target) in [
            (&argument.cwd, &mut cwd_span, "the working directory"),
            (&argument.stdin, &mut stdin_span, "standard input"),
        ] {
            let Some(field) = field.as_ref().filter(|field| field.value) else {
                continue;
            };
            if let Some(earlier_span) = earlier_span.replace(field.span) {
                report.push(
                    Diagnostic::new(
                        Code::DuplicatePlacement,
                        field.span,
                        format!("a second argument sets {target}"),
                    )
                    .related(earlier_span, "the first one")
                    .help("remove one: a tool can have only one such argument"),
                );
            }
        }
        arguments.extend(check_argument(argument, report));
    }
    arguments
}

fn check_argument(
    mut written: WrittenArgument,
    report: &mut Vec<Diagnostic>,
) -> Option<ArgumentModel> {
    let (argument_type, form) = check_type(&written, report);
    let choices = written
        .choices
        .as_ref()
        .and_then(|choices| check_choices(choices, argument_type, report));
    let default = check_defaults(&written, argument_type, &form, choices.as_deref(), report);
    let known_choices = choices.as_deref().unwrap_or_default();
    check_separator(&written, known_choices, &default, report);
    let required = written
        .required
        .as_ref()
        .is_some_and(|required| required.value);
    if let (true, Some(default)) = (required, &written.default) {
        report.push(
            Diagnostic::new(
                Code::RequiredDefault,
                default.span,
                "a required argument never uses its default",
            )
            .help("remove `default` or `required`"),
        );
    }
    let (placement, section) = check_placement(&written, argument_type, &form, report);
    if let (ArgumentPlacement::Positional, None, Some(node)) =
        (&placement, &choices, &written.default)
        && section != ArgvSection::AfterSeparator
        && written.as_file.is_none()
    {
        let is_option = |text: &&Scalar<'_>| matches!(text, Scalar::Text(text) if text.starts_with('-') && text != "-");
        if let Some(text) = default.iter().find(is_option) {
            let message = format!("the default `{text}` would be read as an option");
            report.push(
                Diagnostic::new(Code::BadDefault, node.span, message)
                    .help("put it into the tool's `command`, or list it in `enum`"),
            );
        }
    }
    let file_suffix = check_file(&written, argument_type, &form, &placement, report);
    let is_path = check_path(&written, argument_type, &form, report);
    let name = written.name.take()?;
    let known = KnownArgument {
        name: &name.value,
        kind: argument_type,
        shape: form.shape(),
        default: &default,
        choices: choices.as_deref().unwrap_or_default(),
    };
    let limits = check_limits(&mut written, &name, &known, report);
    Some(ArgumentModel {
        name: name.value,
        description: written
            .description
            .map(|text| text.value)
            .unwrap_or_default(),
        argument_type,
        form,
        required,
        default,
        choices,
        placement,
        section,
        file_suffix,
        is_path,
        limits,
    })
}

/// The type of a single value, and whether there are several.
fn check_type(
    written: &WrittenArgument,
    report: &mut Vec<Diagnostic>,
) -> (ArgumentType, ValueForm) {
    let written_type = written.argument_type.as_ref().map(|written| written.value);
    let written_type = written_type.unwrap_or(WrittenType::Scalar(ArgumentType::String));
    let span = |number: &Option<Spanned<Number>>| number.as_ref().map(|number| number.span);
    let text_span = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.span);
    let list_fields = [
        (written.items.as_ref().map(|items| items.span), "items"),
        (span(&written.min_items), "min_items"),
        (span(&written.max_items), "max_items"),
        (text_span(&written.separator), "separator"),
    ];
    let map_fields = [
        (text_span(&written.key_value), "key_value"),
        (text_span(&written.keys), "keys"),
    ];
    let is_list = written_type == WrittenType::Array;
    let is_map = written_type == WrittenType::Object;
    let misplaced_fields = list_fields
        .iter()
        .map(|field| (field, "array", is_list))
        .chain(map_fields.iter().map(|field| (field, "object", is_map)));
    for ((span, field), needed, is_right) in misplaced_fields {
        if let (Some(span), false) = (span, is_right) {
            let message = format!("`{field}` needs `type: {needed}`");
            let help = format!("set `type: {needed}`, or remove `{field}`");
            report.push(misplaced(*span, &message).help(help));
        }
    }
    match written_type {
        WrittenType::Scalar(scalar) => (scalar, ValueForm::Single),
        WrittenType::Array => {
            let separator = written.separator.as_ref().map(|text| text.value.clone());
            let items = written.items.as_ref().map(|items| items.value);
            (
                items.unwrap_or(ArgumentType::String),
                ValueForm::List { separator },
            )
        }
        WrittenType::Object => {
            if let Some(choices) = &written.choices {
                report.push(
                    misplaced(choices.span, "a map cannot have an `enum`")
                        .help("restrict its keys with `keys`, and its entries with `pattern`"),
                );
            }
            let key_value = written.key_value.as_ref().map(|text| text.value.clone());
            (
                ArgumentType::String,
                ValueForm::Map {
                    key_value: key_value.unwrap_or_else(|| "=".to_owned()),
                },
            )
        }
    }
}

/// Checks that separators are not empty, and that no value of the enum or of the default contains the one of a
/// list.
fn check_separator(
    written: &WrittenArgument,
    choices: &[Scalar<'static>],
    default: &[Scalar<'static>],
    report: &mut Vec<Diagnostic>,
) {
    for (text, field) in [
        (&written.separator, "separator"),
        (&written.key_value, "key_value"),
    ] {
        if let Some(text) = text.as_ref().filter(|text| text.value.is_empty()) {
            let message = format!("`{field}` is empty");
            report.push(
                Diagnostic::new(Code::BadSeparator, text.span, message)
                    .help("write the characters between two values, such as `,` or `=`"),
            );
        }
    }
    let Some(separator) = written
        .separator
        .as_ref()
        .filter(|text| !text.value.is_empty())
    else {
        return;
    };
    for (values, subject) in [(choices, "enum value"), (default, "default")] {
        let mut values = values.iter().map(Scalar::to_string);
        if let Some(value) = values.find(|value| value.contains(&separator.value)) {
            let message = format!("the {subject} `{value}` contains the separator");
            report.push(
                Diagnostic::new(Code::BadSeparator, separator.span, message)
                    .help("use another separator, or remove the value"),
            );
        }
    }
}

fn check_defaults(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    form: &ValueForm,
    choices: Option<&[Scalar<'static>]>,
    report: &mut Vec<Diagnostic>,
) -> Vec<Scalar<'static>> {
    let Some(node) = &written.default else {
        return Vec::new();
    };
    let mut check = |node: &Node| check_default(node, argument_type, choices, report);
    match (form, &node.value) {
        (ValueForm::Map { .. }, _) => {
            report.push(
                misplaced(node.span, "a map cannot have a default")
                    .help("put fixed words into the tool's `command`"),
            );
            Vec::new()
        }
        (ValueForm::List { .. }, YamlValue::List(nodes)) => {
            nodes.iter().filter_map(check).collect()
        }
        _ => check(node).into_iter().collect(),
    }
}

fn check_file(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    form: &ValueForm,
    placement: &ArgumentPlacement,
    report: &mut Vec<Diagnostic>,
) -> Option<String> {
    let suffix = written.as_file.as_ref()?;
    let is_word = !matches!(
        placement,
        ArgumentPlacement::Directory | ArgumentPlacement::Stdin
    );
    if *form != ValueForm::Single
        || argument_type != ArgumentType::String
        || written.choices.is_some()
        || !is_word
    {
        report.push(
            misplaced(
                suffix.span,
                "`as_file` needs a single string without `enum` on the command line",
            )
            .help("remove `as_file`, or set `type: string`"),
        );
    }
    let is_allowed =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
    if !suffix.value.is_empty()
        && (!suffix.value.starts_with('.') || !suffix.value.chars().all(is_allowed))
    {
        let message = format!("`{}` is not the ending of a file name", suffix.value);
        report.push(
            Diagnostic::new(Code::BadFileSuffix, suffix.span, message)
                .help("write `true`, or an ending such as \".yaml\""),
        );
    }
    Some(suffix.value.clone())
}

fn check_path(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    form: &ValueForm,
    report: &mut Vec<Diagnostic>,
) -> bool {
    let Some(path) = written.path.as_ref().filter(|path| path.value) else {
        return false;
    };
    let is_map = matches!(form, ValueForm::Map { .. });
    if argument_type != ArgumentType::String || is_map || written.as_file.is_some() {
        report.push(
            misplaced(
                path.span,
                "only a string or a list of strings can be a path",
            )
            .help("remove `path`, or set `type: string`"),
        );
    }
    true
}

fn check_limits(
    written: &mut WrittenArgument,
    name: &Spanned<String>,
    known: &KnownArgument<'_>,
    report: &mut Vec<Diagnostic>,
) -> Vec<(LimitTarget, Limit)> {
    let mut limits = Vec::new();
    let limit = std::mem::take(&mut written.limit);
    if limit.pattern.is_some() || limit.min.is_some() || limit.max.is_some() {
        let limit = check_limit(limit, name, known, report);
        limits.extend(limit.map(|limit| (LimitTarget::Value, limit)));
    }
    if let Some(keys) = &written.keys {
        match Pattern::parse(&keys.value) {
            Ok(pattern) => {
                let pattern = Some(pattern);
                let limit = Limit {
                    pattern,
                    ..Limit::default()
                };
                limits.push((LimitTarget::Key, limit));
            }
            Err(problem) => report.push(
                Diagnostic::new(Code::BadPattern, keys.span, problem.message).help(problem.help),
            ),
        }
    }
    let (min, max) = (&written.min_items, &written.max_items);
    for count in min.iter().chain(max) {
        if !matches!(count.value, Number::Integer(0..=1_000_000)) {
            report.push(
                Diagnostic::new(
                    Code::BadItemCount,
                    count.span,
                    "a number of items is a whole number from 0 to 1,000,000",
                )
                .help("write such a number, or remove the line"),
            );
        }
    }
    if let (Some(min), Some(max)) = (min, max)
        && min.value.compare(max.value) == Some(std::cmp::Ordering::Greater)
    {
        report.push(
            Diagnostic::new(
                Code::EmptyRange,
                min.span,
                "`min_items` is above `max_items`",
            )
            .related(max.span, "`max_items` is set here")
            .help("swap the two values"),
        );
    }
    let max_count = max.as_ref().map(|max| max.value);
    if max_count == Some(Number::Integer(0)) {
        let span = max.as_ref().map_or(name.span, |max| max.span);
        report.push(
            Diagnostic::new(
                Code::BadItemCount,
                span,
                "a list without items is never given",
            )
            .help("allow at least one item, or remove the argument"),
        );
    }
    let default_count = Number::Integer(known.default.len().try_into().unwrap_or(i64::MAX));
    let is_outside = |bound: &Option<Spanned<Number>>, outside| {
        let bound = bound.as_ref();
        bound.is_some_and(|bound| default_count.compare(bound.value) == Some(outside))
    };
    if !known.default.is_empty()
        && (is_outside(min, std::cmp::Ordering::Less)
            || is_outside(max, std::cmp::Ordering::Greater))
    {
        report.push(
            Diagnostic::new(
                Code::DefaultNotAllowed,
                name.span,
                "the number of items of the default is not allowed",
            )
            .help("change the default, `min_items` or `max_items`"),
        );
    }
    if min.is_some() || max.is_some() {
        let limit = Limit {
            min: min.as_ref().map(|min| min.value),
            max: max.as_ref().map(|max| max.value),
            ..Limit::default()
        };
        limits.push((LimitTarget::Count, limit));
    }
    limits
}

/// Warns about arguments that share a flag, and about optional positional arguments before required ones.
fn warn_about_order(written: &[WrittenArgument], report: &mut Vec<Diagnostic>) {
    let mut flags: Vec<(&str, SourceSpan)> = Vec::new();
    let mut first_optional: Option<&Spanned<String>> = None;
    let is_true = |field: &Option<Spanned<bool>>| field.as_ref().is_some_and(|field| field.value);
    for argument in written {
        if let Some(WrittenFlag::Single(flag)) = &argument.flag {
            let first = flags.iter().find(|(known, _)| *known == flag.value);
            if let Some((_, first)) = first {
                let message = format!("two arguments have the flag `{}`", flag.value);
                report.push(
                    Diagnostic::new(Code::DuplicateFlag, flag.span, message)
                        .related(*first, "the first one")
                        .help("correct one of the two, or use one argument with `type: array`"),
                );
            }
            flags.push((&flag.value, flag.span));
        }
        // Other sections have an order of their own.
        let has_own_section = argument.place.is_some() || is_true(&argument.after_separator);
        if !is_true(&argument.positional) || has_own_section {
            continue;
        }
        let Some(name) = &argument.name else { continue };
        if !is_true(&argument.required) && argument.default.is_none() {
            first_optional = first_optional.or(Some(name));
        } else if let Some(optional) = first_optional {
            let message = format!(
                "without `{}`, the program takes `{}` for it",
                optional.value, name.value
            );
            report.push(
                Diagnostic::new(Code::OptionalBeforeRequired, name.span, message)
                    .related(optional.span, "this one is optional")
                    .help("make the first one required, or put it last"),
            );
        }
    }
}

pub(super) fn check_global_argument(
    written: WrittenArgument,
    report: &mut Vec<Diagnostic>,
) -> Option<GlobalArgument> {
    let name = written.name.as_ref()?;
    let (argument_type, form) = check_type(&written, report);
    check_flag(&written, argument_type, form == ValueForm::Single, report);
    let Some(default) = written.default else {
        report.push(
            Diagnostic::new(
                Code::IneffectiveGlobalArgument,
                name.span,
                "a global argument without a default does nothing",
            )
            .help("add `default`, for example `default: \"$NAME\"`"),
        );
        return None;
    };
    for (is_present, field) in [
        (written.positional.is_some(), "positional"),
        (written.cwd.is_some(), "cwd"),
        (written.stdin.is_some(), "stdin"),
        (written.required.is_some(), "required"),
        (written.choices.is_some(), "enum"),
        (form != ValueForm::Single, "type"),
        (written.joined.is_some(), "joined"),
        (written.place.is_some(), "place"),
        (written.after_separator.is_some(), "after_separator"),
        (written.as_file.is_some(), "as_file"),
        (written.path.is_some(), "path"),
        (written.limit.pattern.is_some(), "pattern"),
        (written.limit.min.is_some(), "min"),
        (written.limit.max.is_some(), "max"),
        (
            matches!(written.flag, Some(WrittenFlag::Pair { .. })),
            "a flag for each value",
        ),
    ] {
        if is_present {
            let message = format!("`{field}` does nothing in a global argument");
            report.push(
                Diagnostic::new(Code::IneffectiveGlobalArgument, name.span, message)
                    .help("remove it: a global argument is a flag with its default"),
            );
        }
    }
    let has_variable = matches!(&default.value, YamlValue::Text(text) if text.contains('$'));
    if !has_variable && let Err(error) = convert_scalar(&default, argument_type) {
        report.push(error.diagnostic(Code::BadDefault, &default, argument_type));
        return None;
    }
    // A value of any type may contain variables, so it stays text until run time.
    let value = convert_scalar(&default, ArgumentType::String)
        .map_err(|error| {
            report.push(error.diagnostic(Code::BadDefault, &default, ArgumentType::String));
        })
        .ok()?
        .to_string();
    let flag = match written.flag {
        Some(WrittenFlag::Single(flag)) => flag.value,
        Some(WrittenFlag::Pair { .. }) | None => default_flag(Some(name)),
    };
    Some(GlobalArgument {
        flag,
        value,
        is_switch: argument_type == ArgumentType::Boolean,
    })
}

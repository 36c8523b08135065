//! Checks where the values of arguments go: flags, positional words, the working directory, standard input and
//! files.

use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::Spanned;

use super::{misplaced, reject_nul};
use crate::model::{ArgumentPlacement, ArgumentType, ArgvSection, ValueForm};
use crate::written::{WrittenArgument, WrittenFlag};

/// Where the value of an argument goes, and the section of the command line that contains it.
pub(super) fn check_placement(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    form: &ValueForm,
    report: &mut Vec<Diagnostic>,
) -> (ArgumentPlacement, ArgvSection) {
    let is_single = *form == ValueForm::Single;
    let chosen = chosen_placement(written, report);
    check_flag(written, argument_type, is_single, report);
    let placement = match chosen {
        Some((span, "cwd" | "stdin")) if !is_single || argument_type != ArgumentType::String => {
            let name = chosen.map_or("", |(_, name)| name);
            let found = match form {
                ValueForm::Single => argument_type.with_article(),
                ValueForm::List { .. } => "a list",
                ValueForm::Map { .. } => "a map",
            };
            let message = format!("a `{name}` argument must be a string, not {found}");
            report.push(
                Diagnostic::new(Code::PlacementNeedsString, span, message)
                    .help("set `type: string`"),
            );
            ArgumentPlacement::Stdin
        }
        Some((_, "cwd")) => ArgumentPlacement::Directory,
        Some((_, "stdin")) => ArgumentPlacement::Stdin,
        Some((span, name)) => {
            if let Some(flag) = &written.flag {
                let message = match name {
                    "positional" => "a positional argument cannot have a flag",
                    _ => "an argument after `--` cannot have a flag",
                };
                report.push(
                    Diagnostic::new(Code::PositionalFlag, flag.span(), message)
                        .related(span, "because of this field")
                        .help(format!("remove `flag` or `{name}`")),
                );
            }
            ArgumentPlacement::Positional
        }
        None => flag_placement(written, argument_type),
    };
    let section = section(written, &placement, report);
    let is_joined = matches!(placement, ArgumentPlacement::JoinedFlag(_));
    if let Some(joined) = written.joined.as_ref().filter(|joined| joined.value)
        && (!is_joined || written.flag.is_none())
    {
        report.push(
            misplaced(
                joined.span,
                "`joined` attaches a value to the flag in `flag`",
            )
            .help("remove it, or add a `flag` that takes a value"),
        );
    }
    (placement, section)
}

/// The field that says where the value goes, if it is not a flag, with its position.
fn chosen_placement(
    written: &WrittenArgument,
    report: &mut Vec<Diagnostic>,
) -> Option<(SourceSpan, &'static str)> {
    let span_if_true = |field: &Option<Spanned<bool>>| {
        let field = field.as_ref().filter(|field| field.value);
        field.map(|field| field.span)
    };
    // A positional argument may also say that it is one after `--`.
    let positional = span_if_true(&written.positional);
    let after_separator = span_if_true(&written.after_separator);
    let placement_fields = [
        (
            positional.filter(|_| after_separator.is_none()),
            "positional",
        ),
        (span_if_true(&written.cwd), "cwd"),
        (span_if_true(&written.stdin), "stdin"),
        (after_separator, "after_separator"),
    ];
    let mut true_fields = placement_fields
        .iter()
        .filter_map(|(span, name)| span.map(|span| (span, *name)));
    let first = true_fields.next();
    if let (Some((first_span, first)), Some((span, second))) = (first, true_fields.next()) {
        report.push(
            Diagnostic::new(
                Code::ConflictingPlacements,
                span,
                format!("an argument is `{first}` or `{second}`, not both"),
            )
            .related(first_span, "the other one")
            .help("remove one of the two"),
        );
    }
    first
}

/// Checks the text of a flag.
pub(super) fn check_flag(
    written: &WrittenArgument,
    argument_type: ArgumentType,
    is_single: bool,
    report: &mut Vec<Diagnostic>,
) {
    let is_boolean = argument_type == ArgumentType::Boolean && is_single;
    let is_joined = written.joined.as_ref().is_some_and(|joined| joined.value);
    let texts: Vec<&Spanned<String>> = match &written.flag {
        None => Vec::new(),
        Some(WrittenFlag::Single(flag)) => vec![flag],
        Some(WrittenFlag::Pair {
            if_true,
            if_false,
            span,
        }) => {
            if !is_boolean {
                report.push(
                    misplaced(
                        *span,
                        "only a boolean has a flag for `true` and one for `false`",
                    )
                    .help("write a single flag, or set `type: boolean`"),
                );
            } else if if_true.is_none() && if_false.is_none() {
                report.push(
                    Diagnostic::new(Code::BadFlag, *span, "the mapping names no flag")
                        .help("write `flag: {true: --color, false: --no-color}`"),
                );
            }
            if_true.iter().chain(if_false).collect()
        }
    };
    for flag in texts {
        reject_nul(flag, report);
        if flag.value.is_empty() {
            report.push(
                Diagnostic::new(Code::BadFlag, flag.span, "the flag is empty")
                    .help("remove the line for `--name`, or set `positional: true`"),
            );
        } else if is_boolean && flag.value.ends_with('=') {
            report.push(
                Diagnostic::new(
                    Code::BadFlag,
                    flag.span,
                    "a boolean has no value that could follow `=`",
                )
                .help("remove the `=`, or use `type: string` with `enum: [\"true\", \"false\"]`"),
            );
        }
        // With `joined: true`, one word of flag, white space and value is meant: `.schema users` of sqlite3.
        if flag.value == "--" && !is_single {
            report.push(
                Diagnostic::new(
                    Code::BadFlag,
                    flag.span,
                    "this would repeat `--` for each value",
                )
                .help("write `after_separator: true` instead of the flag"),
            );
        }
        if flag.value.contains(char::is_whitespace) && !is_joined {
            let message = format!(
                "a flag is one word: the program receives `{}` as one argument",
                flag.value
            );
            report.push(
                Diagnostic::new(Code::ShellSyntax, flag.span, message)
                    .help("move fixed words into the tool's `command`"),
            );
        }
    }
}

fn flag_placement(written: &WrittenArgument, argument_type: ArgumentType) -> ArgumentPlacement {
    let text = |flag: &Option<Spanned<String>>| {
        let flag = flag.as_ref().map(|flag| flag.value.clone());
        flag.unwrap_or_default()
    };
    let flag = match &written.flag {
        Some(WrittenFlag::Pair {
            if_true, if_false, ..
        }) => {
            return ArgumentPlacement::SwitchPair {
                if_true: text(if_true),
                if_false: text(if_false),
            };
        }
        Some(WrittenFlag::Single(flag)) => flag.value.clone(),
        None => default_flag(written.name.as_ref()),
    };
    let is_joined = written.joined.as_ref().is_some_and(|joined| joined.value);
    match argument_type {
        ArgumentType::Boolean => ArgumentPlacement::Switch(flag),
        _ if is_joined || flag.ends_with('=') => ArgumentPlacement::JoinedFlag(flag),
        _ => ArgumentPlacement::Flag(flag),
    }
}

pub(super) fn default_flag(name: Option<&Spanned<String>>) -> String {
    let name = name.map_or("", |name| name.value.as_str());
    format!("--{}", name.replace('_', "-"))
}

fn section(
    written: &WrittenArgument,
    placement: &ArgumentPlacement,
    report: &mut Vec<Diagnostic>,
) -> ArgvSection {
    let is_after_separator = written.after_separator.as_ref().is_some_and(|is| is.value);
    let usual = match placement {
        ArgumentPlacement::Positional if is_after_separator => ArgvSection::AfterSeparator,
        ArgumentPlacement::Positional => ArgvSection::Positionals,
        _ => ArgvSection::Flags,
    };
    let Some(place) = &written.place else {
        return usual;
    };
    let problem = match placement {
        ArgumentPlacement::Directory => Some("the working directory is not on the command line"),
        ArgumentPlacement::Stdin => Some("standard input is not on the command line"),
        _ if is_after_separator => Some("an argument after `--` has its place already"),
        _ => None,
    };
    if let Some(problem) = problem {
        report.push(misplaced(place.span, problem).help("remove `place`"));
    }
    place.value
}

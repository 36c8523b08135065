//! Turns configs as written into the model. All rules for valid configs are here.

mod arguments;
mod placement;
mod tool_rules;
mod values;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::model::{ArgumentType, CliModel, GlobalArgument, Risk, ToolModel};
use crate::written::{WrittenConfig, WrittenTool};
use climax_arguments::expand::variables;
use climax_catalog::facts::{ArgumentFacts, Facts, PlacementKind};
use climax_core::reserved::is_reserved_tool_name;
use climax_core::scalar::Number;
use climax_input::code::Code;
use climax_input::diagnostic::{Diagnostic, SourceSpan};
use climax_input::fields::{Spanned, closest};
use climax_input::source::Source;
use climax_policy::check::check_variable_patterns;
use climax_policy::limit::LimitTarget;

use arguments::{argv_order, check_arguments, check_global_argument};
use tool_rules::{check_combinations, check_exit_codes, example_model};

const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// Clients truncate longer descriptions.
const MAX_DESCRIPTION_BYTES: usize = 2048;
/// The limit of the strictest clients.
const MAX_TOOL_NAME_BYTES: usize = 64;

/// Checks all configs, because tool names must be unique across them.
pub fn check(
    configs: Vec<(&Source, WrittenConfig)>,
    report: &mut Vec<Diagnostic>,
) -> (Vec<CliModel>, ToolNames) {
    let mut tool_names = HashMap::new();
    let clis = configs
        .into_iter()
        .map(|(source, config)| check_cli(source, config, &mut tool_names, report))
        .collect();
    (clis, tool_names)
}

/// The name and the position of the first definition of each tool, by its name in lower case.
pub type ToolNames = HashMap<String, (String, SourceSpan)>;

fn check_cli(
    source: &Source,
    mut config: WrittenConfig,
    tool_names: &mut ToolNames,
    report: &mut Vec<Diagnostic>,
) -> CliModel {
    if let Some(command) = &config.command
        && command.value.trim().is_empty()
    {
        report.push(
            Diagnostic::new(
                Code::EmptyCommand,
                command.span,
                "the base command is empty",
            )
            .help("name the program that the tools run"),
        );
    }
    if let Some(command) = &config.command {
        check_shell_syntax(command, ProgramWords(1), report);
    }
    check_pass_env(&config.pass_env, report);
    for text in config.command.iter().chain(&config.working_dir) {
        reject_nul(text, report);
    }
    for (name, value) in &config.env {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let message = "a variable name must not be empty or contain `=` or NUL";
            report.push(
                Diagnostic::new(Code::BadVariable, name.span, message).help("write `NAME: value`"),
            );
        }
        reject_nul(value, report);
    }
    if let (None, Some(command)) = (&config.category, &config.command) {
        report.push(
            Diagnostic::new(Code::NoCategory, command.span, "this CLI has no category")
                .help("add `category: ...`: agents narrow their search by it"),
        );
    }
    let global_arguments: Vec<GlobalArgument> = std::mem::take(&mut config.global_args)
        .into_iter()
        .filter_map(|argument| check_global_argument(argument, report))
        .collect();
    let pass_env = pass_env(&config, &global_arguments);
    let tools = config
        .tools
        .into_iter()
        .filter_map(|written| check_tool(written, tool_names, report))
        .collect();
    let value_of = |field: Option<Spanned<String>>| field.map(|field| field.value);
    CliModel {
        stem: source.stem.clone(),
        name: value_of(config.name).unwrap_or_else(|| "climax".to_owned()),
        description: value_of(config.description).unwrap_or_default(),
        command: value_of(config.command).unwrap_or_default(),
        env: config
            .env
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.value, value.value))
            .collect(),
        working_dir: value_of(config.working_dir),
        category: value_of(config.category),
        tags: config.tags.into_iter().map(|tag| tag.value).collect(),
        pass_env,
        global_arguments,
        tools,
    }
}

/// A diagnostic for a field that does not go with the others.
fn misplaced(span: SourceSpan, message: &str) -> Diagnostic {
    Diagnostic::new(Code::MisplacedField, span, message)
}

/// Command lines and environment variables cannot contain NUL.
fn reject_nul(text: &Spanned<String>, report: &mut Vec<Diagnostic>) {
    if text.value.contains('\0') {
        report.push(
            Diagnostic::new(
                Code::NulCharacter,
                text.span,
                "this contains a NUL character",
            )
            .help("remove it: command lines and variables cannot contain NUL"),
        );
    }
}

/// Checks the entries of `pass_env`.
fn check_pass_env(names: &[Spanned<String>], report: &mut Vec<Diagnostic>) {
    check_variable_patterns(names.iter(), report);
    if let Some(all) = names.iter().find(|name| name.value == "*") {
        let message = "this would pass all secrets";
        report.push(
            Diagnostic::new(Code::BadVariable, all.span, message)
                .help("name the variables that the program needs"),
        );
    }
}

/// The variables that commands inherit although they look like secrets: those of `pass_env`, and those that the
/// config refers to.
fn pass_env(config: &WrittenConfig, global_arguments: &[GlobalArgument]) -> Vec<String> {
    let names = config.pass_env.iter().map(|name| name.value.clone());
    // A `*` would be a pattern for many names.
    let is_name = |name: &&str| !name.is_empty() && !name.contains('*');
    let texts = config.command.iter().chain(&config.working_dir);
    let texts = texts.map(|text| text.value.as_str());
    let texts = texts.chain(global_arguments.iter().map(|global| global.value.as_str()));
    let mut names: Vec<String> = names
        .chain(texts.flat_map(variables).filter(is_name).map(str::to_owned))
        .collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// How many words at the beginning of a command name the program. They may be anything, such as `<`.
struct ProgramWords(usize);

/// Reports pipes and redirections, and warns about quotes. Only a shell would interpret them.
fn check_shell_syntax(
    command: &Spanned<String>,
    ProgramWords(program_words): ProgramWords,
    report: &mut Vec<Diagnostic>,
) {
    const OPERATORS: [&str; 9] = ["|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1"];
    let is_quoted = |word: &str| word.starts_with(['"', '\'']) || word.ends_with(['"', '\'']);
    let mut words = command.value.split_whitespace();
    let mut arguments = words.clone().skip(program_words);
    if let Some(word) = arguments.find(|word| OPERATORS.contains(word)) {
        let message = format!("commands run without a shell, which would interpret `{word}`");
        report.push(
            Diagnostic::new(Code::ShellOperator, command.span, message)
                .help("move pipes and redirections into a script, and name that as the command"),
        );
    } else if let Some(word) = words.find(|word| is_quoted(word)) {
        let message =
            format!("commands run without a shell: the program receives `{word}` literally");
        report.push(
            Diagnostic::new(Code::ShellSyntax, command.span, message).help("remove the quotes"),
        );
    }
}

fn check_tool(
    written: WrittenTool,
    tool_names: &mut ToolNames,
    report: &mut Vec<Diagnostic>,
) -> Option<ToolModel> {
    if let Some(name) = &written.name {
        check_tool_name(name, tool_names, report);
    }
    if let Some(description) = &written.description {
        if description.value.trim().is_empty() {
            report.push(
                Diagnostic::new(
                    Code::EmptyDescription,
                    description.span,
                    "the description is empty",
                )
                .help("agents choose a tool by its description: say what it does"),
            );
        } else if description.value.len() > MAX_DESCRIPTION_BYTES {
            let message = format!(
                "this description has {} bytes; clients truncate it after {MAX_DESCRIPTION_BYTES}",
                description.value.len()
            );
            report.push(
                Diagnostic::new(Code::LongDescription, description.span, message)
                    .help("shorten it, or begin with what agents need to choose the tool"),
            );
        }
    }
    if let Some(command) = &written.command {
        reject_nul(command, report);
        check_shell_syntax(command, ProgramWords(0), report);
    }
    check_templates(&written, report);
    let risk = written.risk.as_ref().map(|risk| risk.value);
    let timeout_ms = check_timeout(written.timeout.as_ref(), report);
    let combinations = check_combinations(&written, report);
    let ok_exit_codes = check_exit_codes(&written.ok_exit_codes, report);
    let arguments = check_arguments(written.args, report);
    let examples = written
        .examples
        .into_iter()
        .filter_map(|example| example_model(example, report))
        .collect();
    let keywords = written.keywords.into_iter().map(|keyword| keyword.value);
    let command = written
        .command
        .map(|command| command.value)
        .unwrap_or_default();
    Some(ToolModel {
        name: written.name?.value,
        description: written.description?.value,
        command: command.split_whitespace().collect::<Vec<_>>().join(" "),
        argv_order: argv_order(&arguments),
        arguments,
        timeout_ms,
        risk,
        combinations,
        ok_exit_codes,
        examples,
        keywords: keywords.collect(),
        has_json_output: written.has_json_output,
    })
}

/// Warns about destructive tools that a policy allows with arbitrary text. Without a policy, everything is allowed
/// anyway.
pub fn warn_about_unlimited_arguments(
    facts: &Facts<'_>,
    tool_names: &ToolNames,
    report: &mut Vec<Diagnostic>,
) {
    if !facts.has_policy {
        return;
    }
    let is_word = |placement| !matches!(placement, PlacementKind::Directory | PlacementKind::Stdin);
    let is_unlimited = |argument: &&ArgumentFacts<'_>| {
        argument.kind == ArgumentType::String
            && argument.choices.is_empty()
            && argument.limits_of(LimitTarget::Value).next().is_none()
            && is_word(argument.placement)
    };
    let tools = facts.tools.iter();
    for tool in tools.filter(|tool| tool.risk == Some(Risk::Destructive)) {
        let arguments = tool.arguments.iter().filter(is_unlimited);
        let names: Vec<&str> = arguments.map(|argument| argument.name).collect();
        let definition = tool_names.get(&tool.name.to_ascii_lowercase());
        if let (false, Some((_, span))) = (names.is_empty(), definition) {
            let names = names.join("`, `");
            let message =
                format!("the policy allows any text as `{names}` of this destructive tool");
            report.push(
                Diagnostic::new(Code::UnlimitedDestructive, *span, message).help(
                    "limit the values with `pattern` in the policy or in the config, or with `enum`",
                ),
            );
        }
    }
}

fn check_tool_name(
    name: &Spanned<String>,
    tool_names: &mut ToolNames,
    report: &mut Vec<Diagnostic>,
) {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let text = &name.value;
    if text.is_empty() || text.len() > MAX_TOOL_NAME_BYTES || !text.bytes().all(is_allowed) {
        report.push(
            Diagnostic::new(
                Code::BadToolName,
                name.span,
                format!("`{text}` is not a valid tool name"),
            )
            .help(format!(
                "use 1 to {MAX_TOOL_NAME_BYTES} of the characters A-Z a-z 0-9 _ . -"
            )),
        );
        return;
    }
    if is_reserved_tool_name(text) {
        let message = format!("`{text}` is the name of a built-in tool");
        report.push(
            Diagnostic::new(Code::ReservedToolName, name.span, message)
                .help("rename the tool, for example after its program"),
        );
    }
    let (first_name, first_span) = match tool_names.entry(text.to_ascii_lowercase()) {
        Entry::Vacant(entry) => {
            entry.insert((text.clone(), name.span));
            return;
        }
        Entry::Occupied(entry) => entry.get().clone(),
    };
    let message = if first_name == *text {
        format!("the tool `{text}` is defined twice")
    } else {
        format!("the tools `{text}` and `{first_name}` differ only in case")
    };
    let mut error = Diagnostic::new(Code::DuplicateTool, name.span, message);
    // Two aliases of one YAML anchor have the same span.
    if first_span != name.span {
        error = error.related(first_span, "first defined here");
    }
    report.push(error.help("rename one of the two"));
}

fn check_timeout(timeout: Option<&Spanned<Number>>, report: &mut Vec<Diagnostic>) -> u64 {
    let Some(&Spanned { value, span }) = timeout else {
        return DEFAULT_TIMEOUT_MS;
    };
    let value = value.to_f64();
    if value < 0.0 || !value.is_finite() {
        report.push(
            Diagnostic::new(
                Code::BadTimeout,
                span,
                "a timeout is a number of seconds above 0",
            )
            .help("leave it out for the default of 30 seconds"),
        );
        return DEFAULT_TIMEOUT_MS;
    }
    if value == 0.0 {
        report.push(
            Diagnostic::new(
                Code::ZeroTimeout,
                span,
                "a timeout of 0 means the default of 30 seconds",
            )
            .help("leave it out, or give a number of seconds"),
        );
        return DEFAULT_TIMEOUT_MS;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and finite; a cast saturates"
    )]
    let milliseconds = (value * 1000.0).round() as u64;
    milliseconds.max(1)
}

/// Checks that every `{name}` in `confirm_message` and `resolve` is known.
fn check_templates(tool: &WrittenTool, report: &mut Vec<Diagnostic>) {
    let arguments: Vec<&str> = tool
        .args
        .iter()
        .filter_map(|argument| Some(argument.name.as_ref()?.value.as_str()))
        .collect();
    let mut known = arguments.clone();
    known.extend(tool.resolve.iter().map(|(key, _)| key.value.as_str()));
    if let Some(message) = &tool.confirm_message {
        check_placeholders(message, &known, report);
    }
    for (_, resolve) in &tool.resolve {
        for template in &resolve.templates {
            check_placeholders(template, &arguments, report);
        }
    }
}

fn check_placeholders(template: &Spanned<String>, known: &[&str], report: &mut Vec<Diagnostic>) {
    let text = template.value.replace("{{", "").replace("}}", "");
    for part in text.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else {
            report.push(
                Diagnostic::new(Code::BadPlaceholder, template.span, "a `{` is not closed")
                    .help("write `{{` for a literal brace"),
            );
            continue;
        };
        if !known.contains(&name) {
            let help = match closest(name, known) {
                Some(name) => format!("did you mean `{{{name}}}`?"),
                None => format!("expected one of: {}", known.join(", ")),
            };
            report.push(
                Diagnostic::new(
                    Code::BadPlaceholder,
                    template.span,
                    format!("`{{{name}}}` is neither an argument nor a resolve key"),
                )
                .help(help),
            );
        }
    }
}

//! The shipped configs follow the rules in `configs/README.md`.

use std::collections::BTreeMap;
use std::path::Path;

use climax_codegen::check::check;
use climax_codegen::model::{ArgumentModel, ArgumentPlacement, CliModel, ToolModel};
use climax_codegen::read_configs;
use climax_input::source::read;

const README: &str = include_str!("../../configs/README.md");

/// A row of the table of argument names.
struct NameRule<'r> {
    name: &'r str,
    argument_type: &'r str,
    forbidden: Vec<&'r str>,
}

fn name_rules() -> Vec<NameRule<'static>> {
    let (_, table) = README
        .split_once("| Concept |")
        .expect("a table of argument names");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, name, argument_type, _, forbidden] = cells[..] else {
            panic!("five cells in {row}")
        };
        NameRule {
            name: name.trim_matches('`'),
            argument_type,
            forbidden: forbidden
                .split(", ")
                .map(|name| name.trim_matches('`'))
                .collect(),
        }
    })
    .collect()
}

fn shipped_clis() -> Vec<CliModel> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(sources) = read(&root, &["configs".into()], None) else {
        panic!("the shipped configs are there")
    };
    let mut report = Vec::new();
    let configs = read_configs(&sources.all, &mut report);
    let (clis, _) = check(configs, &mut report);
    assert!(report.is_empty(), "no errors or warnings");
    clis
}

fn tools(clis: &[CliModel]) -> impl Iterator<Item = &ToolModel> {
    clis.iter().flat_map(|cli| &cli.tools)
}

fn arguments(clis: &[CliModel]) -> impl Iterator<Item = (&ToolModel, &ArgumentModel)> {
    tools(clis).flat_map(|tool| tool.arguments.iter().map(move |argument| (tool, argument)))
}

#[test]
fn arguments_of_shipped_tools_have_the_names_and_types_of_the_table() {
    let rules = name_rules();
    assert!(rules.len() > 40, "{} rows were read", rules.len());
    let clis = shipped_clis();
    let mut faults = Vec::new();
    for (tool, argument) in arguments(&clis) {
        for rule in &rules {
            if rule.forbidden.contains(&argument.name.as_str()) {
                faults.push(format!(
                    "{}: {} is called {}",
                    tool.name, argument.name, rule.name
                ));
            }
            let argument_type = argument.argument_type.name();
            if rule.name == argument.name && rule.argument_type != argument_type {
                faults.push(format!(
                    "{}: {} is a {argument_type}",
                    tool.name, argument.name
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    for rule in &rules {
        let is_used = arguments(&clis).any(|(_, argument)| argument.name == rule.name);
        assert!(is_used, "no tool has an argument {}", rule.name);
        let is_allowed = rules
            .iter()
            .all(|other| !other.forbidden.contains(&rule.name));
        assert!(
            is_allowed,
            "{} is both a name and a forbidden one",
            rule.name
        );
    }
}

#[test]
fn the_directory_to_run_in_is_called_directory_in_all_shipped_tools() {
    for (tool, argument) in arguments(&shipped_clis()) {
        let is_working_directory = matches!(argument.placement, ArgumentPlacement::Directory);
        assert_eq!(
            is_working_directory,
            argument.name == "directory",
            "{}: {}",
            tool.name,
            argument.name
        );
    }
}

#[test]
fn an_argument_name_has_one_type_in_all_shipped_tools() {
    let mut types = BTreeMap::new();
    for (tool, argument) in arguments(&shipped_clis()) {
        let argument_type = argument.argument_type.name();
        let (first_tool, first_type) = types
            .entry(argument.name.clone())
            .or_insert_with(|| (tool.name.clone(), argument_type));
        assert_eq!(
            *first_type, argument_type,
            "{} in {first_tool} and {}",
            argument.name, tool.name
        );
    }
}

#[test]
fn shipped_tools_have_a_risk_an_example_and_described_arguments() {
    let clis = shipped_clis();
    for tool in tools(&clis) {
        assert!(tool.risk.is_some(), "{}", tool.name);
        assert!(!tool.examples.is_empty(), "{}", tool.name);
        assert!(tool.description.ends_with('.'), "{}", tool.name);
    }
    for (tool, argument) in arguments(&clis) {
        let name = &argument.name;
        assert!(!argument.description.is_empty(), "{}: {name}", tool.name);
    }
}

#[test]
fn no_shipped_tool_starts_a_shell_on_the_machine() {
    for cli in &shipped_clis() {
        for tool in &cli.tools {
            let words = cli
                .command
                .split_whitespace()
                .chain(tool.command.split_whitespace());
            let program = words
                .map(|word| word.rsplit('/').next())
                .find(|word| *word != Some("env"));
            let is_shell =
                [Some("sh"), Some("bash"), Some("dash"), Some("zsh")].contains(&program.flatten());
            assert!(!is_shell, "{}", tool.name);
        }
    }
}

#[test]
fn the_readme_of_the_configs_lists_every_config() {
    for cli in &shipped_clis() {
        let row = format!("| `{}.yaml` |", cli.stem);
        assert!(README.contains(&row), "{row}");
    }
}

#[test]
fn no_argument_of_a_shipped_tool_is_numbered() {
    for (tool, argument) in arguments(&shipped_clis()) {
        let end = argument.name.rsplit('_').next().unwrap_or_default();
        let is_numbered = end.parse::<u32>().is_ok();
        assert!(!is_numbered, "{}: {}", tool.name, argument.name);
    }
}

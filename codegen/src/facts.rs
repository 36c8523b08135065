//! Turns the model into the facts from which the catalog is built.

use climax_catalog::facts::{
    ArgumentFacts, CliFacts, Facts, LimitFacts, LimitOrigin, PlacementKind, ToolFacts,
};
use climax_policy::limit::{Limit, LimitTarget};

use crate::model::{ArgumentModel, ArgumentPlacement, ArgvSection, CliModel, ToolModel};

/// The facts about all CLIs and tools, without a policy. Examples are added later, by the stage that checks them.
#[must_use]
pub fn facts(clis: &[CliModel]) -> Facts<'_> {
    let tools = clis.iter().enumerate().flat_map(|(cli_number, cli)| {
        let tools = cli.tools.iter();
        tools.map(move |tool| tool_facts(cli_number, tool))
    });
    Facts {
        clis: clis.iter().map(cli_facts).collect(),
        tools: tools.collect(),
        has_policy: false,
    }
}

fn cli_facts(cli: &CliModel) -> CliFacts<'_> {
    CliFacts {
        stem: &cli.stem,
        name: &cli.name,
        description: &cli.description,
        command: &cli.command,
        env: cli.env.iter().map(String::as_str).collect(),
        working_dir: cli.working_dir.as_deref(),
        category: cli.category.as_deref(),
        tags: cli.tags.iter().map(String::as_str).collect(),
        pass_env: cli.pass_env.iter().map(String::as_str).collect(),
    }
}

fn tool_facts(cli_number: usize, tool: &ToolModel) -> ToolFacts<'_> {
    ToolFacts {
        cli: cli_number,
        name: &tool.name,
        description: &tool.description,
        command: &tool.command,
        arguments: tool.arguments.iter().map(argument_facts).collect(),
        timeout_ms: tool.timeout_ms,
        risk: tool.risk,
        combinations: tool.combinations.clone(),
        ok_exit_codes: tool.ok_exit_codes.clone(),
        examples: Vec::new(),
        keywords: tool.keywords.iter().map(String::as_str).collect(),
        has_json_output: tool.has_json_output,
    }
}

fn argument_facts(argument: &ArgumentModel) -> ArgumentFacts<'_> {
    ArgumentFacts {
        name: &argument.name,
        description: &argument.description,
        kind: argument.argument_type,
        shape: argument.form.shape(),
        required: argument.required,
        default: argument.default.clone(),
        choices: argument.choices.clone().unwrap_or_default(),
        placement: match argument.placement {
            ArgumentPlacement::Positional if argument.section == ArgvSection::AfterSeparator => {
                PlacementKind::SeparatedWord
            }
            ArgumentPlacement::Positional => PlacementKind::Positional,
            ArgumentPlacement::Flag(_)
            | ArgumentPlacement::JoinedFlag(_)
            | ArgumentPlacement::Switch(_)
            | ArgumentPlacement::SwitchPair { .. } => PlacementKind::Flag,
            ArgumentPlacement::Directory => PlacementKind::Directory,
            ArgumentPlacement::Stdin => PlacementKind::Stdin,
        },
        flag: flag_without_dashes(argument),
        is_path: argument.is_path,
        limits: argument.limits.iter().map(limit_facts).collect(),
    }
}

/// The flag of an argument without dashes, unless that is the argument's name, too. Agents that know the program use it as
/// the name.
fn flag_without_dashes(argument: &ArgumentModel) -> &str {
    let flag = match &argument.placement {
        ArgumentPlacement::Flag(flag)
        | ArgumentPlacement::JoinedFlag(flag)
        | ArgumentPlacement::Switch(flag)
        | ArgumentPlacement::SwitchPair { if_true: flag, .. } => flag.trim_end_matches('='),
        ArgumentPlacement::Positional | ArgumentPlacement::Directory | ArgumentPlacement::Stdin => {
            ""
        }
    };
    let without_dashes = flag.trim_start_matches('-');
    let is_one_word = without_dashes
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let is_name = without_dashes.replace('-', "_") == argument.name;
    if flag.starts_with('-') && is_one_word && !is_name {
        without_dashes
    } else {
        ""
    }
}

fn limit_facts((target, limit): &(LimitTarget, Limit)) -> LimitFacts<'_> {
    LimitFacts::new(LimitOrigin::Config, *target, limit)
}

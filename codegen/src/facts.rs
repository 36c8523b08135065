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
        flag: flag_as_name(flag(&argument.placement), &argument.name),
        is_path: argument.is_path,
        limits: argument.limits.iter().map(limit_facts).collect(),
    }
}

/// The flag of an argument; empty if it has none.
fn flag(placement: &ArgumentPlacement) -> &str {
    match placement {
        ArgumentPlacement::Flag(flag)
        | ArgumentPlacement::JoinedFlag(flag)
        | ArgumentPlacement::Switch(flag)
        | ArgumentPlacement::SwitchPair { if_true: flag, .. } => flag,
        ArgumentPlacement::Positional | ArgumentPlacement::Directory | ArgumentPlacement::Stdin => {
            ""
        }
    }
}

/// A flag without dashes, unless that is the argument's name, too. Agents that know the program use it as a name.
fn flag_as_name<'f>(flag: &'f str, name: &str) -> &'f str {
    let is_part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let word = flag.trim_end_matches('=').trim_start_matches('-');
    let is_name = word.replace('-', "_") == name;
    if flag.starts_with('-') && word.chars().all(is_part_of_word) && !is_name {
        word
    } else {
        ""
    }
}

fn limit_facts((target, limit): &(LimitTarget, Limit)) -> LimitFacts<'_> {
    LimitFacts::new(LimitOrigin::Config, *target, limit)
}

#[cfg(test)]
mod tests {
    use super::flag_as_name;

    #[test]
    fn a_flag_can_be_used_as_a_name_if_it_is_one_word() {
        for (flag, name, expected) in [
            ("-n", "max_count", "n"),
            ("--name-only", "names_only", "name-only"),
            ("--sort=", "sort_by", "sort"),
            ("--dry-run", "dry_run", ""),
            ("old=", "old_text", ""),
            ("-c:v", "video_codec", ""),
            ("--", "format", ""),
            ("", "path", ""),
        ] {
            assert_eq!(flag_as_name(flag, name), expected, "{flag}");
        }
    }
}

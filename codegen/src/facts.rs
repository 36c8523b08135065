//! Turns the model into facts, from which the catalog is built.

use climax_catalog::facts::{ArgumentFacts, CliFacts, Facts, PlacementKind, ToolFacts};

use crate::model::{self, Arg, ArgumentPlacement};

/// What is known of all tools.
#[must_use]
pub fn facts(clis: &[model::Cli]) -> Facts<'_> {
    let tools = clis.iter().enumerate();
    let tools = tools.flat_map(|(number, cli)| cli.tools.iter().map(move |it| tool(number, it)));
    Facts {
        clis: clis.iter().map(cli).collect(),
        tools: tools.collect(),
        has_policy: false,
    }
}

fn cli(cli: &model::Cli) -> CliFacts<'_> {
    CliFacts {
        stem: &cli.stem,
        name: &cli.name,
        description: &cli.description,
        command: &cli.command,
        env: cli.env.iter().map(String::as_str).collect(),
        working_dir: cli.working_dir.as_deref(),
        category: cli.category.as_deref(),
        tags: cli.tags.iter().map(String::as_str).collect(),
    }
}

fn tool(cli: usize, tool: &model::Tool) -> ToolFacts<'_> {
    ToolFacts {
        cli,
        name: &tool.name,
        description: &tool.description,
        command: &tool.command,
        arguments: tool.args.iter().map(argument).collect(),
        timeout_ms: tool.timeout_ms,
        risk: tool.risk,
    }
}

fn argument(arg: &Arg) -> ArgumentFacts<'_> {
    ArgumentFacts {
        name: &arg.name,
        description: &arg.description,
        kind: arg.kind,
        required: arg.required,
        default: arg.default.clone(),
        choices: arg.choices.clone().unwrap_or_default(),
        placement: match arg.placement {
            ArgumentPlacement::Positional => PlacementKind::Positional,
            ArgumentPlacement::Flag(_)
            | ArgumentPlacement::JoinedFlag(_)
            | ArgumentPlacement::Switch(_) => PlacementKind::Flag,
            ArgumentPlacement::Directory => PlacementKind::Directory,
            ArgumentPlacement::Stdin => PlacementKind::Stdin,
        },
        limits: Vec::new(),
    }
}

//! Turns the model into the facts from which discovery works out the rest.

use climax_discovery::facts::{Argument, Cli, Facts, Place, Tool};

use serde_json::Value;

use crate::model;
use crate::model::{Arg, Catalog, Scalar};

/// What is known of all tools.
#[must_use]
pub fn facts(catalog: &Catalog) -> Facts<'_> {
    let clis = catalog.clis.iter().map(cli).collect();
    let tools = catalog.clis.iter().enumerate();
    let tools = tools.flat_map(|(number, cli)| cli.tools.iter().map(move |it| tool(number, it)));
    Facts {
        clis,
        tools: tools.collect(),
    }
}

fn cli(cli: &model::Cli) -> Cli<'_> {
    Cli {
        name: &cli.name,
        description: &cli.description,
        command: &cli.command,
        category: cli.category.as_deref(),
        tags: cli.tags.iter().map(String::as_str).collect(),
    }
}

fn tool(cli: usize, tool: &model::Tool) -> Tool<'_> {
    Tool {
        cli,
        name: &tool.name,
        description: &tool.description,
        command: &tool.command,
        arguments: tool.args.iter().map(argument).collect(),
        timeout_ms: tool.timeout_ms,
        risk: tool.risk,
    }
}

fn argument(arg: &Arg) -> Argument<'_> {
    let is_allowed = |value: &Value| {
        let limit = arg.limit.as_ref();
        limit.is_none_or(|limit| limit.bounds().allows(value))
    };
    Argument {
        name: &arg.name,
        description: &arg.description,
        kind: arg.kind,
        required: arg.required,
        default: arg.default.as_ref().map(Scalar::json),
        choices: arg
            .choices
            .iter()
            .flatten()
            .map(Scalar::json)
            .filter(is_allowed)
            .collect(),
        place: match arg.place {
            model::Place::Positional => Place::Positional,
            model::Place::Flag(_) => Place::Flag,
            model::Place::Directory => Place::Directory,
            model::Place::Stdin => Place::Stdin,
        },
        limits: arg
            .limit
            .iter()
            .map(climax_policy::limit::Limit::bounds)
            .collect(),
    }
}

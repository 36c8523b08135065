//! `list_tool_categories`: what there is.

use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::output::counted;
use climax_core::words::fold;
use serde::Serialize;

use super::{Answered, End, Finished, to_json};
use crate::catalog::selection::Selection;
use crate::search::UNCATEGORIZED;

/// The tool's name.
pub(super) const NAME: &str = "list_tool_categories";

/// The categories that the suite knows whether they have tools or not.
const USUAL: [&str; 8] = [
    "file_ops",
    "execution",
    "search",
    "web",
    "analysis",
    "development",
    "notebook",
    "workflow",
];
/// How many tools stand for a category, and how many CLIs describe it.
const REPRESENTATIVES: usize = 3;
const DESCRIBED: usize = 3;

/// A response without its end.
#[derive(Serialize)]
struct Body {
    categories: Vec<Category>,
    total_categories: usize,
    total_tools: u32,
}

#[derive(Serialize)]
struct Category {
    name: &'static str,
    description: String,
    tool_count: u32,
    clis: Vec<&'static str>,
    representative_tools: Vec<RepresentativeTool>,
}

#[derive(Serialize)]
struct RepresentativeTool {
    tool_id: &'static str,
    description: &'static str,
}

/// The category of a CLI, as it is written.
fn of(selection: &Selection, cli: &CliRow) -> &'static str {
    match cli.category.map(|category| selection.text(category)) {
        None | Some("") => UNCATEGORIZED,
        Some(category) => category,
    }
}

/// The categories that have tools, in the order of their CLIs. Case makes no difference.
pub(super) fn names(selection: &Selection) -> Vec<&'static str> {
    groups(selection)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// The categories that may be asked for.
pub(super) fn valid(selection: &Selection) -> Vec<&'static str> {
    let mut all = names(selection);
    for usual in USUAL {
        if !all.iter().any(|name| fold(name) == usual) {
            all.push(usual);
        }
    }
    all
}

fn groups(selection: &Selection) -> Vec<(&'static str, Vec<CliRow>)> {
    let mut groups: Vec<(&'static str, Vec<CliRow>)> = Vec::new();
    for cli in selection.clis() {
        let key = selection.text(cli.category_key);
        let same = groups.iter_mut().find(|(_, clis)| {
            clis.first()
                .is_some_and(|first| selection.text(first.category_key) == key)
        });
        match same {
            Some((_, clis)) => clis.push(cli),
            None => groups.push((of(selection, &cli), vec![cli])),
        }
    }
    groups
}

pub(super) fn answer(selection: &Selection) -> Answered {
    let groups = groups(selection);
    let categories = groups.iter().map(|(name, clis)| Category {
        name,
        description: description(selection, clis),
        tool_count: clis.iter().map(|cli| cli.tools.count).sum(),
        clis: clis.iter().map(|cli| selection.text(cli.name)).collect(),
        representative_tools: representatives(selection, clis),
    });
    let body = Body {
        categories: categories.collect(),
        total_categories: groups.len(),
        total_tools: selection.tool_count(),
    };
    let end = End::now();
    Answered {
        json: to_json(&Finished { body, end }),
        is_error: false,
        about: String::new(),
        results: groups.len(),
    }
}

/// What the first CLIs say about themselves, and how many others there are.
fn description(selection: &Selection, clis: &[CliRow]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cli in clis.iter().take(DESCRIBED) {
        let name = selection.text(cli.name);
        texts.push(match selection.text(cli.description) {
            "" => name.to_owned(),
            text => format!("{name}: {text}"),
        });
    }
    if clis.len() > DESCRIBED {
        let others = counted(clis.len() - DESCRIBED, "other CLI");
        texts.push(format!("and {others}"));
    }
    texts.join(" ")
}

/// The tools that have most in common with the others of the category.
fn representatives(selection: &Selection, clis: &[CliRow]) -> Vec<RepresentativeTool> {
    let notes = &selection.discovery().notes;
    let mut best: Vec<(u32, ToolRow)> = Vec::new();
    for cli in clis {
        for (number, tool) in cli.tools.numbers().zip(selection.tools_of(cli).iter()) {
            let centrality = notes.of(number).centrality;
            let at = best.partition_point(|(other, _)| *other >= centrality);
            if at < REPRESENTATIVES {
                best.insert(at, (centrality, tool));
                best.truncate(REPRESENTATIVES);
            }
        }
    }
    let tools = best.into_iter().map(|(_, tool)| RepresentativeTool {
        tool_id: selection.text(tool.name),
        description: selection.text(tool.description),
    });
    tools.collect()
}

/// How many of some tools are in each category, in the order in which they come.
pub(super) fn breakdown<'t>(
    selection: &Selection,
    tools: impl Iterator<Item = &'t ToolRow>,
) -> Vec<(&'static str, usize)> {
    let mut counts: Vec<(CliRow, usize)> = Vec::new();
    for tool in tools {
        let cli = selection.cli_of(tool);
        let key = |cli: &CliRow| selection.text(cli.category_key);
        match counts.iter_mut().find(|(known, _)| key(known) == key(&cli)) {
            Some((_, count)) => *count += 1,
            None => counts.push((cli, 1)),
        }
    }
    counts
        .into_iter()
        .map(|(cli, count)| (of(selection, &cli), count))
        .collect()
}

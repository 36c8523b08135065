//! `list_tool_categories`: groups the offered CLIs by category and describes each group.

use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::output::pluralize;
use climax_core::words::fold;
use serde::Serialize;

use super::{CompleteResponse, LookupResponse, ResponseFooter, to_json};
use crate::catalog::selection::Selection;
use crate::search::UNCATEGORIZED;

/// The tool's name.
pub(super) const NAME: &str = "list_tool_categories";

/// The categories that are valid filters even if no tool has them.
const STANDARD_CATEGORIES: [&str; 8] = [
    "file_ops",
    "execution",
    "search",
    "web",
    "analysis",
    "development",
    "notebook",
    "workflow",
];
/// The maximum number of representative tools per category.
const MAX_REPRESENTATIVES: usize = 3;
/// The maximum number of CLIs in the description of a category.
const MAX_DESCRIBED_CLIS: usize = 3;

#[derive(Serialize)]
struct CategoriesBody {
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

/// The category of a CLI, in the spelling of its config.
fn category_of(selection: &Selection, cli: &CliRow) -> &'static str {
    match cli.category.map(|category| selection.text(category)) {
        None | Some("") => UNCATEGORIZED,
        Some(category) => category,
    }
}

/// The categories that have tools, in the order of their CLIs.
pub(super) fn category_names(selection: &Selection) -> Vec<&'static str> {
    clis_by_category(selection)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// The categories that are valid filters.
pub(super) fn valid_categories(selection: &Selection) -> Vec<&'static str> {
    let mut all = category_names(selection);
    for standard in STANDARD_CATEGORIES {
        if !all.iter().any(|name| fold(name) == standard) {
            all.push(standard);
        }
    }
    all
}

/// Groups the offered CLIs by category, ignoring case.
fn clis_by_category(selection: &Selection) -> Vec<(&'static str, Vec<CliRow>)> {
    let mut groups: Vec<(&'static str, Vec<CliRow>)> = Vec::new();
    for cli in selection.clis() {
        let key = selection.text(cli.category_key);
        let same = groups.iter_mut().find(|(_, clis)| {
            clis.first()
                .is_some_and(|first| selection.text(first.category_key) == key)
        });
        match same {
            Some((_, clis)) => clis.push(cli),
            None => groups.push((category_of(selection, &cli), vec![cli])),
        }
    }
    groups
}

pub(super) fn respond(selection: &Selection) -> LookupResponse {
    let groups = clis_by_category(selection);
    let categories = groups.iter().map(|(name, clis)| Category {
        name,
        description: category_description(selection, clis),
        tool_count: clis.iter().map(|cli| cli.tools.count).sum(),
        clis: clis.iter().map(|cli| selection.text(cli.name)).collect(),
        representative_tools: representative_tools(selection, clis),
    });
    let body = CategoriesBody {
        categories: categories.collect(),
        total_categories: groups.len(),
        total_tools: selection.tool_count(),
    };
    let footer = ResponseFooter::now();
    LookupResponse {
        json: to_json(&CompleteResponse { body, footer }),
        is_error: false,
        subject: String::new(),
        result_count: groups.len(),
    }
}

/// The descriptions of the first CLIs, and the number of the others.
fn category_description(selection: &Selection, clis: &[CliRow]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cli in clis.iter().take(MAX_DESCRIBED_CLIS) {
        let name = selection.text(cli.name);
        texts.push(match selection.text(cli.description) {
            "" => name.to_owned(),
            text => format!("{name}: {text}"),
        });
    }
    if clis.len() > MAX_DESCRIBED_CLIS {
        let others = pluralize(clis.len() - MAX_DESCRIBED_CLIS, "other CLI");
        texts.push(format!("and {others}"));
    }
    texts.join(" ")
}

/// The tools that are most similar to the others of the category.
fn representative_tools(selection: &Selection, clis: &[CliRow]) -> Vec<RepresentativeTool> {
    let notes = &selection.discovery().notes;
    let mut best: Vec<(u32, ToolRow)> = Vec::new();
    for cli in clis {
        for (number, tool) in cli.tools.numbers().zip(selection.tools_of(cli).iter()) {
            let centrality = notes.of(number).centrality;
            let position = best.partition_point(|(other, _)| *other >= centrality);
            if position < MAX_REPRESENTATIVES {
                best.insert(position, (centrality, tool));
                best.truncate(MAX_REPRESENTATIVES);
            }
        }
    }
    let tools = best.into_iter().map(|(_, tool)| RepresentativeTool {
        tool_id: selection.text(tool.name),
        description: selection.text(tool.description),
    });
    tools.collect()
}

/// Counts tools by category, in order of first appearance.
pub(super) fn category_counts<'t>(
    selection: &Selection,
    tools: impl Iterator<Item = &'t ToolRow>,
) -> Vec<(&'static str, usize)> {
    let mut counts: Vec<(CliRow, usize)> = Vec::new();
    for tool in tools {
        let cli = selection.cli_of(tool);
        let key = |cli: &CliRow| selection.text(cli.category_key);
        match counts.iter_mut().find(|(other, _)| key(other) == key(&cli)) {
            Some((_, count)) => *count += 1,
            None => counts.push((cli, 1)),
        }
    }
    counts
        .into_iter()
        .map(|(cli, count)| (category_of(selection, &cli), count))
        .collect()
}

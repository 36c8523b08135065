//! `list_tool_categories`: what there is.

use climax_core::pieces::unquoted;
use climax_core::words::fold;
use serde_json::Value;

use super::json::Json;
use super::{Answered, finish};
use crate::catalog::selection::Selection;
use crate::catalog::{Cli, Piece, Tool};
use crate::commands::list::counted;
use crate::search::UNCATEGORIZED;

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

/// The category of a CLI, as it is written.
fn of(selection: &Selection, cli: &Cli) -> String {
    if selection.text(cli.category_key).is_empty() {
        return UNCATEGORIZED.to_owned();
    }
    parsed(selection, cli.category)
        .as_str()
        .unwrap_or(UNCATEGORIZED)
        .to_owned()
}

fn parsed(selection: &Selection, piece: Piece) -> Value {
    serde_json::from_str(&unquoted(selection.text(piece))).unwrap_or_default()
}

/// The categories that have tools, in the order of their CLIs. Case makes no difference.
pub(super) fn names(selection: &Selection) -> Vec<String> {
    groups(selection)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// The categories that may be asked for.
pub(super) fn valid(selection: &Selection) -> Vec<String> {
    let mut all = names(selection);
    for usual in USUAL {
        if !all.iter().any(|name| fold(name) == usual) {
            all.push(usual.to_owned());
        }
    }
    all
}

fn groups(selection: &Selection) -> Vec<(String, Vec<&'static Cli>)> {
    let mut groups: Vec<(String, Vec<&'static Cli>)> = Vec::new();
    for cli in selection.clis() {
        let key = selection.text(cli.category_key);
        let same = groups.iter_mut().find(|(_, clis)| {
            clis.first()
                .is_some_and(|first| selection.text(first.category_key) == key)
        });
        match same {
            Some((_, clis)) => clis.push(cli),
            None => groups.push((of(selection, cli), vec![cli])),
        }
    }
    groups
}

pub(super) fn answer(selection: &Selection) -> Answered {
    let mut json = Json::default();
    json.open('{');
    json.key("categories");
    json.open('[');
    let groups = groups(selection);
    for (name, clis) in &groups {
        json.open('{');
        json.field("name", name);
        json.field("description", &description(selection, clis));
        let tools: u32 = clis.iter().map(|cli| cli.tool_count).sum();
        json.raw_field("tool_count", &tools.to_string());
        json.texts("clis", clis.iter().map(|cli| selection.text(cli.name)));
        json.key("representative_tools");
        json.open('[');
        for tool in representatives(selection, clis) {
            json.open('{');
            json.raw_field("tool_id", selection.text(tool.head));
            json.close('}');
        }
        json.close(']');
        json.close('}');
    }
    json.close(']');
    json.raw_field("total_categories", &groups.len().to_string());
    json.raw_field("total_tools", &selection.tool_count().to_string());
    finish(&mut json);
    Answered {
        json: json.0,
        is_error: false,
        about: String::new(),
        results: groups.len(),
    }
}

/// What the first CLIs say about themselves, and how many others there are.
fn description(selection: &Selection, clis: &[&Cli]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for cli in clis.iter().take(DESCRIBED) {
        let name = selection.text(cli.name);
        texts.push(match parsed(selection, cli.description).as_str() {
            None | Some("") => name.to_owned(),
            Some(text) => format!("{name}: {text}"),
        });
    }
    if clis.len() > DESCRIBED {
        let others = counted(clis.len() - DESCRIBED, "other CLI");
        texts.push(format!("and {others}"));
    }
    texts.join(" ")
}

/// The tools that have most in common with the others of the category.
fn representatives(selection: &Selection, clis: &[&Cli]) -> Vec<&'static Tool> {
    let records = selection.discovery().records();
    let mut best: Vec<(u32, &'static Tool)> = Vec::new();
    for cli in clis {
        for (number, tool) in (cli.first_tool..).zip(selection.tools_of(cli)) {
            let centrality = records.record(number).map_or(0, |record| record.centrality);
            let at = best.partition_point(|(other, _)| *other >= centrality);
            if at < REPRESENTATIVES {
                best.insert(at, (centrality, tool));
                best.truncate(REPRESENTATIVES);
            }
        }
    }
    best.into_iter().map(|(_, tool)| tool).collect()
}

/// How many of some tools are in each category, in the order in which they come.
pub(super) fn breakdown<'t>(
    selection: &Selection,
    tools: impl Iterator<Item = &'t Tool>,
) -> Vec<(String, usize)> {
    let mut counts: Vec<(&Cli, usize)> = Vec::new();
    for tool in tools {
        let Some(cli) = selection.catalog.clis.get(tool.cli as usize) else {
            continue;
        };
        let key = |cli: &Cli| selection.text(cli.category_key);
        match counts.iter_mut().find(|(known, _)| key(known) == key(cli)) {
            Some((_, count)) => *count += 1,
            None => counts.push((cli, 1)),
        }
    }
    counts
        .into_iter()
        .map(|(cli, count)| (of(selection, cli), count))
        .collect()
}

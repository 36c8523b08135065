//! `climax search`: prints the tools that match a query, as a table or as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use climax_core::output::print;
use climax_core::risk::Risk;

use super::Failure;
use super::configuration::{Configuration, NamePosition, allowed};
use super::table::{Column, ColumnWidth, format_table};
use crate::catalog::Catalog;
use crate::catalog::selection::Selection;
use crate::search::reasons::match_reasons;
use crate::search::{FoundTool, MatchingTools, SearchQuery, SearchResponse, ToolMatch};

pub(super) const EXAMPLES: &str = "\
Examples:
  climax search undo the last commit
  climax search --limit 3 disk usage
  climax search --json list containers";

#[derive(clap::Args)]
pub(super) struct SearchArguments {
    /// A word that a tool contains, or the task in plain words
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print JSON, as `climax_search` returns it
    #[arg(long)]
    json: bool,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_result_count)]
    limit: usize,
    /// Policy file that restricts which tools are allowed; can be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

fn parse_result_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number from 1".to_owned()),
    }
}

const COLUMNS: [Column; 4] = [
    ("TOOL", ColumnWidth::Content),
    ("RISK", ColumnWidth::Content),
    ("DESCRIPTION", ColumnWidth::Share(3)),
    ("WHY", ColumnWidth::Share(2)),
];

pub(super) fn execute(
    catalog: &'static Catalog,
    arguments: &SearchArguments,
) -> Result<(), Failure> {
    let selection = allowed(
        catalog,
        (&[], NamePosition::AfterCommand),
        &arguments.policy,
        &|_, _| None,
    )?
    .selection;
    let service = Configuration::for_lookups(selection).service();
    let query = SearchQuery {
        text: Some(arguments.query.join(" ")),
        category: None,
        cli: None,
        limit: arguments.limit,
    };
    let response = service.search(&query);
    let text = match &response {
        SearchResponse::Tools(tools) if !arguments.json => {
            tools_table(service.selection(), tools, &arguments.query.join(" "))
        }
        _ => response.json(service.selection()) + "\n",
    };
    Ok(print(&text)?)
}

fn tools_table(selection: &Selection, tools: &MatchingTools, query: &str) -> String {
    if tools.results.is_empty() {
        return format!("No tool matches `{query}`. `climax list` lists all tools.\n");
    }
    let row = |found: &FoundTool, label: &str| {
        [
            selection.text(found.tool.name).to_owned(),
            found.tool.risk.map_or("", Risk::name).to_owned(),
            selection.text(found.tool.description).to_owned(),
            match_phrase(selection, tools, found, label),
        ]
    };
    let results = tools.results.iter().map(|found| row(found, "ranked"));
    let related = tools.related.iter().map(|found| row(found, "related"));
    let rows: Vec<_> = results.chain(related).collect();
    let mut text = format_table(COLUMNS, &rows);
    let count = tools.results.len();
    if tools.total > count {
        let _ = writeln!(
            text,
            "\n{count} of {} matches; use --limit for more",
            tools.total
        );
    }
    text
}

/// Why a tool matches. A ranked match begins with the label.
fn match_phrase(
    selection: &Selection,
    tools: &MatchingTools,
    found: &FoundTool,
    label: &str,
) -> String {
    match &found.tool_match {
        ToolMatch::Substring(substring_match) => substring_match.phrase().to_owned(),
        ToolMatch::Ranking(found) => format!(
            "{label}, {} confidence ({:.2}): {}",
            found.confidence().name(),
            found.score,
            match_reasons(selection, &tools.query_words, found).join(", ")
        ),
    }
}

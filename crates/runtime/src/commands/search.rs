//! `climax search`: prints the tools that match a query, as a table or as JSON.

use std::fmt::Write as _;
use std::path::PathBuf;

use climax_core::output::print;

use super::Failure;
use super::configuration::{Configuration, NamePosition, allowed};
use super::list::format_table;
use crate::catalog::Catalog;
use crate::discovery::{FoundTools, MAX_RESULTS_RANGE};

pub(super) const EXAMPLES: &str = "\
Examples:
  climax search undo the last commit
  climax search --limit 3 disk usage
  climax search --json list containers";

#[derive(clap::Args)]
pub(super) struct SearchArguments {
    /// The task, in plain words
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print JSON, as `search_mcp_tools` returns it
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
        Ok(number) if MAX_RESULTS_RANGE.contains(&number) => Ok(number),
        _ => Err(format!(
            "expected a number from {} to {}",
            MAX_RESULTS_RANGE.start(),
            MAX_RESULTS_RANGE.end()
        )),
    }
}

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
    let query = arguments.query.join(" ");
    let found = service.find_tools(&query, arguments.limit)?;
    let text = if arguments.json {
        found.json() + "\n"
    } else {
        results_table(&found, &query, arguments.limit)
    };
    Ok(print(&text)?)
}

fn results_table(found: &FoundTools, query: &str, limit: usize) -> String {
    let count = found.tools().len();
    if count == 0 {
        return format!("No tool matches `{query}`. `climax list` lists all tools.\n");
    }
    let rows: Vec<[String; 4]> = found
        .tools()
        .map(|tool| {
            [
                tool.name.to_owned(),
                tool.description.to_owned(),
                format!("{:.2} {}", tool.score, tool.confidence),
                tool.reasons.join(", "),
            ]
        })
        .collect();
    let mut text = format_table(["TOOL", "DESCRIPTION", "CONFIDENCE", "WHY"], &rows);
    if found.total > count {
        let hint = if limit < *MAX_RESULTS_RANGE.end() {
            "; use --limit for more"
        } else {
            ""
        };
        let _ = writeln!(text, "\n{count} of {} matches{hint}", found.total);
    }
    text
}

//! `climax search`: finds tools by what they do, as agents do.

use std::fmt::Write as _;
use std::path::PathBuf;

use climax_core::output::print;

use super::Failure;
use super::configuration::{Configuration, allowed};
use super::list::format_table;
use crate::catalog::Catalog;
use crate::discovery::{FoundTools, RESULTS};

#[derive(clap::Args)]
pub(super) struct SearchArguments {
    /// What is to be done, in plain words
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print JSON, as `search_mcp_tools` answers
    #[arg(long)]
    json: bool,
    /// How many results at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_result_count)]
    limit: usize,
    /// A policy that says which tools are allowed; may be given several times
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

fn parse_result_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if RESULTS.contains(&number) => Ok(number),
        _ => Err(format!(
            "it is a number from {} to {}",
            RESULTS.start(),
            RESULTS.end()
        )),
    }
}

pub(super) fn execute(
    catalog: &'static Catalog,
    arguments: &SearchArguments,
) -> Result<(), Failure> {
    let selection = allowed(catalog, &[], &arguments.policy, &|_, _| None)?.selection;
    let service = Configuration::of_lookups(selection).service();
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
    let shown = found.tools().len();
    if shown == 0 {
        return format!("Nothing fits `{query}`. `climax list` shows all tools.\n");
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
    if found.total > shown {
        let more = if limit < *RESULTS.end() {
            "; more with --limit"
        } else {
            ""
        };
        let _ = writeln!(text, "\n{shown} of {} that fit{more}", found.total);
    }
    text
}

//! `climax search`: finds tools by what they do, as agents do.

use std::path::PathBuf;

use climax_core::output::print;

use super::Failure;
use super::configuration::allowed;
use crate::catalog::Catalog;
use crate::discovery;

#[derive(clap::Args)]
pub(super) struct SearchArguments {
    /// What is to be done, in plain words
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Print JSON, as `search_mcp_tools` answers
    #[arg(long)]
    json: bool,
    /// How many results at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = result_count)]
    limit: usize,
    /// A policy that says which tools are allowed; may be given several times
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
}

fn result_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=50) => Ok(number),
        _ => Err("it is a number from 1 to 50".to_owned()),
    }
}

pub(super) fn execute(
    catalog: &'static Catalog,
    arguments: &SearchArguments,
) -> Result<(), Failure> {
    let selection = allowed(catalog, &[], &arguments.policy, &|_, _| None)?.selection;
    let query = arguments.query.join(" ");
    if let Some(problem) = discovery::problem(&query) {
        return Err(problem.into());
    }
    let text = if arguments.json {
        discovery::json(&selection, &query, arguments.limit)
    } else {
        discovery::table(&selection, &query, arguments.limit)
    };
    Ok(print(&text)?)
}

//! The response of a search, and its JSON, which is assembled from baked entries.

use climax_catalog::rows::ByteRange;
use climax_catalog::tables::{CliRow, ToolRow};
use climax_discovery::query::QueryWord;
use serde_json::json;

use super::matches::SubstringMatch;
use super::ranked::{Confidence, RankedMatch};
use crate::catalog::selection::Selection;

/// The response to a query.
pub(crate) enum SearchResponse {
    /// The first CLIs up to the limit of the query, and the number of all.
    Summary {
        clis: Vec<CliRow>,
        total: usize,
    },
    Tools(MatchingTools),
}

/// The tools that match a query: together at most as many as its limit.
pub(crate) struct MatchingTools {
    /// The best matches first.
    pub(crate) results: Vec<FoundTool>,
    /// Whether the results are the tools that rank best, because no tool contains the whole query.
    pub(crate) is_ranked: bool,
    /// Other tools that rank well, if the results contain the whole query.
    pub(crate) related: Vec<FoundTool>,
    /// The words that ranked tools were looked up by.
    pub(crate) query_words: Vec<QueryWord>,
    /// Names of CLIs or categories that are close to a filter without matches.
    pub(crate) did_you_mean: Vec<&'static str>,
    /// The number of all matches of the kind that the results are.
    pub(crate) total: usize,
}

/// A tool that matches a query.
pub(crate) struct FoundTool {
    pub(crate) tool: ToolRow,
    pub(crate) tool_match: ToolMatch,
}

/// Why a tool matches a query.
pub(crate) enum ToolMatch {
    /// It contains the query.
    Substring(SubstringMatch),
    /// It has words of the query.
    Ranking(RankedMatch),
}

impl From<RankedMatch> for FoundTool {
    fn from(found: RankedMatch) -> Self {
        Self {
            tool: found.tool,
            tool_match: ToolMatch::Ranking(found),
        }
    }
}

impl SearchResponse {
    /// The number of CLIs or tools in the response.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Summary { clis, .. } => clis.len(),
            Self::Tools(tools) => tools.results.len() + tools.related.len(),
        }
    }

    /// The response of `climax_search`.
    pub(crate) fn json(&self, selection: &Selection) -> String {
        let (mut json, returned, total) = match self {
            Self::Summary { clis, total } => {
                let mut json = String::from(r#"{"mode":"summary","summary":"#);
                push_array(&mut json, selection, clis.iter().map(|cli| cli.summary));
                (json, clis.len(), *total)
            }
            Self::Tools(tools) => (tools.fields(selection), tools.results.len(), tools.total),
        };
        if total > returned {
            json += r#","total_matches":"#;
            json += &total.to_string();
        }
        json.push('}');
        json
    }
}

impl MatchingTools {
    /// Whether even the best ranked result is probably not the right tool.
    fn has_low_confidence(&self) -> bool {
        let best = self.results.first().map(|found| &found.tool_match);
        matches!(best, Some(ToolMatch::Ranking(best)) if best.confidence() == Confidence::Low)
    }

    /// The beginning of the JSON object, up to the total.
    fn fields(&self, selection: &Selection) -> String {
        let mut json = String::from(r#"{"mode":"search","results":"#);
        push_array(
            &mut json,
            selection,
            self.results.iter().map(|found| found.tool.entry),
        );
        if self.is_ranked {
            json += r#","match":"ranked""#;
        }
        if self.has_low_confidence() {
            json += r#","confidence":"low""#;
        }
        if !self.related.is_empty() {
            json += r#","related":"#;
            push_array(
                &mut json,
                selection,
                self.related.iter().map(|found| found.tool.entry),
            );
        }
        if !self.did_you_mean.is_empty() {
            json += r#","did_you_mean":"#;
            json += &json!(self.did_you_mean).to_string();
        }
        json
    }
}

/// Adds an array of baked JSON values.
fn push_array(json: &mut String, selection: &Selection, values: impl Iterator<Item = ByteRange>) {
    json.push('[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            json.push(',');
        }
        *json += selection.text(value);
    }
    json.push(']');
}

//! Finds tools for `climax_search`, and writes its answers from pieces that were baked.

use climax_core::words::{fold, is_filler, words};
use memchr::memmem::Finder;

use crate::catalog::{Cli, Tool};
use crate::selection::Selection;

/// What a search asks for. A filter that is absent lets everything through.
pub(crate) struct Query {
    /// Text to be found.
    pub(crate) text: Option<String>,
    /// The category of the CLI.
    pub(crate) category: Option<String>,
    /// The name of the CLI.
    pub(crate) cli: Option<String>,
    /// How many results at most.
    pub(crate) limit: usize,
}

/// The JSON that answers a search.
pub(crate) fn search(selection: &Selection, query: &Query) -> String {
    if query.text.is_none() && query.category.is_none() && query.cli.is_none() {
        summary(selection, query.limit)
    } else {
        results(selection, query)
    }
}

fn summary(selection: &Selection, limit: usize) -> String {
    let mut json = String::from(r#"{"mode":"summary","summary":["#);
    let mut total = 0;
    for cli in selection.clis() {
        if total < limit {
            separate(&mut json, total);
            json += selection.text(cli.summary_head);
            json += &cli.tool_count.to_string();
            json += selection.text(cli.summary_tail);
        }
        total += 1;
    }
    close(json, total, limit)
}

fn results(selection: &Selection, query: &Query) -> String {
    let needle = query.text.as_deref().map(fold).unwrap_or_default();
    let clis = Filtered::new(selection, query);
    let mut hits = substring_hits(selection, &clis, &needle, query.limit);
    let mut is_ranked = false;
    if hits.total == 0 && needle.split_whitespace().nth(1).is_some() {
        hits = ranked_hits(selection, &clis, &needle, query.limit);
        is_ranked = hits.total > 0;
    }
    let mut json = String::from(r#"{"mode":"search","results":["#);
    for (number, tool) in hits.best.iter().enumerate() {
        separate(&mut json, number);
        entry(&mut json, selection, tool);
    }
    if is_ranked {
        json += r#"],"match":"ranked""#;
        return close_after_list(json, hits.total, query.limit);
    }
    close(json, hits.total, query.limit)
}

/// One search result.
pub(crate) fn entry(json: &mut String, selection: &Selection, tool: &Tool) {
    json.push_str(r#"{"tool_name":"#);
    json.push_str(selection.text(tool.head));
    if let Some(cli) = selection.catalog.clis.get(tool.cli as usize) {
        json.push_str(selection.text(cli.entry_middle));
    }
    json.push_str(selection.text(tool.schema));
    json.push('}');
}

fn separate(json: &mut String, before: usize) {
    if before > 0 {
        json.push(',');
    }
}

fn close(mut json: String, total: usize, limit: usize) -> String {
    json.push(']');
    close_after_list(json, total, limit)
}

/// Says how many there are if that is more than were given.
fn close_after_list(mut json: String, total: usize, limit: usize) -> String {
    if total > limit {
        json += r#","total_matches":"#;
        json += &total.to_string();
    }
    json.push('}');
    json
}

/// What was found: the best, and how many in all.
struct Hits {
    best: Vec<&'static Tool>,
    total: usize,
}

/// The CLIs that pass the filters.
struct Filtered<'s> {
    selection: &'s Selection,
    category: Option<String>,
    cli: Option<String>,
}

impl<'s> Filtered<'s> {
    fn new(selection: &'s Selection, query: &Query) -> Self {
        Self {
            selection,
            category: query.category.as_deref().map(fold),
            cli: query.cli.as_deref().map(fold),
        }
    }

    fn passes(&self, cli: &Cli) -> bool {
        let equals = |filter: &Option<String>, key| {
            filter
                .as_deref()
                .is_none_or(|filter| filter.is_empty() || self.selection.text(key) == filter)
        };
        equals(&self.category, cli.category_key) && equals(&self.cli, cli.name_key)
    }

    /// The tools of these CLIs, in catalog order. CLIs that are neighbours come as one run, so that
    /// a search goes over their text in one go.
    fn runs(&self) -> Vec<&'static [Tool]> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for cli in self.selection.clis().filter(|cli| self.passes(cli)) {
            let first = cli.first_tool as usize;
            let end = first + cli.tool_count as usize;
            match runs.last_mut() {
                Some(run) if run.1 == first => run.1 = end,
                _ => runs.push((first, end)),
            }
        }
        let tools = self.selection.catalog.tools;
        runs.into_iter()
            .filter_map(|(first, end)| tools.get(first..end))
            .collect()
    }
}

/// How well a tool matches, best first.
const RANKS: usize = 4;
const EXACT_NAME: usize = 0;
const WORD_OF_NAME: usize = 1;
const PART_OF_NAME: usize = 2;
const REST: usize = 3;

fn substring_hits(selection: &Selection, clis: &Filtered<'_>, needle: &str, limit: usize) -> Hits {
    let haystack = selection.catalog.haystack;
    let mut ranks: [Vec<&'static Tool>; RANKS] = Default::default();
    let mut total = 0;
    each_match(haystack, &clis.runs(), needle, |tool| {
        total += 1;
        let rank = &mut ranks[rank(haystack, tool, needle)];
        if rank.len() < limit {
            rank.push(tool);
        }
    });
    let best = ranks.into_iter().flatten().take(limit).collect();
    Hits { best, total }
}

fn rank(haystack: &str, tool: &Tool, needle: &str) -> usize {
    let line = tool.haystack.of(haystack);
    // A tool's name is ASCII, so folding keeps its length.
    let name = line.get(..tool.name.1 as usize).unwrap_or_default();
    if name == needle {
        EXACT_NAME
    } else if !name.contains(needle) || needle.is_empty() {
        REST
    } else if words(name).any(|word| word == needle) {
        WORD_OF_NAME
    } else {
        PART_OF_NAME
    }
}

/// Calls `found` with each tool whose line contains the needle.
fn each_match(
    haystack: &'static str,
    runs: &[&'static [Tool]],
    needle: &str,
    mut found: impl FnMut(&'static Tool),
) {
    let finder = Finder::new(needle);
    let start = |tool: &Tool| tool.haystack.0 as usize;
    let end = |tool: &Tool| start(tool) + tool.haystack.1 as usize;
    for &run in runs {
        let mut tools = run;
        let limit = run.last().map_or(0, end);
        while let Some(first) = tools.first() {
            let rest = haystack
                .as_bytes()
                .get(start(first)..limit)
                .unwrap_or_default();
            let Some(offset) = finder.find(rest) else {
                break;
            };
            let at = start(first) + offset;
            let index = tools.partition_point(|tool| end(tool) < at + needle.len());
            let Some(tool) = tools.get(index) else {
                break;
            };
            // A needle with a line break can match across two lines.
            if start(tool) <= at {
                found(tool);
                tools = &tools[index + 1..];
            } else {
                tools = &tools[index..];
            }
        }
    }
}

/// The binary logarithm of a positive number, to one decimal. The system's would be exact, and cost
/// each start the loading of a library.
fn log2(number: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = number.to_bits();
    #[expect(clippy::cast_precision_loss, reason = "eleven bits")]
    let exponent = (bits >> 52) as f64 - 1023.0;
    // The number's digits as one between 1 and 2, where a line is near the curve.
    let digits = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    exponent + (digits - 1.0)
}

/// Tools that have some of the words, the best first: rare words and words of the name count more.
fn ranked_hits(selection: &Selection, clis: &Filtered<'_>, needle: &str, limit: usize) -> Hits {
    let haystack = selection.catalog.haystack;
    let runs = clis.runs();
    let tool_count: usize = runs.iter().map(|run| run.len()).sum();
    let mut scores: Vec<(f64, &'static Tool)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for word in words(needle) {
        if is_filler(word) || seen.contains(&word) {
            continue;
        }
        seen.push(word);
        let mut matches = Vec::new();
        each_match(haystack, &runs, word, |tool| matches.push(tool));
        #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
        let weight = log2(1.0 + tool_count as f64 / matches.len().max(1) as f64);
        for tool in matches {
            let factor = match rank(haystack, tool, word) {
                EXACT_NAME | WORD_OF_NAME => 3.0,
                PART_OF_NAME => 1.5,
                _ => 1.0,
            };
            scores.push((weight * factor, tool));
        }
    }
    // Add up the scores of each tool, in catalog order.
    scores.sort_by_key(|(_, tool)| tool.haystack.0);
    scores.dedup_by(|(score, tool), (sum, kept)| {
        let same = tool.haystack.0 == kept.haystack.0;
        if same {
            *sum += *score;
        }
        same
    });
    // Stable: ties stay in catalog order.
    scores.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let total = scores.len();
    let best = scores
        .into_iter()
        .take(limit)
        .map(|(_, tool)| tool)
        .collect();
    Hits { best, total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithm_is_nearly_right() {
        for number in [1.0, 1.5, 2.0, 3.0, 10.0, 12345.0, 0.25] {
            let difference = log2(number) - f64::log2(number);
            assert!(difference.abs() < 0.1, "{number}: {difference}");
        }
    }
}

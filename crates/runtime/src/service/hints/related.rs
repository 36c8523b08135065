//! Finds the tools that an agent may mean with an unknown tool name or an unknown argument.

use std::cmp::Reverse;
use std::collections::HashSet;

use climax_catalog::tables::{CliRow, ToolRow};
use climax_core::risk::{Risk, assumed_risk};
use climax_core::words::{fold, words};
use climax_discovery::rank::RankingMode;
use climax_discovery::synonyms::synonyms_of_verb;
use climax_policy::limit::truncate_for_message;

use serde_json::Value;

use super::correction::{fitting_keys, given_arguments, is_dry_run, is_switch};
use crate::call::CallRequest;
use crate::call::argument_names::{MAX_KEY_BYTES, argument_names, fold_separators, meant_name};
use crate::call::plan::CallInput;
use crate::catalog::selection::Selection;
use crate::search::offered_tools;
use crate::search::ranked::{RankedMatch, RankedMatches, find_ranked};

/// How many tools an unknown name may stand for.
const MAX_RELATED_TOOLS: usize = 6;
/// How many tools a search for an unknown name finds.
const MAX_FOUND_TOOLS: usize = 3;
/// The lowest score of the best tool that counts. Names of tools that do not exist get less.
const MIN_SUGGESTED_SCORE: f64 = 0.1;
/// How many switches a search adds to an unknown name.
const MAX_SEARCHED_KEYS: usize = 3;
/// Longer values of unknown arguments name no tool.
const MAX_NAMED_VALUE_BYTES: usize = 24;
/// Arguments with which other servers choose a subcommand.
const SUBCOMMAND_KEYS: [&str; 9] = [
    "action",
    "args",
    "cmd",
    "command",
    "command_line",
    "op",
    "operation",
    "subcommand",
    "verb",
];

/// What an unknown tool name may stand for.
pub(super) struct RelatedTools {
    /// The most probable ones first.
    pub(super) names: Vec<&'static str>,
    /// Whether the first one is so probably meant that a call may be corrected to it.
    pub(super) is_certain: bool,
    /// The words of the name that no tool has.
    pub(super) unknown_words: Vec<String>,
}

/// The tool whose name an unknown name is a typo of, with that name.
pub(super) fn similar_tool(
    selection: &Selection,
    unknown_name: &str,
) -> Option<(ToolRow, &'static str)> {
    let may_mean = may_mean(selection, unknown_name);
    let names = selection.names_similar_to(unknown_name).into_iter();
    let names = names.filter(|name| has_similar_words(name, unknown_name));
    let mut tools = names.filter_map(|name| Some((selection.find_tool(name)?.1, name)));
    tools.find(|(tool, _)| may_mean(tool))
}

/// Whether each word of a name shares a letter with that of another name: `mv_file` is no typo of `jq_file`. Names with
/// another number of words can be typos, too.
fn has_similar_words(name: &str, other: &str) -> bool {
    are_alike(name, other, |word, other| {
        word.chars().any(|c| other.contains(c))
    })
}

/// Whether the words of two names begin with the same letters. `git_stage` probably does not mean `git_unstage`.
pub(super) fn begins_alike(name: &str, other: &str) -> bool {
    are_alike(name, other, |word, other| {
        word.chars().next() == other.chars().next()
    })
}

fn are_alike(name: &str, other: &str, is_alike: impl Fn(&str, &str) -> bool) -> bool {
    let other = fold_separators(other);
    let is_same_count = words(name).count() == words(&other).count();
    let mut pairs = words(name).zip(words(&other));
    !is_same_count || pairs.all(|(word, other)| is_alike(word, other))
}

/// Whether a value switches nothing on.
fn is_absent(value: &Value) -> bool {
    value.is_null() || *value == Value::Bool(false)
}

/// The only word of a text: `hard` for `--hard`.
fn only_word(text: &str) -> Option<&str> {
    let mut words = words(text);
    let word = words.next()?;
    words.next().is_none().then_some(word)
}

/// The tools whose names continue that of a tool: `git_switch_create` for `git_switch`.
pub(super) fn continued_names(selection: &Selection, name: &str) -> Vec<&'static str> {
    let prefix = format!("{name}_");
    let names = selection.clis().flat_map(|cli| {
        let tools = selection.tools_of(&cli).iter();
        tools.map(|tool| selection.text(tool.name))
    });
    let names = names.filter(|other| other.starts_with(&prefix));
    names.take(MAX_RELATED_TOOLS).collect()
}

/// The tools that an unknown name may stand for: tools that run a program of this name, have it as a keyword, or have a
/// name with the same meaning, and tools whose name continues it. Those come first that have a word of the request in
/// their name, take most of the given arguments and have the lowest risk. If only names continue it, a search adds more.
pub(super) fn related_tools(
    selection: &Selection,
    unknown_program: &str,
    request: &CallRequest,
) -> RelatedTools {
    let unknown_name = fold_separators(unknown_program);
    let unknown_name = unknown_name.as_str();
    // `git_remotes` may mean `git_remote_list`.
    let singular = unknown_name.strip_suffix('s').unwrap_or(unknown_name);
    let prefixes = [unknown_name, singular].map(|name| format!("{name}_"));
    let tools = selection.clis().flat_map(|cli| {
        let base = selection.text(cli.command);
        let tools = selection.tools_of(&cli).iter();
        tools.map(move |tool| (base, tool))
    });
    let meaning = WordsAndSynonyms::new(unknown_name);
    let mut named_count = 0;
    let mut related: Vec<ToolRow> = tools
        .filter(|(base, tool)| {
            let words = base.split_whitespace();
            let mut words = words.chain(selection.text(tool.command).split_whitespace());
            let program = words.find(|word| *word != "env" && !word.contains('='));
            let mut keywords = selection.tables.list(tool.keywords);
            let name = selection.text(tool.name);
            let has_name = program == Some(unknown_program)
                || keywords.any(|keyword| keyword == unknown_name)
                || meaning.is_of(name);
            named_count += usize::from(has_name);
            has_name || prefixes.iter().any(|prefix| name.starts_with(prefix))
        })
        .map(|(_, tool)| tool)
        .collect();
    // The sort is stable, so equal tools stay in catalog order.
    related.sort_by_cached_key(|tool| {
        let (fitting, _) = fitting_keys(selection, tool, request);
        (
            Reverse(words_in_common(selection, tool, request)),
            Reverse(fitting),
            assumed_risk(tool.risk),
        )
    });
    let names = related.iter().map(|tool| selection.text(tool.name));
    let mut found = RelatedTools {
        names: names.collect(),
        is_certain: named_count == 1 && related.len() == 1
            || is_the_only_fitting(selection, &related, request),
        unknown_words: Vec::new(),
    };
    if named_count == 0 {
        add_searched_tools(selection, request, unknown_name, &mut found);
    }
    found.names.truncate(MAX_RELATED_TOOLS);
    found
}

/// Whether the first tool is the only one that takes all of the given arguments, and reads.
fn is_the_only_fitting(selection: &Selection, tools: &[ToolRow], request: &CallRequest) -> bool {
    let takes_all = |tool: &&ToolRow| {
        let (fitting, count) = fitting_keys(selection, tool, request);
        count > 0 && fitting == count
    };
    let first = tools.first().filter(takes_all);
    let is_safe = first.is_some_and(|tool| tool.risk == Some(Risk::Read));
    is_safe && tools.iter().filter(takes_all).count() == 1
}

/// The words of an unknown name with their synonyms: `npm_list` means `npm_ls`.
struct WordsAndSynonyms(Vec<Vec<String>>);

impl WordsAndSynonyms {
    fn new(name: &str) -> Self {
        Self(words(name).map(synonyms_of_verb).collect())
    }

    fn is_of(&self, name: &str) -> bool {
        let mut synonyms = self.0.iter();
        let are_same = words(name).all(|word| {
            let synonyms = synonyms.next();
            synonyms.is_some_and(|synonyms| synonyms.iter().any(|synonym| synonym == word))
        });
        are_same && synonyms.next().is_none()
    }
}

/// Adds the tools that a search finds for an unknown name; if there are no others, also for the name and the arguments
/// that are switched on.
fn add_searched_tools(
    selection: &Selection,
    request: &CallRequest,
    unknown_name: &str,
    related: &mut RelatedTools,
) {
    let may_mean = may_mean(selection, unknown_name);
    let switches =
        given_arguments(request).filter(|(key, value)| is_switch(value) && !is_dry_run(key));
    let switches = switches
        .map(|(key, _)| key.as_str())
        .take(MAX_SEARCHED_KEYS);
    let texts: Vec<String> = [unknown_name]
        .into_iter()
        .chain(switches)
        .map(fold)
        .collect();
    let query: Vec<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let own_words = words(&texts[0]).count();
    let found = find(selection, &query[..own_words].join(" "), &may_mean);
    let mut names = names_of(selection, &found);
    if related.names.is_empty() {
        if query.len() > own_words {
            let with_switches = find(selection, &query.join(" "), &may_mean);
            names.extend(names_of(selection, &with_switches));
        }
        let words = found.ranked.words.iter().filter(|word| !word.is_known());
        related.unknown_words = words.map(|word| word.text.clone()).collect();
    }
    // Tools that take more of the given arguments come first.
    let fitting = |name: &&str| {
        let tool = selection.find_tool(name);
        tool.map_or(0, |(_, tool)| fitting_keys(selection, &tool, request).0)
    };
    names.sort_by_cached_key(|name| Reverse(fitting(name)));
    for name in names {
        if !related.names.contains(&name) {
            related.names.push(name);
        }
    }
}

/// How many words of the name and keywords of a tool a request has in keys that fit no argument, and in values of keys
/// that choose a subcommand.
fn words_in_common(selection: &Selection, tool: &ToolRow, request: &CallRequest) -> usize {
    let names = argument_names(selection, tool);
    let is_unfitting = |key: &str, value: &Value| {
        let counts = key.len() <= MAX_KEY_BYTES && !is_absent(value);
        counts && meant_name(key, value, &names).is_none()
    };
    let given = given_arguments(request);
    let mut requested = HashSet::new();
    for (key, value) in given.filter(|(key, value)| is_unfitting(key, value)) {
        let key = fold(key);
        let value = value
            .as_str()
            .filter(|_| SUBCOMMAND_KEYS.contains(&key.as_str()));
        let value = fold(&truncate_for_message(value.unwrap_or_default()));
        requested.extend(words(&key).chain(words(&value)).map(str::to_owned));
    }
    let name = fold(selection.text(tool.name));
    let own = words(&name).chain(selection.tables.list(tool.keywords));
    own.filter(|word| requested.contains(*word)).count()
}

/// Whether a tool may be meant by an unknown name. If the name begins with that of a CLI or of its program, as
/// `git_remove` does, only its tools may be meant.
fn may_mean<'s>(
    selection: &'s Selection,
    unknown_name: &str,
) -> impl Fn(&ToolRow) -> bool + use<'s> {
    let folded = fold(unknown_name);
    let first_word = words(&folded).next().unwrap_or_default().to_owned();
    let has_that_name = move |cli: &CliRow| {
        let program = selection.text(cli.command).split_whitespace().next();
        selection.text(cli.name_key) == first_word || program == Some(first_word.as_str())
    };
    let is_restricted = selection.clis().any(|cli| has_that_name(&cli));
    move |tool| !is_restricted || has_that_name(&selection.cli_of(tool))
}

/// Searches for tools among those that may be meant.
fn find(selection: &Selection, query: &str, may_mean: &dyn Fn(&ToolRow) -> bool) -> RankedMatches {
    let offered = offered_tools(selection, None);
    let is_candidate =
        |number| offered.contains(number) && may_mean(&selection.tools().get(number));
    let mode = RankingMode::Hybrid;
    let mut found = find_ranked(selection, query, mode, MAX_FOUND_TOOLS, is_candidate);
    found.keep_useful();
    found
}

/// The names of the tools that a search found, unless even the best one is improbable.
fn names_of(selection: &Selection, found: &RankedMatches) -> Vec<&'static str> {
    let is_plausible = |best: &RankedMatch| best.score >= MIN_SUGGESTED_SCORE;
    let plausible = found.best.first().filter(|best| is_plausible(best));
    let best = found.best.iter().filter(|_| plausible.is_some());
    best.map(|found| selection.text(found.tool.name)).collect()
}

/// The tools that the description of a tool names.
pub(super) fn tools_in_description(
    selection: &Selection,
    input: &CallInput<'_>,
) -> Vec<&'static str> {
    let description = selection.text(input.tool().description);
    let names = description.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = names.filter(|name| name.contains('_') && *name != input.tool_name());
    let tools = names.filter_map(|name| selection.find_tool(name));
    let names = tools.map(|(_, tool)| selection.text(tool.name));
    names.take(MAX_RELATED_TOOLS).collect()
}

/// Tools of the same CLI that have an unknown argument or its value in their name: `git_reset_hard`, for `hard: true` or
/// `mode: "hard"` of `git_reset`. They share another word with the tool's name, apart from its first, which is often the
/// program.
pub(super) fn tools_named_by_unknown_arguments(
    selection: &Selection,
    input: &CallInput<'_>,
) -> Vec<&'static str> {
    let unknown = input.unknown_arguments_given();
    if unknown.is_empty() {
        return Vec::new();
    }
    let called = input.tool_name();
    let own_words: Vec<String> = words(&fold(called)).map(str::to_owned).collect();
    // `count: 3` names no tool that counts.
    let keys = unknown.iter();
    let keys = keys.filter(|(_, value)| !value.is_number() && !is_absent(value));
    let keys = keys.map(|(key, _)| fold(key));
    let values = unknown.iter().filter_map(|(_, value)| value.as_str());
    let values = values
        .filter(|value| value.len() <= MAX_NAMED_VALUE_BYTES)
        .map(fold);
    let texts: Vec<String> = keys.chain(values).collect();
    let given: HashSet<&str> = texts
        .iter()
        .filter_map(|text| only_word(text))
        .filter(|word| !own_words.iter().any(|own| own == word))
        .collect();
    let is_shared = |word: &str| own_words.iter().skip(1).any(|own| own == word);
    let cli = selection.cli_of(input.tool());
    let names = selection.tools_of(&cli).iter();
    let names = names.map(|tool| selection.text(tool.name));
    let is_named = |name: &&str| {
        let name = fold(name);
        words(&name).any(is_shared) && words(&name).any(|word| given.contains(word))
    };
    let related = names.filter(|name| *name != called).filter(is_named);
    related.take(MAX_RELATED_TOOLS).collect()
}

/// The tools of the same CLI that share a word of the called tool's name, and take all of the given arguments:
/// `read_lines`, for `start_line` of `read_file`. Their risk is not higher.
pub(super) fn tools_that_take_more(
    selection: &Selection,
    input: &CallInput<'_>,
) -> Vec<&'static str> {
    let (tool, request) = (input.tool(), input.request());
    let takes_all = |tool: &ToolRow| {
        let (fitting, count) = fitting_keys(selection, tool, request);
        fitting == count
    };
    if takes_all(tool) {
        return Vec::new();
    }
    let cli = selection.cli_of(tool);
    let program = selection.text(cli.command).split_whitespace().next();
    let cli_name = selection.text(cli.name_key);
    let called = fold(input.tool_name());
    let own_words = words(&called).filter(|word| *word != cli_name && Some(*word) != program);
    let own_words: HashSet<&str> = own_words.collect();
    let siblings = selection.tools_of(&cli).iter();
    let may_be_meant = |other: &ToolRow| {
        assumed_risk(other.risk) <= assumed_risk(tool.risk)
            && other.name != tool.name
            && takes_all(other)
    };
    let names = siblings
        .filter(may_be_meant)
        .map(|other| selection.text(other.name));
    let alike = names.filter(|name| words(&fold(name)).any(|word| own_words.contains(word)));
    alike.take(MAX_RELATED_TOOLS).collect()
}

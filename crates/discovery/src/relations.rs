//! Finds related tools by the verbs and nouns in their names.

use std::collections::{BTreeSet, HashMap};

use climax_catalog::facts::{Facts, PlacementKind, ToolFacts};

use crate::synonyms::{normalise_name, synonyms_of};
use crate::tokens::{TermStemmer, for_each_word};
use crate::vectors::Vectors;

/// The tool numbers of the tools related to a tool, the most similar first.
#[derive(Default)]
pub struct Relations {
    /// Tools that could be used instead.
    pub alternatives: Vec<u32>,
    /// Tools with a different verb for the same object.
    pub complementary: Vec<u32>,
    /// Tools that list possible values of its arguments.
    pub prerequisites: Vec<u32>,
}

/// The maximum number of related tools of each kind.
const MAX_ALTERNATIVES: usize = 3;
const MAX_COMPLEMENTARY: usize = 8;
const MAX_PREREQUISITES: usize = 3;

/// The number of tools before and after a tool that are compared with it. Related tools are usually close to
/// each other in a config, and comparing thousands would take too long.
const WINDOW_TOOLS: usize = 256;

/// The minimum similarity of alternatives from different CLIs with the same nouns. This value and the next
/// three were tuned by hand on the bundled tools.
const MIN_SIMILARITY_OTHER_CLI_SAME_NOUNS: f64 = 0.25;
/// The minimum similarity of alternatives from different CLIs with different nouns.
const MIN_SIMILARITY_OTHER_CLI: f64 = 0.32;
/// The minimum similarity of alternatives from one CLI if one name extends the other: `git_commit_amend`
/// extends `git_commit`.
const MIN_SIMILARITY_VARIANT: f64 = 0.25;
/// The minimum similarity of other alternatives from one CLI.
const MIN_SIMILARITY_SAME_CLI: f64 = 0.85;

/// Verbs in tool names, one group of synonyms per line.
const VERB_GROUPS: &str = "\
    list ls ps see\n\
    show view get inspect describe info cat read display print explain\n\
    search find grep query\n\
    create add new init make mkdir\n\
    delete remove rm rmi uninstall drop prune\n\
    update edit set modify patch change\n\
    rename mv move\n\
    copy cp\n\
    run exec execute\n\
    push upload send post\n\
    pull fetch download\n\
    log logs\n\
    diff compare\n\
    undo revert rollback reset\n\
    checkout switch\n\
    up\ndown\nstart\nstop\nrestart\nreload\nclone\ninstall\nupgrade\nenable\ndisable\nopen\nclose\nmerge\nbuild\ntest\ncheck\n\
    checks\napply\nabort\ncontinue\npop\ncommit\ncomment\nreview\nimport\nexport\nwrite\nappend\ntouch\nhead\ntail\nsort\ncount\n\
    wait\nscale\nrestore\nsave\nload\nconnect\ndisconnect\nlogin\nlogout\nlock\nunlock\nwatch\nvalidate\nverify\nrerun\n\
    status\nstats\nhistory\npreview";

/// Words in argument names that do not identify an object.
const GENERIC_WORDS: &str = "name names id ids number key index ref";

/// What a tool does, and to what kind of object.
struct Action {
    /// The verb in the name.
    verb: Option<String>,
    /// The index of the verb's group in [`VERB_GROUPS`].
    verb_group: Option<usize>,
    /// The stems of the other words in the name, without the words of the CLI's name.
    nouns: BTreeSet<String>,
    /// For a tool that lists or searches: the stems of what it lists, from the name and the beginning of the
    /// description.
    listed: BTreeSet<String>,
}

/// Finds the related tools of each tool.
#[must_use]
pub fn relations(facts: &Facts<'_>, vectors: &Vectors) -> Vec<Relations> {
    let stemmer = TermStemmer::default();
    let actions: Vec<Action> = facts
        .tools
        .iter()
        .map(|tool| action(&stemmer, facts.cli_of(tool).name, tool))
        .collect();
    let mut by_verb: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_cli: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, action) in actions.iter().enumerate() {
        by_cli
            .entry(facts.tools[number].cli)
            .or_default()
            .push(number);
        if let Some(verb) = &action.verb {
            by_verb.entry(verb.clone()).or_default().push(number);
        }
    }
    let context = RelationContext {
        facts,
        vectors,
        stemmer,
        actions,
        by_verb,
        by_cli,
    };
    (0..facts.tools.len())
        .map(|tool| context.relations(tool))
        .collect()
}

/// The other tools of a group within the window around a tool.
fn neighbours(group: &[usize], tool: usize) -> impl Iterator<Item = usize> {
    let position = group.partition_point(|other| *other < tool);
    let window =
        &group[position.saturating_sub(WINDOW_TOOLS)..group.len().min(position + WINDOW_TOOLS)];
    window.iter().copied().filter(move |other| *other != tool)
}

fn action(stemmer: &TermStemmer, cli: &str, tool: &ToolFacts<'_>) -> Action {
    let words_of = |text: &str| {
        let mut words = Vec::new();
        for_each_word(text, &mut |word| words.push(word.to_owned()));
        words
    };
    let cli_words = words_of(cli);
    let name = words_of(tool.name);
    let mut words: Vec<&String> = name
        .iter()
        .filter(|word| !cli_words.contains(word))
        .collect();
    // If there are several verbs, the last one is the action: `run_list` lists runs.
    let position = words
        .iter()
        .rposition(|word| find_verb_group(word).is_some());
    let verb = position.map(|position| words.remove(position).clone());
    let verb_group = verb.as_deref().and_then(find_verb_group);
    let nouns: BTreeSet<String> = words
        .iter()
        .map(|word| stemmer.stem(word).into_owned())
        .collect();
    let clause = tool
        .description
        .split(['.', ',', ':', ';', '('])
        .next()
        .unwrap_or_default();
    let clause = words_of(clause);
    let first_word = clause.first().map(String::as_str);
    let description_verb_group = first_word.and_then(find_verb_group);
    let [list, search] = ["list", "search"].map(find_verb_group);
    let mut listed = BTreeSet::new();
    if verb_group.is_some() && [list, search].contains(&verb_group) {
        listed.extend(nouns.iter().cloned());
    }
    if [description_verb_group, verb_group].contains(&list) {
        let words = clause.iter().skip(1).take(3);
        listed.extend(words.map(|word| stemmer.stem(word).into_owned()));
    }
    Action {
        verb,
        verb_group,
        nouns,
        listed,
    }
}

/// The index of the group in [`VERB_GROUPS`] that contains a word.
fn find_verb_group(word: &str) -> Option<usize> {
    VERB_GROUPS
        .lines()
        .position(|line| line.split_ascii_whitespace().any(|verb| verb == word))
}

/// All tools with their actions, and the tools of each verb and of each CLI.
struct RelationContext<'f> {
    facts: &'f Facts<'f>,
    vectors: &'f Vectors,
    stemmer: TermStemmer,
    actions: Vec<Action>,
    by_verb: HashMap<String, Vec<usize>>,
    by_cli: HashMap<usize, Vec<usize>>,
}

impl RelationContext<'_> {
    fn relations(&self, tool: usize) -> Relations {
        let cli = self.facts.tools[tool].cli;
        let same_cli = || neighbours(&self.by_cli[&cli], tool);
        let verb = self.actions[tool].verb.as_ref();
        let same_verb = verb
            .into_iter()
            .flat_map(|verb| neighbours(&self.by_verb[verb], tool));
        Relations {
            alternatives: self.most_similar(
                tool,
                MAX_ALTERNATIVES,
                same_verb.filter(|other| self.is_alternative(tool, *other)),
            ),
            complementary: self.most_similar(
                tool,
                MAX_COMPLEMENTARY,
                same_cli().filter(|other| self.is_complementary(tool, *other)),
            ),
            prerequisites: self.most_similar(
                tool,
                MAX_PREREQUISITES,
                same_cli().filter(|other| self.is_prerequisite(tool, *other)),
            ),
        }
    }

    /// The candidates that are most similar to a tool, the most similar first.
    fn most_similar(
        &self,
        tool: usize,
        limit: usize,
        candidates: impl Iterator<Item = usize>,
    ) -> Vec<u32> {
        let similarity = |candidate| (self.vectors.similarity(tool, candidate), candidate);
        let mut candidates: Vec<(f64, usize)> = candidates.map(similarity).collect();
        candidates
            .sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let most_similar = candidates.into_iter().take(limit);
        most_similar
            .filter_map(|(_, candidate)| u32::try_from(candidate).ok())
            .collect()
    }

    /// Whether a tool with the same verb is an alternative: the nouns of one include those of the other, and the
    /// tools are similar enough.
    fn is_alternative(&self, tool: usize, other: usize) -> bool {
        let (action, other_action) = (&self.actions[tool], &self.actions[other]);
        let [tool_facts, other_facts] = [tool, other].map(|number| &self.facts.tools[number]);
        let extends = |name: &str, prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|next: char| !next.is_alphanumeric()))
        };
        let (name, other_name) = (tool_facts.name, other_facts.name);
        let is_same_cli = tool_facts.cli == other_facts.cli;
        let min_similarity = if !is_same_cli && action.nouns == other_action.nouns {
            MIN_SIMILARITY_OTHER_CLI_SAME_NOUNS
        } else if !is_same_cli {
            MIN_SIMILARITY_OTHER_CLI
        } else if extends(name, other_name) || extends(other_name, name) {
            MIN_SIMILARITY_VARIANT
        } else {
            MIN_SIMILARITY_SAME_CLI
        };
        let (nouns, other_nouns) = (&action.nouns, &other_action.nouns);
        let has_same_object = nouns.is_subset(other_nouns) || other_nouns.is_subset(nouns);
        has_same_object && self.vectors.similarity(tool, other) >= min_similarity
    }

    /// Whether a tool has a different verb for the same object: the same nouns, or a required argument in common.
    fn is_complementary(&self, tool: usize, other: usize) -> bool {
        let (action, other_action) = (&self.actions[tool], &self.actions[other]);
        if action.verb_group == other_action.verb_group {
            return false;
        }
        let has_same_nouns = !action.nouns.is_empty() && action.nouns == other_action.nouns;
        let tools = &self.facts.tools;
        let has_common_argument = tools[tool].required().any(|argument| {
            // Paths and generic names are too common to relate two tools.
            let is_specific = !is_generic(argument.name) && !is_path(argument.name);
            let mut other_arguments = tools[other].required();
            is_specific && other_arguments.any(|other| other.name == argument.name)
        });
        has_same_nouns || has_common_argument
    }

    /// Whether a tool lists possible values of a required argument without requiring that argument itself.
    fn is_prerequisite(&self, tool: usize, other: usize) -> bool {
        let listed = &self.actions[other].listed;
        // A tool that creates an object takes a new name, which no tool lists.
        if listed.is_empty() || self.actions[tool].verb_group == find_verb_group("create") {
            return false;
        }
        let tools = &self.facts.tools;
        let mut arguments = tools[tool]
            .required()
            .filter(|argument| argument.placement != PlacementKind::Stdin);
        arguments.any(|argument| {
            let mut other_arguments = tools[other].required();
            let other_requires_it = other_arguments.any(|other| other.name == argument.name);
            !other_requires_it && self.is_listed(tool, argument.name, listed)
        })
    }

    /// Whether an argument of a tool takes one of the listed objects.
    fn is_listed(&self, tool: usize, argument: &str, listed: &BTreeSet<String>) -> bool {
        let nouns = &self.actions[tool].nouns;
        let mut argument_nouns = BTreeSet::new();
        for_each_word(argument, &mut |word| {
            if !is_generic(word) {
                argument_nouns.insert(self.stemmer.stem(word).into_owned());
            }
        });
        let is_path = is_path(argument);
        // A path can identify the tool's object, such as a Git worktree. It does if a tool of the CLI lists such
        // objects.
        let is_path_of_object = |cli: &usize| {
            let tools = self.by_cli[cli].iter();
            let mut lists = tools.map(|tool| &self.actions[*tool].listed);
            !nouns.is_empty()
                && !nouns.contains("file")
                && lists.any(|listed| nouns.is_subset(listed))
        };
        if argument_nouns.is_empty() || is_path && is_path_of_object(&self.facts.tools[tool].cli) {
            return !nouns.is_empty() && nouns.is_subset(listed);
        }
        is_path && listed.contains("file") || argument_nouns.is_subset(listed)
    }
}

/// Whether an argument name is a synonym of `path`.
fn is_path(argument: &str) -> bool {
    synonyms_of("path").contains(&normalise_name(argument))
}

fn is_generic(word: &str) -> bool {
    GENERIC_WORDS
        .split_ascii_whitespace()
        .any(|generic| generic == word)
}

//! Tells which tools go together, by what their names say they do and to what.

use std::collections::{BTreeSet, HashMap};

use climax_catalog::facts::{Facts, PlacementKind, Tool};

use crate::synonyms::{names_for, plain};
use crate::tokens::{Tokeniser, words};
use crate::vectors::Vectors;

/// The tools that go with a tool, by number, the nearest first.
#[derive(Default)]
pub struct Relations {
    /// They could be used in its place.
    pub alternatives: Vec<u32>,
    /// They do something else with the same thing.
    pub complementary: Vec<u32>,
    /// They tell what it needs.
    pub prerequisites: Vec<u32>,
}

/// How many tools of each kind are told.
const MOST_ALTERNATIVES: usize = 3;
const MOST_COMPLEMENTARY: usize = 8;
const MOST_PREREQUISITES: usize = 3;

/// How many tools before and after a tool are looked at: in a config what goes together is near, and
/// thousands of tools would take too long.
const WINDOW: usize = 256;

/// How near tools with the same verb must be to be alternatives: of different CLIs with the same nouns, and
/// with others; of the same CLI, and there where one's name goes on where the other's ends. Chosen by
/// looking at the bundled tools.
const NEAR_ELSEWHERE: f64 = 0.25;
const NEAR_OTHERWISE: f64 = 0.32;
const NEAR_HERE: f64 = 0.85;
const NEAR_VARIANT: f64 = 0.25;

/// Words that say what is done; those in a line do the same.
const VERBS: &str = "\
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

/// Words in names of arguments that do not say what the thing is.
const GENERAL: &str = "name names id ids number key index ref";

/// What a tool does, and to what.
struct Action {
    /// The verb, if there is one in the name.
    word: Option<String>,
    /// Its line.
    verb: Option<usize>,
    /// The other words of the name, without the CLI's, as terms.
    nouns: BTreeSet<String>,
    /// What it lists or searches, if it does: words of its name and of the beginning of its description.
    listed: BTreeSet<String>,
}

/// The relations of each tool.
#[must_use]
pub fn relations(facts: &Facts<'_>, vectors: &Vectors) -> Vec<Relations> {
    let tokeniser = Tokeniser::default();
    let actions: Vec<Action> = facts
        .tools
        .iter()
        .map(|tool| action(&tokeniser, facts.cli_of(tool).name, tool))
        .collect();
    let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_cli: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, action) in actions.iter().enumerate() {
        by_cli
            .entry(facts.tools[number].cli)
            .or_default()
            .push(number);
        if let Some(word) = &action.word {
            by_word.entry(word.clone()).or_default().push(number);
        }
    }
    let finder = Finder {
        facts,
        vectors,
        tokeniser,
        actions,
        by_word,
        by_cli,
    };
    (0..facts.tools.len())
        .map(|tool| finder.relations(tool))
        .collect()
}

/// The others of a group, as far as they are near.
fn near(group: &[usize], tool: usize) -> impl Iterator<Item = usize> {
    let at = group.partition_point(|other| *other < tool);
    let window = &group[at.saturating_sub(WINDOW)..group.len().min(at + WINDOW)];
    window.iter().copied().filter(move |other| *other != tool)
}

fn action(tokeniser: &Tokeniser, cli: &str, tool: &Tool<'_>) -> Action {
    let own = |text: &str| {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        found
    };
    let of_cli = own(cli);
    let name = own(tool.name);
    let mut rest: Vec<&String> = name.iter().filter(|word| !of_cli.contains(word)).collect();
    // The last verb is what is done: `branch_list`, and `pr_checkout`.
    let at = rest.iter().rposition(|word| verb(word).is_some());
    let word = at.map(|at| rest.remove(at).clone());
    let verb = word.as_deref().and_then(self::verb);
    let nouns: BTreeSet<String> = rest
        .iter()
        .map(|word| tokeniser.stem(word).into_owned())
        .collect();
    let clause = tool
        .description
        .split(['.', ',', ':', ';', '('])
        .next()
        .unwrap_or_default();
    let clause = own(clause);
    let first = clause.first().map(String::as_str).and_then(self::verb);
    let mut listed = BTreeSet::new();
    if verb.is_some() && [self::verb("list"), self::verb("search")].contains(&verb) {
        listed.extend(nouns.iter().cloned());
    }
    if [first, verb].contains(&self::verb("list")) {
        let words = clause.iter().skip(1).take(3);
        listed.extend(words.map(|word| tokeniser.stem(word).into_owned()));
    }
    Action {
        word,
        verb,
        nouns,
        listed,
    }
}

/// The line of a verb.
fn verb(word: &str) -> Option<usize> {
    VERBS
        .lines()
        .position(|line| line.split_ascii_whitespace().any(|verb| verb == word))
}

struct Finder<'f> {
    facts: &'f Facts<'f>,
    vectors: &'f Vectors,
    tokeniser: Tokeniser,
    actions: Vec<Action>,
    by_word: HashMap<String, Vec<usize>>,
    by_cli: HashMap<usize, Vec<usize>>,
}

impl Finder<'_> {
    fn relations(&self, tool: usize) -> Relations {
        let cli = self.facts.tools[tool].cli;
        let of_cli = || near(&self.by_cli[&cli], tool);
        let word = self.actions[tool].word.as_ref();
        let same_verb = word
            .into_iter()
            .flat_map(|word| near(&self.by_word[word], tool));
        Relations {
            alternatives: self.nearest(
                tool,
                MOST_ALTERNATIVES,
                same_verb.filter(|other| self.is_alternative(tool, *other)),
            ),
            complementary: self.nearest(
                tool,
                MOST_COMPLEMENTARY,
                of_cli().filter(|other| self.is_complementary(tool, *other)),
            ),
            prerequisites: self.nearest(
                tool,
                MOST_PREREQUISITES,
                of_cli().filter(|other| self.is_prerequisite(tool, *other)),
            ),
        }
    }

    /// The nearest tools, the nearest first.
    fn nearest(&self, tool: usize, most: usize, others: impl Iterator<Item = usize>) -> Vec<u32> {
        let similarity = |other| (self.vectors.similarity(tool, other), other);
        let mut others: Vec<(f64, usize)> = others.map(similarity).collect();
        others.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let nearest = others.into_iter().take(most);
        nearest
            .filter_map(|(_, other)| u32::try_from(other).ok())
            .collect()
    }

    /// The same verb, and the same thing or a variant of it.
    fn is_alternative(&self, tool: usize, other: usize) -> bool {
        let (one, two) = (&self.actions[tool], &self.actions[other]);
        let [tool_facts, other_facts] = [tool, other].map(|it| &self.facts.tools[it]);
        let begins = |one: &str, other: &str| {
            one.strip_prefix(other)
                .is_some_and(|rest| rest.starts_with(|it: char| !it.is_alphanumeric()))
        };
        let (name, others) = (tool_facts.name, other_facts.name);
        let needed = if tool_facts.cli != other_facts.cli && one.nouns == two.nouns {
            NEAR_ELSEWHERE
        } else if tool_facts.cli != other_facts.cli {
            NEAR_OTHERWISE
        } else if begins(name, others) || begins(others, name) {
            NEAR_VARIANT
        } else {
            NEAR_HERE
        };
        let is_same = one.nouns.is_subset(&two.nouns) || two.nouns.is_subset(&one.nouns);
        is_same && self.vectors.similarity(tool, other) >= needed
    }

    /// Another verb, and the same thing: by name, or by an argument that both must have.
    fn is_complementary(&self, tool: usize, other: usize) -> bool {
        let (one, two) = (&self.actions[tool], &self.actions[other]);
        if one.verb == two.verb {
            return false;
        }
        let is_same = !one.nouns.is_empty() && one.nouns == two.nouns;
        let tools = &self.facts.tools;
        let shares = tools[tool].required().any(|mine| {
            // What half of all tools have says nothing.
            let is_telling =
                !is_general(mine.name) && !names_for("path").contains(&plain(mine.name));
            let mut theirs = tools[other].required();
            is_telling && theirs.any(|theirs| theirs.name == mine.name)
        });
        is_same || shares
    }

    /// It lists what an argument needs that must be given, and does not need the same itself.
    fn is_prerequisite(&self, tool: usize, other: usize) -> bool {
        let listed = &self.actions[other].listed;
        // What is created has a name that nothing lists.
        if listed.is_empty() || self.actions[tool].verb == verb("create") {
            return false;
        }
        let tools = &self.facts.tools;
        let mut named = tools[tool]
            .required()
            .filter(|it| it.placement != PlacementKind::Stdin);
        named.any(|argument| {
            let needs_same = tools[other].required().any(|it| it.name == argument.name);
            !needs_same && self.is_listed(tool, argument.name, listed)
        })
    }

    fn is_listed(&self, tool: usize, argument: &str, listed: &BTreeSet<String>) -> bool {
        let nouns = &self.actions[tool].nouns;
        let mut things = BTreeSet::new();
        words(argument, |word| {
            if !is_general(word) {
                things.insert(self.tokeniser.stem(word).into_owned());
            }
        });
        let is_path = names_for("path").contains(&plain(argument));
        // A path of something that is listed itself is one of those: that of a worktree.
        let is_of_noun = |cli: &usize| {
            let tools = self.by_cli[cli].iter();
            let mut lists = tools.map(|tool| &self.actions[*tool].listed);
            !nouns.is_empty()
                && !nouns.contains("file")
                && lists.any(|listed| nouns.is_subset(listed))
        };
        if things.is_empty() || is_path && is_of_noun(&self.facts.tools[tool].cli) {
            return !nouns.is_empty() && nouns.is_subset(listed);
        }
        is_path && listed.contains("file") || things.is_subset(listed)
    }
}

/// Whether a word does not say what the thing is.
fn is_general(word: &str) -> bool {
    GENERAL
        .split_ascii_whitespace()
        .any(|general| general == word)
}

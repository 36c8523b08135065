//! Finds the CLIs that a query names: "use jq to ...", "... with tar".

use std::borrow::Cow;
use std::ops::Range;

use climax_catalog::facts::Facts;
use climax_catalog::rows::{ByteRange, RowRange, Table, to_u32};

climax_catalog::tables! {
    /// The CLIs by name.
    CliNames {
        /// The lower-case names.
        text: Cow<'static, str>,
        /// The CLIs, sorted by name.
        rows: Table<CliName>,
    }
}

climax_catalog::row! {
    /// The name of a CLI and its tools.
    CliName {
        /// Its name in lower case.
        name: ByteRange,
        /// Its tools.
        tools: RowRange,
    }
}

/// Collects the names of the CLIs.
pub(crate) fn build_cli_names(facts: &Facts<'_>) -> CliNames {
    let mut clis: Vec<(String, Range<usize>)> = Vec::new();
    for (number, cli) in facts.clis.iter().enumerate() {
        let start = facts.tools.partition_point(|tool| tool.cli < number);
        let end = facts.tools.partition_point(|tool| tool.cli <= number);
        clis.push((cli.name.to_lowercase(), start..end));
    }
    clis.sort_by(|one, other| one.0.cmp(&other.0));
    let mut names = CliNames::default();
    for (name, tools) in clis {
        let row = CliName {
            name: ByteRange(to_u32(names.text.len()), to_u32(name.len())),
            tools: RowRange {
                first: to_u32(tools.start),
                count: to_u32(tools.len()),
            },
        };
        names.text.to_mut().push_str(&name);
        names.rows.push(&row);
    }
    names
}

impl CliNames {
    /// The tools of the CLIs with a name, which is in lower case.
    pub(crate) fn tools(&self, name: &str) -> impl Iterator<Item = u32> {
        let rows = self.rows.rows();
        let (mut start, mut end) = (0, to_u32(rows.len()));
        while start < end {
            let middle = u32::midpoint(start, end);
            if rows.get(middle).name.of(&self.text) < name {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        let same_name = (start..to_u32(rows.len())).map(move |number| rows.get(number));
        let same_name = same_name.take_while(move |row| row.name.of(&self.text) == name);
        same_name.flat_map(|row| row.tools.numbers())
    }
}

/// The words of a query that probably name a CLI, in lower case.
pub(crate) fn mentioned_names(query: &str) -> Vec<String> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut names: Vec<String> = Vec::new();
    if let [first, _, ..] = words[..]
        && let Some(name) = first.strip_suffix(':')
    {
        names.extend(name_at_start(name));
    }
    for (position, word) in words.iter().enumerate() {
        let after = &words[position + 1..];
        let after = match after {
            ["the", rest @ ..] => rest,
            _ => after,
        };
        let [name, rest @ ..] = after else {
            continue;
        };
        let is_mention = match word.to_ascii_lowercase().as_str() {
            "with" | "using" | "via" => true,
            "use" => matches!(rest, ["to" | "for" | "and", ..]),
            "in" | "through" | "by" | "of" | "from" => is_end(rest),
            _ => false,
        };
        if is_mention {
            names.extend(name_at_start(name));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a query ends here, but for a word such as "command".
fn is_end(rest: &[&str]) -> bool {
    match rest {
        [] => true,
        [word] => {
            let word = word.trim_end_matches(['.', '?', '!']);
            ["command", "tool", "cli"].contains(&word.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}

/// The name that a word begins with, without the punctuation that follows.
fn name_at_start(word: &str) -> Option<String> {
    let is_in_name =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | '+' | '-');
    let end = word.find(|character| !is_in_name(character));
    let name = word[..end.unwrap_or(word.len())].trim_end_matches('.');
    (!name.is_empty()).then(|| name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mentioned_by_use_with_and_at_the_end() {
        for (query, expected) in [
            ("jq: pick a field", &["jq"][..]),
            ("Use the git-lfs to track files", &["git-lfs"]),
            ("pack a folder with tar, quickly", &["tar"]),
            ("list pods using kubectl.", &["kubectl"]),
            ("show commits in git", &["git"]),
            ("read a field of the jq command?", &["jq"]),
            ("in git show commits", &[]),
            ("use tar", &[]),
            ("a word:", &[]),
            ("", &[]),
        ] {
            assert_eq!(mentioned_names(query), expected, "{query}");
        }
    }
}

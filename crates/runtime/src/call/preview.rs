//! Shows the command lines of calls as a user would type them.

use std::borrow::Cow;

use bumpalo::Bump;
use climax_catalog::tables::ToolRow;
use serde_json::{Map, Value};

use crate::catalog::selection::Selection;
use climax_arguments::argv::Argv;

/// A call's command line as a user would type it, its standard input and its working directory. Environment
/// variables are not expanded.
pub(crate) struct CallPreview {
    pub(crate) command_line: String,
    pub(crate) stdin: Option<String>,
    pub(crate) directory: Option<String>,
}

/// Previews a call without running it. Returns `None` if the call would be refused.
pub(crate) fn preview(
    selection: &Selection,
    number: u32,
    tool: &ToolRow,
    arguments: &Map<String, Value>,
) -> Option<CallPreview> {
    let cli = selection.cli_of(tool);
    let arena = Bump::new();
    let base = selection.text(cli.command);
    let argv = Argv::new_preview(base, selection.text(tool.command), &arena);
    // The base command may contain variables, which quotes would hide from a shell.
    let base_words = base.split_whitespace().count();
    let argv = selection.command_line((number, tool), arguments, argv, Vec::new());
    let argv = argv.ok()?;
    let (base, rest) = argv.words.split_at(base_words);
    let words = base.iter().map(|word| Cow::Borrowed(word.as_ref()));
    let words = words.chain(rest.iter().map(|word| shell_quoted(word)));
    Some(CallPreview {
        command_line: words.collect::<Vec<_>>().join(" "),
        stdin: argv.stdin.map(str::to_owned),
        directory: argv.directory.map(str::to_owned),
    })
}

/// The words of a command line as a user would type them.
pub(crate) fn shell_command(words: &[Cow<'_, str>]) -> String {
    let words = words.iter().map(|word| shell_quoted(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if it needs quotes.
fn shell_quoted(word: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || "_@%+=:,./-".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_a_shell_if_it_needs_quotes() {
        for (word, expected) in [
            ("a-b/c.txt", "a-b/c.txt"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(shell_quoted(word), expected);
        }
    }
}

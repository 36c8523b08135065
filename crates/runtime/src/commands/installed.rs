//! Finds the program that a tool starts, and whether it is installed on this machine.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use climax_catalog::tables::ToolRow;

use crate::call::expand::expand;
use crate::catalog::selection::Selection;

/// The program that a tool starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolProgram {
    /// Its name or path, with variables expanded.
    pub(super) name: String,
    /// Whether an executable file of this name exists. A name without `/` is looked up in `PATH`.
    pub(super) is_installed: bool,
}

/// Looks up the program that a tool starts. Returns `None` if the base command expands to nothing.
pub(super) fn find_program(selection: &Selection, tool: &ToolRow) -> Option<ToolProgram> {
    let cli = selection.cli_of(tool);
    let base = expand(selection.text(cli.command));
    let name = program_name(&base, selection.text(tool.command))?;
    // A config can set the `PATH` of its commands.
    let path = selection
        .tables
        .list(cli.env)
        .find_map(|variable| variable.strip_prefix("PATH="))
        .map_or_else(|| env::var_os("PATH"), |path| Some(OsString::from(path)));
    let directory = cli
        .working_dir
        .map(|directory| PathBuf::from(&*expand(selection.text(directory))))
        .or_else(|| env::current_dir().ok())
        .unwrap_or_default();
    Some(ToolProgram {
        is_installed: which::which_in(name, path, directory).is_ok(),
        name: name.to_owned(),
    })
}

/// The program of a command line: its first word, or the first word after `env` and its options and variables.
fn program_name<'a>(base: &'a str, command: &'a str) -> Option<&'a str> {
    let mut base = base.split_whitespace();
    let first = base.next()?;
    if first != "env" {
        return Some(first);
    }
    let mut words = base.chain(command.split_whitespace());
    let started = words.find(|word| !word.starts_with('-') && !word.contains('='));
    Some(started.unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_word_or_what_env_starts() {
        for (base, command, program) in [
            ("git", "log --oneline", Some("git")),
            ("/opt/bin/report --plain", "make", Some("/opt/bin/report")),
            ("env", "apt-get install", Some("apt-get")),
            ("env -i LC_ALL=C", "ss --tcp", Some("ss")),
            ("env", "", Some("env")),
            (" ", "log", None),
        ] {
            assert_eq!(program_name(base, command), program, "{base} {command}");
        }
    }
}

//! Finds the programs that tools run.

use std::env;
use std::path::PathBuf;

use climax_catalog::tables::ToolRow;
use climax_runner::find_program;

use crate::catalog::selection::Selection;
use climax_arguments::expand::expand;

/// The program that a tool runs, and where it is installed.
pub(super) struct ToolProgram {
    /// The name as the command line has it.
    pub(super) name: String,
    /// `None` if it is not installed.
    pub(super) path: Option<PathBuf>,
}

impl ToolProgram {
    /// Finds the program of a tool.
    pub(super) fn of(selection: &Selection, tool: &ToolRow) -> Self {
        let cli = selection.cli_of(tool);
        let base = expand(selection.text(cli.command));
        let command = selection.text(tool.command);
        let words = base.split_whitespace().chain(command.split_whitespace());
        let variables = selection.tables.list(cli.env);
        let directory = cli.working_dir.map(|piece| expand(selection.text(piece)));
        Self::of_words(words, variables, directory.as_deref())
    }

    /// Finds the program of a command line that runs in a directory. `variables` are those that the config sets:
    /// it can set the `PATH` of its commands.
    pub(super) fn of_words<'a>(
        words: impl Iterator<Item = &'a str>,
        variables: impl Iterator<Item = &'a str>,
        directory: Option<&str>,
    ) -> Self {
        let name = program_name(words);
        let current = env::current_dir().unwrap_or_default();
        let directory = directory.map_or(current.clone(), |directory| current.join(directory));
        Self {
            name: name.to_owned(),
            path: find_program(name, variables, &directory).ok(),
        }
    }

    /// The path, or the name with a remark that it is not installed.
    pub(super) fn description(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("{} (not installed)", self.name),
        }
    }
}

/// The program of a command line: its first word, or the first word after `env` and its options and variables.
fn program_name<'a>(mut words: impl Iterator<Item = &'a str>) -> &'a str {
    let first = words.next().unwrap_or_default();
    if first != "env" {
        return first;
    }
    let mut words = words.filter(|word| !word.starts_with('-') && !word.contains('='));
    words.next().unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_program_is_found_along_the_path_that_the_config_sets() {
        let find = |word: &str, path: &str, directory: Option<&str>| {
            ToolProgram::of_words([word].into_iter(), [path].into_iter(), directory).path
        };
        let shell = Some(Path::new("/bin/sh"));
        assert_eq!(find("sh", "PATH=/nowhere:/bin", None).as_deref(), shell);
        assert_eq!(find("sh", "PATH=/nowhere", None), None);
        assert_eq!(find("/bin/sh", "PATH=/nowhere", None).as_deref(), shell);
        assert!(find("bin/sh", "PATH=/nowhere", Some("/")).is_some());
        assert_eq!(find("/no/such/program", "X=1", None), None);
    }

    #[test]
    fn the_program_is_the_first_word_or_what_env_starts() {
        for (command, program) in [
            ("git log --oneline", "git"),
            ("/opt/bin/report --plain", "/opt/bin/report"),
            ("env apt-get install", "apt-get"),
            ("env -i LC_ALL=C ss --tcp", "ss"),
            ("env", "env"),
        ] {
            assert_eq!(program_name(command.split_whitespace()), program);
        }
    }
}

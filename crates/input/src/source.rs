//! Turns paths into files that were read, configs in a fixed order.

use std::fs;
use std::path::{Path, PathBuf};

use crate::code::Code;
use crate::diagnostic::Diagnostic;

/// A config or a policy.
pub struct Source {
    /// The path as messages show it.
    pub path: String,
    /// The file's name without its ending, by which users pick a CLI.
    pub stem: String,
    /// The file's name.
    pub file_name: String,
    /// What is in it. What is not UTF-8 is replaced.
    pub text: String,
    /// Where the first byte is that is not.
    pub not_text: Option<usize>,
}

/// The files of a build.
pub struct Sources {
    /// All of them: the configs, and after them a policy if there is one.
    pub all: Vec<Source>,
    /// How many configs there are.
    pub configs: usize,
}

impl Sources {
    /// The policy, if there is one.
    #[must_use]
    pub fn policy(&self) -> Option<&Source> {
        self.all.get(self.configs)
    }
}

impl From<Vec<Source>> for Sources {
    /// Configs without a policy.
    fn from(configs: Vec<Source>) -> Self {
        Self {
            configs: configs.len(),
            all: configs,
        }
    }
}

/// Reads every config that the paths name, files and all `*.yaml` and `*.yml` in folders, sorted by
/// file name, and the policy. Relative paths count from `root`.
///
/// # Errors
/// One message for each path that is missing, empty or unreadable.
pub fn read(
    root: &Path,
    paths: &[PathBuf],
    policy: Option<&Path>,
) -> Result<Sources, Vec<Diagnostic>> {
    let mut configs = Vec::new();
    let mut errors = Vec::new();
    if paths.is_empty() {
        errors.push(
            Diagnostic::general(Code::Unreadable, "no configs are named")
                .help("name a folder of YAML files, or files"),
        );
    }
    for path in paths {
        match files_of(root, path) {
            Ok(files) => {
                for file in files {
                    match read_file(root, &file) {
                        Ok(source) => configs.push(source),
                        Err(error) => errors.push(error),
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    // Whatever the paths: by name. Those of the same name stay in the order given.
    configs.sort_by(|one, other| one.file_name.cmp(&other.file_name));
    let mut sources = Sources::from(configs);
    match policy.map(|policy| read_file(root, policy)) {
        Some(Ok(policy)) => sources.all.push(policy),
        Some(Err(error)) => errors.push(error),
        None => {}
    }
    if errors.is_empty() {
        Ok(sources)
    } else {
        Err(errors)
    }
}

fn files_of(root: &Path, path: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let shown = path.display();
    let full = root.join(path);
    let metadata = fs::metadata(&full).map_err(|error| {
        Diagnostic::general(
            Code::Unreadable,
            format!("cannot read configs from `{shown}`: {error}"),
        )
        .help(counted_from(root))
    })?;
    if metadata.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let unreadable = |error| {
        Diagnostic::general(
            Code::Unreadable,
            format!("cannot read the folder `{shown}`: {error}"),
        )
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&full).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        let is_yaml = name
            .extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml");
        if is_yaml && full.join(&name).is_file() {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(Diagnostic::general(
            Code::Unreadable,
            format!("the folder `{shown}` holds no configs"),
        )
        .help("put at least one `*.yaml` or `*.yml` file into it"));
    }
    Ok(names.into_iter().map(|name| path.join(name)).collect())
}

/// Where a path that was not found was looked for.
fn counted_from(root: &Path) -> String {
    let root = std::path::absolute(root.join(".")).unwrap_or_else(|_| root.to_path_buf());
    format!("relative paths count from `{}`", root.display())
}

/// Reads one file. A relative path counts from `root`.
///
/// # Errors
/// It cannot be read.
pub fn read_file(root: &Path, path: &Path) -> Result<Source, Diagnostic> {
    let shown = path.display().to_string();
    let bytes = fs::read(root.join(path)).map_err(|error| {
        let message = format!("cannot read `{shown}`: {error}");
        let diagnostic = Diagnostic::general(Code::Unreadable, message);
        if path.is_absolute() {
            diagnostic.help("name a file that can be read")
        } else {
            diagnostic.help(counted_from(root))
        }
    })?;
    let (text, not_text) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text, Some(error.utf8_error().valid_up_to()))
        }
    };
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().display().to_string();
    Ok(Source {
        stem: part(path.file_stem()),
        file_name: part(path.file_name()),
        path: shown,
        text,
        not_text,
    })
}

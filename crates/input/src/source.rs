//! Reads configs and a policy from paths into sources, in a fixed order.

use std::fs;
use std::path::{Path, PathBuf};

use crate::code::Code;
use crate::diagnostic::Diagnostic;

/// The text of a config or policy.
pub struct Source {
    /// The path, as shown in messages.
    pub path: String,
    /// The file name without its extension, by which users select a CLI.
    pub stem: String,
    /// The file name.
    pub file_name: String,
    /// The content. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The offset of the first byte that is not UTF-8.
    pub invalid_utf8_offset: Option<usize>,
}

/// The sources of a build.
pub struct Sources {
    /// The configs, followed by the policy if there is one.
    pub all: Vec<Source>,
    /// The number of configs.
    pub config_count: usize,
}

impl Sources {
    /// The policy, if there is one.
    #[must_use]
    pub fn policy(&self) -> Option<&Source> {
        self.all.get(self.config_count)
    }
}

impl From<Vec<Source>> for Sources {
    /// Configs without a policy.
    fn from(configs: Vec<Source>) -> Self {
        Self {
            config_count: configs.len(),
            all: configs,
        }
    }
}

/// Reads the configs at `paths`, sorted by file name, and the policy. For a folder, reads all its `*.yaml` and
/// `*.yml` files. Relative paths are resolved against `root`.
///
/// # Errors
/// One diagnostic for each path that does not exist or cannot be read, and for each folder without configs.
pub fn read(
    root: &Path,
    paths: &[PathBuf],
    policy: Option<&Path>,
) -> Result<Sources, Vec<Diagnostic>> {
    let mut configs = Vec::new();
    let mut errors = Vec::new();
    if paths.is_empty() {
        errors.push(
            Diagnostic::general(Code::Unreadable, "no configs are specified")
                .help("specify a folder of YAML files, or YAML files"),
        );
    }
    for path in paths {
        match config_files(root, path) {
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
    // The sort is stable: files with the same name keep the order of their paths.
    configs.sort_unstable_by(|left, right| left.file_name.cmp(&right.file_name));
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

fn config_files(root: &Path, path: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let displayed = path.display();
    let full_path = root.join(path);
    let metadata = fs::metadata(&full_path).map_err(|error| {
        Diagnostic::general(
            Code::Unreadable,
            format!("cannot read configs from `{displayed}`: {error}"),
        )
        .help(relative_path_help(root))
    })?;
    if metadata.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let unreadable = |error| {
        Diagnostic::general(
            Code::Unreadable,
            format!("cannot read the folder `{displayed}`: {error}"),
        )
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&full_path).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        let is_yaml = name
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_yaml && full_path.join(&name).is_file() {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(Diagnostic::general(
            Code::Unreadable,
            format!("the folder `{displayed}` contains no configs"),
        )
        .help("add at least one `*.yaml` or `*.yml` file to it"));
    }
    Ok(names.into_iter().map(|name| path.join(name)).collect())
}

/// Says which folder relative paths are resolved against.
fn relative_path_help(root: &Path) -> String {
    let root = std::path::absolute(root.join(".")).unwrap_or_else(|_| root.to_path_buf());
    format!("relative paths are resolved from `{}`", root.display())
}

/// Reads one file. A relative path is resolved against `root`.
///
/// # Errors
/// The file cannot be read.
pub fn read_file(root: &Path, path: &Path) -> Result<Source, Diagnostic> {
    let displayed = path.display().to_string();
    let bytes = fs::read(root.join(path)).map_err(|error| {
        let message = format!("cannot read `{displayed}`: {error}");
        let diagnostic = Diagnostic::general(Code::Unreadable, message);
        if path.is_absolute() {
            diagnostic.help("check the path and the file's permissions")
        } else {
            diagnostic.help(relative_path_help(root))
        }
    })?;
    let (text, invalid_utf8_offset) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            (text, Some(error.utf8_error().valid_up_to()))
        }
    };
    let to_text = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().display().to_string();
    Ok(Source {
        stem: to_text(path.file_stem()),
        file_name: to_text(path.file_name()),
        path: displayed,
        text,
        invalid_utf8_offset,
    })
}

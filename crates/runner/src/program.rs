//! Finds the program that a command runs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Where programs are searched for if `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";
/// An entry for a `PATH` that would otherwise be empty. This folder does not exist.
const MISSING_FOLDER: &str = "/nonexistent";

/// Finds a program as commands are started. A name with a slash is a path, relative to the command's directory.
/// Any other name is searched for along the absolute entries of `PATH`: a relative entry, such as `.`, would let the
/// directory of a call decide which program runs.
///
/// `variables` are those that the command gets in addition to the inherited ones, as `NAME=VALUE`. The last `PATH`
/// among them takes precedence.
///
/// # Errors
/// There is no such program, or it must not be executed.
pub fn find_program<'a>(
    name: &str,
    variables: impl Iterator<Item = &'a str>,
    directory: &Path,
) -> io::Result<PathBuf> {
    if name.contains('/') {
        let file = directory.join(name);
        return check_executable(&file).map(|()| file);
    }
    let own_path = variables.filter_map(|variable| variable.strip_prefix("PATH="));
    let path = own_path
        .last()
        .map_or_else(|| env::var_os("PATH"), |path| Some(path.into()))
        .unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    find_along(name, &path)
}

/// `PATH` without its relative entries, if it has any. Commands get it, because programs such as `env` search for
/// others along all entries.
pub(crate) fn path_without_relative_entries(path: &OsStr) -> Option<OsString> {
    let is_absolute = |folder: &PathBuf| folder.is_absolute();
    if env::split_paths(path).all(|folder| is_absolute(&folder)) {
        return None;
    }
    let absolute = env::join_paths(env::split_paths(path).filter(is_absolute)).ok()?;
    // An empty `PATH` would mean the working directory.
    let is_empty = absolute.is_empty();
    Some(if is_empty {
        MISSING_FOLDER.into()
    } else {
        absolute
    })
}

fn find_along(name: &str, path: &OsStr) -> io::Result<PathBuf> {
    let mut error = Errno::NOENT;
    for folder in env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let file = folder.join(name);
        match check_executable(&file) {
            Ok(()) => return Ok(file),
            Err(problem) if problem.kind() == io::ErrorKind::PermissionDenied => {
                error = Errno::ACCESS;
            }
            Err(_) => {}
        }
    }
    Err(error.into())
}

fn check_executable(file: &Path) -> io::Result<()> {
    access(file, Access::EXEC_OK)?;
    if file.is_file() {
        Ok(())
    } else {
        Err(Errno::NOENT.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_relative_entries() {
        for (path, expected) in [
            ("/bin:/usr/bin", None),
            (".:/bin", Some("/bin")),
            ("/bin::/usr/bin", Some("/bin:/usr/bin")),
            ("/bin:", Some("/bin")),
            ("bin:..", Some("/nonexistent")),
            ("", Some("/nonexistent")),
        ] {
            let actual = path_without_relative_entries(path.as_ref());
            assert_eq!(actual.as_deref(), expected.map(OsStr::new), "{path}");
        }
    }

    #[test]
    fn a_name_without_a_slash_is_found_along_absolute_entries_only() {
        let find = |name: &str, path: &str, directory: &str| {
            let variables = [format!("PATH={path}")];
            find_program(
                name,
                variables.iter().map(String::as_str),
                directory.as_ref(),
            )
        };
        let shell = Path::new("/bin/sh");
        assert_eq!(find("sh", "/nowhere:/bin", "/").expect("found"), shell);
        assert_eq!(find("sh", "..:.:/bin", "/usr/bin").expect("found"), shell);
        for path in ["", ".", ":", "bin", "/nowhere"] {
            let error = find("sh", path, "/bin").expect_err("not found");
            assert_eq!(error.raw_os_error(), Some(Errno::NOENT.raw_os_error()));
        }
        for name in ["", ".", ".."] {
            let error = find(name, "/bin", "/bin").expect_err("not a program");
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{name}");
        }
    }

    #[test]
    fn a_name_with_a_slash_is_a_path_in_the_directory_of_the_command() {
        let find = |name: &str| find_program(name, ["PATH=/nowhere"].into_iter(), "/".as_ref());
        assert_eq!(find("/bin/sh").expect("found"), Path::new("/bin/sh"));
        assert_eq!(find("bin/sh").expect("found"), Path::new("/bin/sh"));
        assert_eq!(find("./bin/sh").expect("found"), Path::new("/./bin/sh"));
        assert!(find("./sh").is_err());
        assert!(find("/bin/sh/x").is_err());
    }
}

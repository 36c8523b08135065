//! Enforces what policies say about a command's container, environment variables and working directory.

use std::borrow::Cow;
use std::env;
use std::io;
use std::iter;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{self, Path};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use climax_core::secret::is_secret_name;
use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_policy::check::HostPathKind;
use climax_policy::rules::{self, EnvironmentRule, ExecutionRules, InheritedVariables};
use climax_runner::find_program;
use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

use crate::catalog;
use climax_arguments::expand::{expand, unset_variable};
use climax_arguments::reader::CallRefusal;

/// Variables with this prefix configure the server. Commands do not inherit them.
const OWN_VARIABLE_PREFIX: &str = "CLIMAX_";

/// Opens a directory without permission to read it, where the system supports that.
#[cfg(target_os = "linux")]
const DIRECTORY_ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const DIRECTORY_ACCESS: OFlags = OFlags::RDONLY;

/// Enforces the execution rules of all policies for every call.
#[derive(Default)]
pub(crate) struct ExecutionGuard {
    /// The container in which commands run, if a policy names one.
    pub(crate) container: Option<ContainerTemplate>,
    /// A command inherits a variable if all of these let it pass.
    env: Vec<EnvironmentRule>,
    /// For each policy with `roots`, its roots. A call's working directory must be within one of each.
    roots_by_policy: Vec<Vec<Root>>,
}

/// A root directory. It is kept open so that its device and inode numbers are not reused.
struct Root {
    _directory: OwnedFd,
    status: Stat,
}

impl ExecutionGuard {
    /// Combines the rules of several policies, all of which apply. `inherit` is the command line's rule for
    /// variables, which applies in addition.
    ///
    /// # Errors
    /// Every reason why the server cannot start.
    pub(crate) fn new(
        all: &[ExecutionRules],
        inherit: InheritedVariables,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut guard = Self::default();
        guard.env.push(EnvironmentRule {
            inherit,
            ..EnvironmentRule::default()
        });
        let mut containers = all
            .iter()
            .filter_map(|rules| Some((rules.container.as_ref()?, rules.origin.as_str())));
        if let Some((first, origin)) = containers.next() {
            if let Some((_, other)) = containers.find(|(other, _)| *other != first) {
                let message = format!("{origin} and {other} name different containers");
                errors.push(
                    Diagnostic::general(Code::ConflictingContainers, message)
                        .help("name the same one in both, or remove one `executor`"),
                );
            }
            guard.container = Some(ContainerTemplate::new(first, origin, &mut errors));
        }
        for ExecutionRules {
            origin, env, roots, ..
        } in all
        {
            guard.env.push(env.clone());
            if roots.is_empty() {
                continue;
            }
            if guard.container.is_some() {
                let message = format!("{origin} has `roots`, and commands run in a container");
                errors.push(
                    Diagnostic::general(Code::BadRoot, message)
                        .help("remove `roots`: a container sees its `volumes` only"),
                );
            }
            let opened = roots
                .iter()
                .filter_map(|root| open_root(root, origin, &mut errors));
            guard.roots_by_policy.push(opened.collect());
        }
        if errors.is_empty() {
            Ok(guard)
        } else {
            Err(errors)
        }
    }

    /// Whether commands inherit the server's variable with this name.
    pub(crate) fn inherits_variable(&self, name: &str) -> bool {
        !name.starts_with(OWN_VARIABLE_PREFIX) && self.env.iter().all(|env| env.passes(name))
    }

    /// `NAME=VALUE` for each variable that commands do not inherit, but that the config of their CLI needs.
    pub(crate) fn needed_variables(&self, needed: &[&str]) -> Vec<String> {
        if needed.is_empty() {
            return Vec::new();
        }
        let variables = env::vars_os();
        let variables = variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        variables
            .filter(|(name, _)| {
                !self.inherits_variable(name) && self.passes_if_needed(name, needed)
            })
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    fn passes_if_needed(&self, name: &str, needed: &[&str]) -> bool {
        !name.starts_with(OWN_VARIABLE_PREFIX)
            && needed
                .iter()
                .any(|pattern| rules::matches_name(pattern, name))
            && self.env.iter().all(|env| env.passes_if_needed(name))
    }

    /// The variables of the server that look like secrets and that a command of a CLI does not get. `needed` are
    /// those that the config of the CLI needs.
    pub(crate) fn held_back_secrets(&self, needed: &[&str]) -> Vec<String> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let is_held_back =
            |name: &String| !self.inherits_variable(name) && !self.passes_if_needed(name, needed);
        let mut names: Vec<String> = names
            .filter(|name| is_secret_name(name) && is_held_back(name))
            .collect();
        names.sort_unstable();
        names
    }

    /// Opens the working directory that a call sets, if policies restrict it. The command runs in the opened
    /// directory, so replacing its path after the check has no effect.
    ///
    /// # Errors
    /// The limit of open files is reached.
    pub(crate) fn open_working_directory(
        &self,
        path: Option<&str>,
    ) -> io::Result<Result<Option<OwnedFd>, CallRefusal>> {
        let Some(path) = path.filter(|_| !self.roots_by_policy.is_empty()) else {
            return Ok(Ok(None));
        };
        let refuse = |problem: &str| {
            let path = climax_policy::limit::truncate_for_message(path);
            let reason = format!("Working directory '{path}' {problem}");
            Ok(Err(CallRefusal::Policy(vec![reason])))
        };
        let directory = match open_directory(CWD, path) {
            Ok(directory) => directory,
            Err(error) if is_file_limit(&error) => return Err(error),
            Err(_) => return refuse("cannot be opened"),
        };
        match is_within_every_policy(&directory, &self.roots_by_policy) {
            Ok(true) => Ok(Ok(Some(directory))),
            Err(error) if is_file_limit(&error) => Err(error),
            Ok(false) | Err(_) => refuse("is outside of the directories that the policy allows"),
        }
    }
}

fn is_file_limit(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| matches!(errno, Errno::MFILE | Errno::NFILE))
}

/// Opens a directory, to compare it or to run a command in it. A relative path starts at `from`.
fn open_directory(from: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let flags = DIRECTORY_ACCESS | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(from, path, flags, Mode::empty())?)
}

/// Whether both are the same directory, whatever their paths.
fn is_same_directory(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Whether a directory is within a root of every policy. Walks from it up to `/` and compares each directory
/// with the roots.
fn is_within_every_policy(directory: &OwnedFd, roots_by_policy: &[Vec<Root>]) -> io::Result<bool> {
    let mut unmatched: Vec<&Vec<Root>> = roots_by_policy.iter().collect();
    let mut status = fstat(directory)?;
    let mut current = None;
    loop {
        unmatched.retain(|roots| {
            !roots
                .iter()
                .any(|root| is_same_directory(&root.status, &status))
        });
        if unmatched.is_empty() {
            return Ok(true);
        }
        let parent = open_directory(current.as_ref().unwrap_or(directory), "..")?;
        let parent_status = fstat(&parent)?;
        // The parent of `/` is `/`.
        if is_same_directory(&parent_status, &status) {
            return Ok(false);
        }
        status = parent_status;
        current = Some(parent);
    }
}

/// Opens a root of a policy.
fn open_root(written: &str, origin: &str, errors: &mut Vec<Diagnostic>) -> Option<Root> {
    let path = expand_policy_text(written, origin, errors)?;
    let opened = open_directory(CWD, &path).and_then(|directory| {
        let status = fstat(&directory)?;
        Ok(Root {
            _directory: directory,
            status,
        })
    });
    match opened {
        Ok(root) => Some(root),
        Err(error) => {
            let message = format!("the root `{path}` in {origin} cannot be used: {error}");
            errors.push(
                Diagnostic::general(Code::BadRoot, message)
                    .help("create the directory, or correct `roots` in the policy"),
            );
            None
        }
    }
}

/// Checks a path of a policy on this machine.
pub(crate) fn host_path_problem(kind: HostPathKind, text: &str) -> Option<Diagnostic> {
    let mut errors = Vec::new();
    let origin = "this policy";
    match kind {
        HostPathKind::Volume => drop(expand_policy_text(text, origin, &mut errors)),
        HostPathKind::Root => drop(open_root(text, origin, &mut errors)),
    }
    errors.pop()
}

/// Expands `~` and variables in a text of a policy. All variables must be set.
fn expand_policy_text<'t>(
    text: &'t str,
    origin: &str,
    errors: &mut Vec<Diagnostic>,
) -> Option<Cow<'t, str>> {
    if let Some(name) = unset_variable(text) {
        let message = format!("`{text}` in {origin} needs the variable {name}, which is not set");
        errors.push(
            Diagnostic::general(Code::UnsetVariable, message)
                .help("set it in the environment of the server"),
        );
        return None;
    }
    Some(expand(text))
}

/// What the containers of all calls have in common.
pub(crate) struct ContainerTemplate {
    /// `docker` or `podman`.
    program: &'static str,
    /// The options of `docker run`.
    options: Vec<String>,
    working_dir: Option<String>,
    image: String,
    /// The names of this server's containers start with it.
    name_prefix: String,
    next_number: AtomicU64,
}

impl ContainerTemplate {
    fn new(container: &rules::ContainerRule, origin: &str, errors: &mut Vec<Diagnostic>) -> Self {
        let mut options = Vec::new();
        for volume in &container.volumes {
            if let Some(volume) = expand_policy_text(volume, origin, errors) {
                options.extend(["-v".to_owned(), absolute_volume(&volume)]);
            }
        }
        let network = container.network.iter();
        options.extend(network.flat_map(|network| ["--network".to_owned(), network.clone()]));
        // Makes names unique: other servers, also on other machines, may use the same container daemon.
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos());
        Self {
            program: if !is_installed("docker") && is_installed("podman") {
                "podman"
            } else {
                "docker"
            },
            options,
            working_dir: container.working_dir.clone(),
            image: container.image.clone(),
            name_prefix: format!("climax-{}-{time:x}", process::id()),
            next_number: AtomicU64::new(1),
        }
    }

    /// The container for the next call.
    pub(crate) fn next_container(&self) -> CallContainer<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        CallContainer {
            template: self,
            name: format!("{}-{number}", self.name_prefix),
        }
    }
}

/// The container of one call.
pub(crate) struct CallContainer<'c> {
    template: &'c ContainerTemplate,
    name: String,
}

impl<'c> CallContainer<'c> {
    /// The words that go before a command line to run it in the container. `directory` is a path in the
    /// container; `file_directory` is one on the host, with files that the command reads.
    pub(crate) fn command_prefix(
        &self,
        has_stdin: bool,
        env: &[&'c str],
        directory: Option<&str>,
        file_directory: Option<&str>,
    ) -> Vec<Cow<'c, str>> {
        let template = self.template;
        let start = [template.program, "run", "--rm", "--name"];
        let mut words: Vec<Cow<'c, str>> = start.map(Cow::Borrowed).into();
        words.push(self.name.clone().into());
        if has_stdin {
            words.push("-i".into());
        }
        // Without a value, `-e NAME` takes it from the environment of `docker`.
        for (name, _) in env.iter().filter_map(|pair| pair.split_once('=')) {
            words.extend(["-e".into(), name.into()]);
        }
        words.extend(template.options.iter().map(|word| word.as_str().into()));
        if let Some(path) = file_directory {
            words.extend(["-v".into(), format!("{path}:{path}:ro").into()]);
        }
        let working_dir = template.working_dir.as_deref();
        if let Some(directory) = directory {
            let directory = Path::new(working_dir.unwrap_or("/")).join(directory);
            words.push(format!("--workdir={}", directory.display()).into());
        } else if let Some(working_dir) = working_dir {
            words.extend(["-w".into(), working_dir.into()]);
        }
        words.push(template.image.as_str().into());
        words
    }

    /// The command that stops and removes the container.
    pub(crate) fn removal_command(&self) -> [&str; 4] {
        [self.template.program, "rm", "-f", &self.name]
    }
}

/// Makes the host path of a volume absolute if it starts with a dot. It is relative to the server's working
/// directory.
fn absolute_volume(volume: &str) -> String {
    let (folder, rest) = volume.split_once(':').unwrap_or((volume, ""));
    match path::absolute(folder) {
        Ok(folder) if volume.starts_with('.') => format!("{}:{rest}", folder.display()),
        _ => volume.to_owned(),
    }
}

/// Whether a program is installed.
fn is_installed(name: &str) -> bool {
    find_program(name, iter::empty(), Path::new("/")).is_ok()
}

/// The execution rules of the baked policy.
pub(crate) fn baked_rules(rules: &catalog::BakedExecutionRules) -> ExecutionRules {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let container = rules.container.as_ref();
    ExecutionRules {
        container: container.map(|container| rules::ContainerRule {
            image: container.image.to_owned(),
            volumes: texts(container.volumes),
            network: container.network.map(str::to_owned),
            working_dir: container.working_dir.map(str::to_owned),
        }),
        env: EnvironmentRule {
            inherit: rules.environment.inherit,
            allow: texts(rules.environment.allow),
            deny: texts(rules.environment.deny),
        },
        roots: texts(rules.roots),
        origin: "the baked policy".to_owned(),
    }
}

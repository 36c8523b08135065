//! What policies say about where and with what commands run: containers, variables, directories.

use std::borrow::Cow;
use std::env;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{self, Path};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use climax_input::code::Code;
use climax_input::diagnostic::Diagnostic;
use climax_policy::check::Local;
use climax_policy::rules::{self, Env, Surroundings};
use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat};

use crate::call::arguments::CallRefusal;
use crate::call::expand::{expand, unset_variable};
use crate::catalog;

/// Variables with this prefix are settings of the server, which commands do not get.
const OWN_VARIABLE_PREFIX: &str = "CLIMAX_";

/// Where the system has it, a flag that opens a directory without permission to read it.
#[cfg(target_os = "linux")]
const DIRECTORY_ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const DIRECTORY_ACCESS: OFlags = OFlags::RDONLY;

/// What holds for every call.
#[derive(Default)]
pub(crate) struct ExecutionGuard {
    /// In which container commands run, if in one.
    pub(crate) container: Option<ContainerTemplate>,
    /// Commands get a variable if all of these let it pass.
    env: Vec<Env>,
    /// A call's own directory is within one of the roots of each policy that has some.
    roots: Vec<Vec<Root>>,
}

/// A directory, held open so that nothing else can take its place.
struct Root {
    _directory: OwnedFd,
    status: Stat,
}

impl ExecutionGuard {
    /// Prepares what several policies say, all of which hold.
    ///
    /// # Errors
    /// Everything because of which the server cannot start.
    pub(crate) fn new(all: &[Surroundings]) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut guard = Self::default();
        let containers = all
            .iter()
            .filter_map(|it| Some((it.container.as_ref()?, it)));
        let mut containers = containers.map(|(container, it)| (container, it.origin.as_str()));
        if let Some((first, origin)) = containers.next() {
            if let Some((_, other)) = containers.find(|(other, _)| *other != first) {
                let message = format!("{origin} and {other} name different containers");
                errors.push(
                    Diagnostic::general(Code::SecondContainer, message)
                        .help("name the same one in both, or remove one `executor`"),
                );
            }
            guard.container = Some(ContainerTemplate::new(first, origin, &mut errors));
        }
        for Surroundings {
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
                .filter_map(|root| self::root(root, origin, &mut errors));
            guard.roots.push(opened.collect());
        }
        if errors.is_empty() {
            Ok(guard)
        } else {
            Err(errors)
        }
    }

    /// Whether commands get the variable of the server that has a name.
    pub(crate) fn passes(&self, name: &str) -> bool {
        !name.starts_with(OWN_VARIABLE_PREFIX) && self.env.iter().all(|env| env.passes(name))
    }

    /// Opens the directory that a call names, if it has to be within others. It is this one that the
    /// command runs in, whatever happens to its name meanwhile.
    pub(crate) fn directory(&self, path: Option<&str>) -> Result<Option<OwnedFd>, CallRefusal> {
        let Some(path) = path.filter(|_| !self.roots.is_empty()) else {
            return Ok(None);
        };
        let outside = |why: &str| {
            let path = climax_policy::limit::shown(path);
            let reason = format!("Working directory '{path}' {why}");
            Err(CallRefusal::Policy(vec![reason]))
        };
        let Ok(directory) = open_directory(CWD, path) else {
            return outside("cannot be opened");
        };
        match is_within_every_policy(&directory, &self.roots) {
            Ok(true) => Ok(Some(directory)),
            Ok(false) | Err(_) => outside("is outside of the directories that the policy allows"),
        }
    }
}

/// Opens a directory to compare it or to run a command in it. A relative path is resolved from another
/// directory.
fn open_directory(from: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let flags = DIRECTORY_ACCESS | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(from, path, flags, Mode::empty())?)
}

/// Whether both are the same directory, under whatever name.
fn is_same_directory(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Goes up from a directory to the topmost one, and looks for the roots on the way.
fn is_within_every_policy(directory: &OwnedFd, roots: &[Vec<Root>]) -> io::Result<bool> {
    let mut missing: Vec<&Vec<Root>> = roots.iter().collect();
    let mut here = fstat(directory)?;
    let mut current = None;
    loop {
        missing.retain(|roots| {
            !roots
                .iter()
                .any(|root| is_same_directory(&root.status, &here))
        });
        if missing.is_empty() {
            return Ok(true);
        }
        let parent = open_directory(current.as_ref().unwrap_or(directory), "..")?;
        let above = fstat(&parent)?;
        if is_same_directory(&above, &here) {
            return Ok(false);
        }
        here = above;
        current = Some(parent);
    }
}

fn root(written: &str, origin: &str, errors: &mut Vec<Diagnostic>) -> Option<Root> {
    let path = expanded(written, origin, errors)?;
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
                    .help("make the directory, or correct `roots` in the policy"),
            );
            None
        }
    }
}

/// What is wrong on this machine with a text of a policy.
pub(crate) fn machine_problem(kind: Local, text: &str) -> Option<Diagnostic> {
    let mut errors = Vec::new();
    let origin = "this policy";
    match kind {
        Local::Volume => drop(expanded(text, origin, &mut errors)),
        Local::Root => drop(root(text, origin, &mut errors)),
    }
    errors.pop()
}

/// A text of a policy with `~` and variables expanded, all of which must be set.
fn expanded<'t>(text: &'t str, origin: &str, errors: &mut Vec<Diagnostic>) -> Option<Cow<'t, str>> {
    if let Some(name) = unset_variable(text) {
        let message = format!("`{text}` in {origin} needs the variable {name}, which is not set");
        errors.push(
            Diagnostic::general(Code::UnsetVariable, message)
                .help("set it where the server is started"),
        );
        return None;
    }
    Some(expand(text))
}

/// How commands are run in containers.
pub(crate) struct ContainerTemplate {
    /// `docker`, or what stands in for it.
    program: &'static str,
    /// What comes before the image.
    options: Vec<String>,
    working_dir: Option<String>,
    image: String,
    /// What this server's containers have in common.
    prefix: String,
    count: AtomicU64,
}

impl ContainerTemplate {
    fn new(container: &rules::Container, origin: &str, errors: &mut Vec<Diagnostic>) -> Self {
        let mut options = Vec::new();
        for volume in &container.volumes {
            if let Some(volume) = expanded(volume, origin, errors) {
                options.extend(["-v".to_owned(), absolute(&volume)]);
            }
        }
        let network = container.network.iter();
        options.extend(network.flat_map(|network| ["--network".to_owned(), network.clone()]));
        // Other servers may use the same daemon, also from other machines.
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos());
        Self {
            program: if !is_on_path("docker") && is_on_path("podman") {
                "podman"
            } else {
                "docker"
            },
            options,
            working_dir: container.working_dir.clone(),
            image: container.image.clone(),
            prefix: format!("climax-{}-{time:x}", process::id()),
            count: AtomicU64::new(1),
        }
    }

    /// The container of one call.
    pub(crate) fn next(&self) -> CallContainer<'_> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        CallContainer {
            container: self,
            name: format!("{}-{number}", self.prefix),
        }
    }
}

/// The container of one call.
pub(crate) struct CallContainer<'c> {
    container: &'c ContainerTemplate,
    name: String,
}

impl<'c> CallContainer<'c> {
    /// What comes before a command line that has these variables, perhaps input, and perhaps a
    /// directory of its own, which is one in the container.
    pub(crate) fn words(
        &self,
        has_input: bool,
        env: &[&'c str],
        directory: Option<&str>,
    ) -> Vec<Cow<'c, str>> {
        let container = self.container;
        let begin = [container.program, "run", "--rm", "--name"];
        let mut words: Vec<Cow<'c, str>> = begin.map(Cow::Borrowed).into();
        words.push(self.name.clone().into());
        if has_input {
            words.push("-i".into());
        }
        // Their values are in its environment.
        for (name, _) in env.iter().filter_map(|pair| pair.split_once('=')) {
            words.extend(["-e".into(), name.into()]);
        }
        words.extend(container.options.iter().map(|word| word.as_str().into()));
        let working_dir = container.working_dir.as_deref();
        if let Some(directory) = directory {
            let directory = Path::new(working_dir.unwrap_or("/")).join(directory);
            words.push(format!("--workdir={}", directory.display()).into());
        } else if let Some(working_dir) = working_dir {
            words.extend(["-w".into(), working_dir.into()]);
        }
        words.push(container.image.as_str().into());
        words
    }

    /// What ends the container.
    pub(crate) fn removal(&self) -> [&str; 4] {
        [self.container.program, "rm", "-f", &self.name]
    }
}

/// A volume whose folder on this machine, if it is relative, counts from where the server was started.
fn absolute(volume: &str) -> String {
    let (folder, rest) = volume.split_once(':').unwrap_or((volume, ""));
    match path::absolute(folder) {
        Ok(folder) if volume.starts_with('.') => format!("{}:{rest}", folder.display()),
        _ => volume.to_owned(),
    }
}

/// Whether there is a program of a name.
fn is_on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| {
        let metadata = fs::metadata(folder.join(name));
        metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}

/// What was baked_rules, as policies say it.
pub(crate) fn baked_rules(surroundings: &catalog::Surroundings) -> Surroundings {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let container = surroundings.container.as_ref();
    Surroundings {
        container: container.map(|container| rules::Container {
            image: container.image.to_owned(),
            volumes: texts(container.volumes),
            network: container.network.map(str::to_owned),
            working_dir: container.working_dir.map(str::to_owned),
        }),
        env: Env {
            is_minimal: surroundings.env.is_minimal,
            allow: texts(surroundings.env.allow),
            deny: texts(surroundings.env.deny),
        },
        roots: texts(surroundings.roots),
        origin: "the baked_rules policy".to_owned(),
    }
}

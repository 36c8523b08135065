//! Starts a program as the leader of a new process group.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Pid;

use crate::command::WorkingDirectory;
use crate::limits::OriginalFileLimit;
use crate::platform;
use crate::program::find_program;

/// A program to start.
pub(crate) struct SpawnOptions<'a> {
    /// The program and its arguments.
    pub(crate) argv: &'a [String],
    /// `NAME=VALUE` for each variable that is set in addition to those of this process.
    pub(crate) env: &'a [String],
    /// Standard input, output and error; `None` inherits that of this process.
    pub(crate) streams: [Option<BorrowedFd<'a>>; 3],
    /// The directory in which it runs.
    pub(crate) working_dir: WorkingDirectory<'a>,
    /// Its limit of open files.
    pub(crate) file_limit: OriginalFileLimit,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct SpawnedProcess {
    pub(crate) pid: Pid,
    /// A descriptor that becomes readable when the process exits, if the system supports it.
    pub(crate) pidfd: Option<OwnedFd>,
}

/// Starts a program, which is found by [`find_program`]. Signals that this process
/// handles get their default action. This process must have a single thread, because on some systems it
/// changes its own working directory for a moment.
pub(crate) fn spawn(options: &SpawnOptions<'_>) -> io::Result<SpawnedProcess> {
    let mut argv = options.argv.iter();
    let name = argv.next().map_or("", String::as_str);
    let mut command = program_command(name, options.env)?;
    let [stdin, stdout, stderr] = options.streams.map(|stream| match stream {
        Some(stream) => stream.try_clone_to_owned().map(Stdio::from),
        None => Ok(Stdio::inherit()),
    });
    command
        .args(argv)
        .envs(options.env.iter().filter_map(|pair| pair.split_once('=')))
        .stdin(stdin?)
        .stdout(stdout?)
        .stderr(stderr?)
        .process_group(0);
    let child = options.file_limit.spawn(|| match options.working_dir {
        WorkingDirectory::Inherited => command.spawn(),
        WorkingDirectory::Path(path) => command.current_dir(path).spawn(),
        WorkingDirectory::Opened { directory, .. } => {
            platform::spawn_in_directory(&mut command, directory)
        }
    })?;
    let pid = Pid::from_child(&child);
    Ok(SpawnedProcess {
        pid,
        pidfd: platform::open_pidfd(pid),
    })
}

/// A command for a program, whose own name for itself (`argv[0]`) is the name as written.
pub(crate) fn program_command(name: &str, env: &[String]) -> io::Result<Command> {
    if name.contains('/') {
        // The system resolves it in the directory in which the program starts.
        return Ok(Command::new(name));
    }
    let variables = env.iter().map(String::as_str);
    let mut command = Command::new(find_program(name, variables, Path::new("/"))?);
    command.arg0(name);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Signal, WaitOptions, waitpid};

    /// A program's output and exit code.
    fn output(argv: &[&str], env: &[&str], working_dir: WorkingDirectory<'_>) -> (String, i32) {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (mut stdout, writer) = io::pipe().expect("a pipe");
        let options = SpawnOptions {
            argv: &owned(argv),
            env: &owned(env),
            streams: [None, Some(writer.as_fd()), Some(writer.as_fd())],
            working_dir,
            file_limit: OriginalFileLimit::from_argument(None),
        };
        let process = spawn(&options).expect("started");
        drop(writer);
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("text");
        let exited = waitpid(Some(process.pid), WaitOptions::empty());
        let (_, status) = exited.expect("a child").expect("exited");
        (text, status.exit_status().expect("not killed"))
    }

    #[test]
    fn a_program_gets_its_arguments_variables_and_working_directory() {
        let script = r#"printf '%s|' "$@" "$A" "$B" "$HOME"; pwd; exit 7"#;
        let argv = ["sh", "-c", script, "sh", "", "x y", "ä\n"];
        let env = ["A=1=2", "HOME=here"];
        let (text, code) = output(&argv, &env, WorkingDirectory::Path("/usr"));
        assert_eq!(text, "|x y|ä\n|1=2||here|/usr\n");
        assert_eq!(code, 7);
    }

    // On other systems the whole process changes its directory, and tests have several threads.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_runs_in_an_open_directory() {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, "/usr", flags, Mode::empty()).expect("a directory");
        let working_dir = WorkingDirectory::Opened {
            directory: directory.as_fd(),
            path: "/usr",
        };
        assert_eq!(output(&["pwd"], &[], working_dir).0, "/usr\n");
    }

    #[test]
    fn a_program_is_looked_up_in_the_path_of_its_own_environment() {
        let directory = std::env::temp_dir().join(format!("climax-path-{}", std::process::id()));
        let bin = directory.join("bin");
        fs::create_dir_all(&bin).expect("a directory");
        symlink("/bin/echo", bin.join("climax-echo")).expect("linked");
        fs::write(bin.join("climax-text"), "").expect("written");
        let run = |argv: &[&str], path: &str, working_dir| {
            output(argv, &[&format!("PATH={path}")], working_dir).0
        };
        let bin = bin.to_str().expect("UTF-8");
        let in_bin = WorkingDirectory::Path(bin);
        let argv = ["climax-echo", "x"];
        let path = format!("/nosuch:{bin}");
        assert_eq!(run(&argv, &path, WorkingDirectory::Inherited), "x\n");
        assert_eq!(run(&["./climax-echo", "x"], "/nosuch", in_bin), "x\n");
        let fail = |name: &str, path: &str| {
            let options = SpawnOptions {
                argv: &[name.to_owned()],
                env: &[format!("PATH={path}")],
                streams: [None; 3],
                working_dir: WorkingDirectory::Inherited,
                file_limit: OriginalFileLimit::from_argument(None),
            };
            spawn(&options).expect_err("no program").kind()
        };
        assert_eq!(fail("climax-echo", "/nosuch:."), io::ErrorKind::NotFound);
        assert_eq!(fail("", bin), io::ErrorKind::NotFound);
        assert_eq!(fail("/bin/sh/x", bin), io::ErrorKind::NotADirectory);
        let path = format!("{bin}:/nosuch");
        assert_eq!(fail("climax-text", &path), io::ErrorKind::PermissionDenied);
        fs::remove_dir_all(directory).expect("removed");
    }

    #[test]
    fn a_program_has_default_signal_actions_and_none_is_blocked() {
        for env in [&[][..], &["PATH=/bin:/usr/bin"]] {
            let argv = ["cat", "/proc/self/status"];
            let (text, _) = output(&argv, env, WorkingDirectory::Inherited);
            let signals = |key: &str| {
                let line = text.lines().find(|line| line.starts_with(key));
                let digits = line.and_then(|line| line.split_whitespace().nth(1));
                u64::from_str_radix(digits.expect("a line"), 16).expect("a number")
            };
            // Rust programs ignore SIGPIPE.
            let pipe = 1 << (Signal::PIPE.as_raw() - 1);
            assert_eq!(signals("SigIgn") & pipe, 0, "{text}");
            assert_eq!(signals("SigBlk"), 0, "{text}");
        }
    }

    #[test]
    fn the_descriptor_of_a_process_is_readable_when_it_has_exited() {
        let (stdin, writer) = io::pipe().expect("a pipe");
        let options = SpawnOptions {
            argv: &["cat".to_owned()],
            env: &[],
            streams: [Some(stdin.as_fd()), None, None],
            working_dir: WorkingDirectory::Inherited,
            file_limit: OriginalFileLimit::from_argument(None),
        };
        let process = spawn(&options).expect("started");
        let mut descriptors: Vec<_> = process
            .pidfd
            .iter()
            .map(|pidfd| PollFd::new(pidfd, PollFlags::IN))
            .collect();
        let now = rustix::event::Timespec::default();
        assert_eq!(poll(&mut descriptors, Some(&now)), Ok(0));
        drop(writer);
        if !descriptors.is_empty() {
            assert_eq!(poll(&mut descriptors, None), Ok(1));
        }
        waitpid(Some(process.pid), WaitOptions::empty()).expect("a child");
    }
}

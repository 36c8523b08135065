//! What differs between systems: whose children orphans become, how processes are found, and how
//! streams tell their end.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(target_os = "linux")]
pub(crate) use {linux::*, spawn::Starter};

// On Linux it is compiled for its tests.
#[cfg(any(test, not(target_os = "linux")))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Pid, Signal};

/// Opens a directory as a place to be in, which needs no permission to read it where the system can do
/// without. A relative path counts from another directory.
pub(crate) fn open_directory(from: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let flags = PLACE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(from, path, flags, Mode::empty())?)
}

/// Has the system do with a signal what it does by itself.
pub(crate) fn default_signal(signal: Signal) {
    #[expect(unsafe_code, reason = "no crate in use has a safe function for it")]
    // SAFETY: no handler is set.
    unsafe {
        libc::signal(signal.as_raw(), libc::SIG_DFL);
    }
}

/// Has signals reach this process that its parent blocked: a client may block some while it starts a server.
pub(crate) fn unblock_signals() {
    let mut none = MaybeUninit::uninit();
    #[expect(unsafe_code, reason = "no crate in use has a safe function for it")]
    // SAFETY: the first call makes the set that the second one takes.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// A program that is to be started.
pub(crate) struct Program<'a> {
    /// Its name and its arguments.
    pub(crate) words: &'a [String],
    /// `NAME=VALUE` for variables beside our own.
    pub(crate) env: &'a [String],
    /// Its standard input, output and error; where there is none, it gets ours.
    pub(crate) streams: [Option<BorrowedFd<'a>>; 3],
    pub(crate) place: Place<'a>,
}

/// Where a program runs.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// Where this process is.
    Here,
    /// In this directory.
    Named(&'a str),
    /// In a directory that was opened.
    Opened(BorrowedFd<'a>),
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Pid,
    /// Can be read when the process has ended, where the system has that.
    pub(crate) end: Option<OwnedFd>,
}

/// A row of the system's table of processes.
struct Row {
    process: Pid,
    parent: Pid,
}

/// The processes that have this ancestor.
fn descendants_of(ancestor: Pid, rows: &[Row]) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for row in rows.iter().filter(|row| row.parent == parent) {
            parents.push(row.process);
            found.push(row.process);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use rustix::process::{WaitOptions, waitpid};

    type Start = Box<dyn FnMut(&Program<'_>) -> io::Result<Started>>;

    /// How programs are started here, and elsewhere.
    fn starts() -> [Start; 2] {
        let mut here = Starter::new(&[Signal::PIPE]);
        let mut elsewhere = other::Starter::new(&[Signal::PIPE]);
        [
            Box::new(move |program| here.start(program)),
            Box::new(move |program| elsewhere.start(program)),
        ]
    }

    /// What a program writes, and the number with which it ends.
    fn output(start: &mut Start, words: &[&str], env: &[&str], place: Place<'_>) -> (String, i32) {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (mut stdout, writer) = io::pipe().expect("a pipe");
        let program = Program {
            words: &owned(words),
            env: &owned(env),
            streams: [None, Some(writer.as_fd()), Some(writer.as_fd())],
            place,
        };
        let started = start(&program).expect("started");
        drop(writer);
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("text");
        let ended = waitpid(Some(started.process), WaitOptions::empty());
        let (_, status) = ended.expect("a child").expect("ended");
        (text, status.exit_status().expect("by itself"))
    }

    #[test]
    fn a_program_gets_its_words_variables_and_place() {
        for mut start in starts() {
            let script = r#"printf '%s|' "$@" "$A" "$B" "$HOME"; pwd; exit 7"#;
            let words = ["sh", "-c", script, "sh", "", "x y", "ä\n"];
            let env = ["A=1=2", "HOME=here"];
            let (text, status) = output(&mut start, &words, &env, Place::Named("/usr"));
            assert_eq!(text, "|x y|ä\n|1=2||here|/usr\n");
            assert_eq!(status, 7);
        }
    }

    #[test]
    fn a_program_runs_in_a_directory_that_was_opened() {
        let directory = open_directory(rustix::fs::CWD, "/usr").expect("a directory");
        // Elsewhere the whole process would go there, which has other threads here.
        let [mut start, _] = starts();
        let place = Place::Opened(directory.as_fd());
        assert_eq!(output(&mut start, &["pwd"], &[], place).0, "/usr\n");
    }

    #[test]
    fn a_program_is_looked_for_where_its_own_variable_says() {
        let directory = std::env::temp_dir().join(format!("climax-path-{}", std::process::id()));
        let bin = directory.join("bin");
        fs::create_dir_all(&bin).expect("a directory");
        symlink("/bin/echo", bin.join("climax-echo")).expect("linked");
        fs::write(bin.join("climax-text"), "").expect("written");
        for mut start in starts() {
            let mut run = |words: &[&str], path: &str, place| {
                output(&mut start, words, &[&format!("PATH={path}")], place).0
            };
            let bin = bin.to_str().expect("UTF-8");
            let here = Place::Named(bin);
            let words = ["climax-echo", "x"];
            assert_eq!(run(&words, &format!("/nosuch:{bin}"), Place::Here), "x\n");
            assert_eq!(run(&words, "/nosuch:", here), "x\n");
            assert_eq!(run(&["./climax-echo", "x"], "/nosuch", here), "x\n");
            let mut fail = |name: &str, path: &str| {
                let program = Program {
                    words: &[name.to_owned()],
                    env: &[format!("PATH={path}")],
                    streams: [None; 3],
                    place: Place::Here,
                };
                start(&program).expect_err("no program").kind()
            };
            assert_eq!(fail("climax-echo", "/nosuch"), io::ErrorKind::NotFound);
            assert_eq!(fail("", bin), io::ErrorKind::NotFound);
            assert_eq!(fail("/bin/sh/x", bin), io::ErrorKind::NotADirectory);
            let path = format!("{bin}:/nosuch");
            assert_eq!(fail("climax-text", &path), io::ErrorKind::PermissionDenied);
        }
        fs::remove_dir_all(directory).expect("removed");
    }

    #[test]
    fn a_program_has_signals_as_they_are_by_default_and_none_is_blocked() {
        for mut start in starts() {
            let words = ["cat", "/proc/self/status"];
            let (text, _) = output(&mut start, &words, &[], Place::Here);
            let signals = |key: &str| {
                let line = text.lines().find(|line| line.starts_with(key));
                let digits = line.and_then(|line| line.split_whitespace().nth(1));
                u64::from_str_radix(digits.expect("a line"), 16).expect("a number")
            };
            // Rust programs ignore it.
            let pipe = 1 << (Signal::PIPE.as_raw() - 1);
            assert_eq!(signals("SigIgn") & pipe, 0, "{text}");
            assert_eq!(signals("SigBlk"), 0, "{text}");
        }
    }

    #[test]
    fn what_tells_the_end_of_a_program_does_so() {
        use rustix::event::{PollFd, PollFlags, poll};
        let [mut here, mut elsewhere] = starts();
        let (stdin, writer) = io::pipe().expect("a pipe");
        let program = Program {
            words: &["cat".to_owned()],
            env: &[],
            streams: [Some(stdin.as_fd()), None, None],
            place: Place::Here,
        };
        let started = here(&program).expect("started");
        let ends: Vec<_> = started.end.iter().collect();
        let mut files: Vec<_> = ends
            .iter()
            .map(|end| PollFd::new(*end, PollFlags::IN))
            .collect();
        let now = rustix::event::Timespec::default();
        assert_eq!(poll(&mut files, Some(&now)), Ok(0));
        drop(writer);
        if !ends.is_empty() {
            assert_eq!(poll(&mut files, None), Ok(1));
        }
        let other = elsewhere(&program).expect("started");
        assert!(other.end.is_none());
        for process in [started.process, other.process] {
            waitpid(Some(process), WaitOptions::empty()).expect("a child");
        }
    }

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).expect("positive")
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_others_are_not() {
        let row = |process, parent| Row {
            process: pid(process),
            parent: pid(parent),
        };
        let rows = [row(5, 4), row(2, 1), row(4, 3), row(3, 9), row(7, 6)];
        assert_eq!(descendants_of(pid(9), &rows), [3, 4, 5].map(pid));
    }
}

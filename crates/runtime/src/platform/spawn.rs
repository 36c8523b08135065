//! Linux: starts a program in a child that borrows this process's memory until it is that program, as
//! `posix_spawn` does.
//!
//! The C library's `posix_spawn` asks twice for each of 64 signals what it does. Without that a short
//! command is done about six percent sooner.

use std::env;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, chdir, fchdir, setpgid, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::{Place, Program, Started, default_signal};

/// Where programs are if no variable says it.
const USUAL_PATH: &[u8] = b"/bin:/usr/bin";

/// What a child needs until it is its program, in pieces of 16 bytes, by which stacks are aligned.
const STACK: usize = 32 * 1024 / size_of::<u128>();

/// Starts programs.
pub(crate) struct Starter {
    /// Our own variables.
    env: Vec<CString>,
    stack: Vec<u128>,
    /// The flag that asks for a file which tells a program's end. Not every system knows it.
    tells_end: c_int,
    /// Which signals a program is not to have as this process has them.
    handled: &'static [Signal],
}

impl Starter {
    /// Takes the variables as they are now.
    pub(crate) fn new(handled: &'static [Signal]) -> Self {
        let pair = |(name, value): (OsString, OsString)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
        };
        Self {
            env: env::vars_os().filter_map(pair).collect(),
            stack: vec![0; STACK],
            tells_end: libc::CLONE_PIDFD,
            handled,
        }
    }

    /// Starts a program as the leader of a new group of processes.
    pub(crate) fn start(&mut self, program: &Program<'_>) -> io::Result<Started> {
        let words = texts(program.words)?;
        let variables = texts(program.env)?;
        let env = merged(&self.env, &variables);
        let program_name = words.first().map_or(&b""[..], |word| word.to_bytes());
        let path = value_of(&env, b"PATH").unwrap_or(USUAL_PATH);
        let files = candidates(program_name, path)?;
        let directory = match program.place {
            Place::Named(directory) => Some(CString::new(directory)?),
            Place::Here | Place::Opened(_) => None,
        };
        let child = Child {
            files: &files,
            words: &pointers(&words),
            env: &pointers(&env),
            streams: program.streams,
            directory: directory.as_deref(),
            opened: match program.place {
                Place::Opened(directory) => Some(directory),
                Place::Here | Place::Named(_) => None,
            },
            handled: self.handled,
            mask: block_signals(),
            error: AtomicI32::new(0),
        };
        let mut started = child.start(&mut self.stack, self.tells_end);
        if let Err(error) = &started
            && error.kind() == io::ErrorKind::InvalidInput
        {
            self.tells_end = 0;
            started = child.start(&mut self.stack, self.tells_end);
        }
        restore_signals(&child.mask);
        let started = started?;
        match child.error.into_inner() {
            0 => Ok(started),
            error => {
                let _ = waitpid(Some(started.process), WaitOptions::empty());
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }
}

fn texts(texts: &[String]) -> io::Result<Vec<CString>> {
    let texts = texts.iter().map(|text| CString::new(text.as_str()));
    Ok(texts.collect::<Result<_, _>>()?)
}

/// As the system takes lists of texts.
fn pointers(texts: &[impl AsRef<CStr>]) -> Vec<*const c_char> {
    let texts = texts.iter().map(|text| text.as_ref().as_ptr());
    texts.chain([ptr::null()]).collect()
}

/// Our own variables, and others that are set beside or in place of them.
fn merged<'a>(own: &'a [CString], others: &'a [CString]) -> Vec<&'a CStr> {
    let is_replaced = |variable: &&CString| others.iter().any(|it| name(it) == name(variable));
    let own = own.iter().filter(|variable| !is_replaced(variable));
    own.chain(others).map(CString::as_c_str).collect()
}

fn name(variable: &CStr) -> &[u8] {
    let bytes = variable.to_bytes();
    &bytes[..memchr::memchr(b'=', bytes).unwrap_or(bytes.len())]
}

fn value_of<'a>(env: &[&'a CStr], wanted: &[u8]) -> Option<&'a [u8]> {
    let variable = env.iter().find(|variable| name(variable) == wanted)?;
    variable.to_bytes().get(wanted.len() + 1..)
}

/// The files that a name can stand for, those that come first first.
fn candidates(name: &[u8], path: &[u8]) -> io::Result<Vec<CString>> {
    if name.is_empty() || name.contains(&b'/') {
        return Ok(vec![CString::new(name)?]);
    }
    let directories = path.split(|&byte| byte == b':');
    let files = directories.map(|directory| match directory {
        // Where the program is to run.
        b"" => CString::new(name),
        directory => CString::new([directory, b"/", name].concat()),
    });
    Ok(files.collect::<Result<_, _>>()?)
}

/// All that a child needs to become its program. It lies in our memory, and is only read there.
struct Child<'a> {
    files: &'a [CString],
    words: &'a [*const c_char],
    env: &'a [*const c_char],
    streams: [Option<BorrowedFd<'a>>; 3],
    directory: Option<&'a CStr>,
    opened: Option<BorrowedFd<'a>>,
    handled: &'a [Signal],
    /// Which signals were blocked before.
    mask: libc::sigset_t,
    /// Why it did not become its program.
    error: AtomicI32,
}

impl Child<'_> {
    fn start(&self, stack: &mut [u128], tells_end: c_int) -> io::Result<Started> {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | tells_end;
        let mut end: c_int = -1;
        #[expect(unsafe_code, reason = "no crate has a safe function for it")]
        // SAFETY: the child shares our memory, but this thread goes on only when the child has become
        // its program or has ended, and so nothing that it uses goes away or changes meanwhile. It has
        // a stack of its own. `begin` allocates nothing, takes no lock and does not unwind, and with all
        // signals blocked, none is handled in the child.
        let process = unsafe {
            libc::clone(
                begin,
                stack.as_mut_ptr_range().end.cast(),
                flags,
                ptr::from_ref(self).cast_mut().cast(),
                &raw mut end,
            )
        };
        let Some(process) = Pid::from_raw(process.max(0)) else {
            return Err(io::Error::last_os_error());
        };
        #[expect(unsafe_code, reason = "the system returns a number")]
        // SAFETY: it was opened for us just now. Where it was not asked for, or by a system that does not
        // know the flag, it is as it was.
        let end = (end >= 0).then(|| unsafe { OwnedFd::from_raw_fd(end) });
        Ok(Started { process, end })
    }

    /// In the child: makes ready what the program is to find, and becomes it. Returns why not.
    fn become_program(&self) -> Errno {
        match self.prepare() {
            Ok(()) => self.execute(),
            Err(error) => error,
        }
    }

    fn prepare(&self) -> Result<(), Errno> {
        for signal in self.handled {
            default_signal(*signal);
        }
        setpgid(None, None)?;
        let [stdin, stdout, stderr] = self.streams;
        stdin.map_or(Ok(()), dup2_stdin)?;
        stdout.map_or(Ok(()), dup2_stdout)?;
        stderr.map_or(Ok(()), dup2_stderr)?;
        self.directory.map_or(Ok(()), chdir)?;
        self.opened.map_or(Ok(()), fchdir)?;
        restore_signals(&self.mask);
        Ok(())
    }

    fn execute(&self) -> Errno {
        let mut is_forbidden = false;
        for file in self.files {
            #[expect(unsafe_code, reason = "no crate has a safe function for it")]
            // SAFETY: all are texts that end with a zero, and lists of them that end with a null.
            unsafe {
                libc::execve(file.as_ptr(), self.words.as_ptr(), self.env.as_ptr());
            }
            let error = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOENT);
            if self.files.len() == 1 {
                return error;
            }
            match error {
                Errno::ACCESS => is_forbidden = true,
                Errno::NOENT
                | Errno::NOTDIR
                | Errno::NAMETOOLONG
                | Errno::STALE
                | Errno::NODEV
                | Errno::TIMEDOUT => {}
                other => return other,
            }
        }
        if is_forbidden {
            Errno::ACCESS
        } else {
            Errno::NOENT
        }
    }
}

/// What a child does until it is its program.
extern "C" fn begin(child: *mut c_void) -> c_int {
    #[expect(unsafe_code, reason = "the system hands over a pointer")]
    // SAFETY: it is what `Child::start` passed, which waits until this is over.
    let child = unsafe { &*child.cast::<Child<'_>>() };
    let error = child.become_program();
    child.error.store(error.raw_os_error(), Ordering::Relaxed);
    // What a shell says of a command that is not there; seen where a system has copied the memory.
    127
}

/// Returns which were blocked before.
fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    #[expect(unsafe_code, reason = "no crate in use has a safe function for it")]
    // SAFETY: the first call writes what the second reads, and that writes what is returned.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

fn restore_signals(mask: &libc::sigset_t) {
    #[expect(unsafe_code, reason = "no crate in use has a safe function for it")]
    // SAFETY: it is a set of signals, and nothing is written.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_cannot_tell_the_end_starts_programs_all_the_same() {
        let mut old = Starter::new(&[]);
        // No system takes this one without others.
        old.tells_end = libc::CLONE_THREAD;
        let program = Program {
            words: &["true".to_owned()],
            env: &[],
            streams: [None; 3],
            place: Place::Here,
        };
        let started = old.start(&program).expect("started");
        assert!(started.end.is_none());
        assert_eq!(old.tells_end, 0);
        let ended = waitpid(Some(started.process), WaitOptions::empty());
        let (_, status) = ended.expect("a child").expect("ended");
        assert_eq!(status.exit_status(), Some(0));
    }
}

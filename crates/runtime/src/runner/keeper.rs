//! A keeper: a small process that runs one command at a time and answers for all that the command
//! starts. It is the parent of the command and of every orphan among the command's descendants, so
//! nothing gets away, and it goes on when the server dies, so nothing stays behind.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getsid, kill_process, kill_process_group, test_kill_process,
    test_kill_process_group, wait,
};
use signal_hook::SigId;

use super::wire::{Order, Report};
use crate::platform::{self, Place, Program, Started, Starter};

/// These ask a keeper to end.
const ASKED_TO_END: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

/// What a command is to have as it is by default: the signals that a keeper hears, and the one that Rust
/// ignores.
const BY_DEFAULT: &[Signal] = &[
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::CHILD,
    Signal::PIPE,
];

/// How long processes have to end by themselves when they are asked to.
const GRACE: Duration = Duration::from_millis(200);

/// Most commands are done within this time. For these there is no need to hear of other processes.
const SOON: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long processes take that follow at once.
const A_MOMENT: Duration = Duration::from_millis(5);

/// How long to wait between two looks for processes that were born while others were killed.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How long undoing may take.
const UNDO_TIME: Duration = Duration::from_secs(20);

/// When to give up on a process that cannot be killed, because it is stuck in the system.
const GIVE_UP: Duration = Duration::from_secs(5);

/// A keeper's end of its line to the server.
pub(super) struct Line {
    /// What to run.
    pub(super) orders: UnixStream,
    /// What came of it.
    pub(super) reports: PipeWriter,
    /// Can be read when the server has let go.
    pub(super) leash: PipeReader,
}

impl Line {
    /// Nothing when the server has let go.
    fn next_order(&self) -> io::Result<Option<(Order<String>, Vec<OwnedFd>)>> {
        let files = [self.leash.as_fd(), self.orders.as_fd()];
        match wait_for_any(files, None)? {
            [true, _] => Ok(None),
            _ => match Order::receive(&self.orders) {
                // The call was taken back before it was there as a whole.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                other => other,
            },
        }
    }

    /// Nobody may be there to hear it.
    fn report(&self, report: Report) {
        let _ = (&self.reports).write_all(&report.encode());
    }

    /// Whether the server takes a command's end for a normal one. It does not when the call was
    /// cancelled meanwhile, or when the command ended because the server died.
    fn is_accepted(&self) -> bool {
        let files = [self.leash.as_fd(), self.orders.as_fd()];
        wait_for_any(files, None).is_ok_and(|[_, can_read]| can_read)
            && (&self.orders)
                .read(&mut [0])
                .is_ok_and(|length| length == 1)
    }
}

/// Keeps commands until the server lets go of the leash, or until one leaves something behind.
pub(super) fn keep(line: &Line) -> io::Result<()> {
    platform::adopt_orphans()?;
    let signals = Signals::new()?;
    let mut starter = Starter::new(BY_DEFAULT);
    while let Some((order, files)) = line.next_order()? {
        signals.forget_old();
        match start(&mut starter, &order, &files) {
            Ok(child) => {
                if !attend(line, &signals, &child, files, &order) {
                    break;
                }
            }
            Err(error) => {
                line.report(Report::Failed(error.raw_os_error().unwrap_or_default()));
            }
        }
    }
    Ok(())
}

fn start(starter: &mut Starter, order: &Order<String>, files: &[OwnedFd]) -> io::Result<Started> {
    let mut files = files.iter().map(AsFd::as_fd);
    // They are lost on the way where too many files are open.
    let mut next = || files.next().ok_or(Errno::MFILE);
    let (stdout, stderr) = (next()?, next()?);
    let place = if order.is_opened {
        Place::Opened(files.next_back().ok_or(Errno::MFILE)?)
    } else if order.directory.is_empty() {
        Place::Here
    } else {
        Place::Named(&order.directory)
    };
    starter.start(&Program {
        words: &order.words,
        env: &order.env,
        // Without a file for its input, it gets this process's, which is empty.
        streams: [files.next(), Some(stdout), Some(stderr)],
        place,
    })
}

/// Waits for the end of a command, or for the word to end it. Returns whether nothing is left.
fn attend(
    line: &Line,
    signals: &Signals,
    started: &Started,
    files: Vec<OwnedFd>,
    order: &Order<String>,
) -> bool {
    let mut tree = Tree::new(started.process);
    // Without a means to wait there is nothing to wait for.
    let (ended, has_others) = tree
        .wait_for_leader(&line.leash, signals, started.end.as_ref())
        .unwrap_or((None, true));
    let was_killed = ended.is_none_or(|status| ExitStatus::from_raw(status).code().is_none());
    if let Some(status) = ended
        && (!was_killed || order.undo.is_empty())
        && !has_others
        && !tree.has_group()
    {
        // This process still has the command's pipes open, and nobody else has. So the server is
        // woken up by the report alone, and takes what is in the pipes.
        let is_clean = true;
        line.report(Report::Ended { status, is_clean });
        return is_clean;
    }
    drop(files);
    let is_clean = false;
    let status = ended.unwrap_or_else(|| tree.end(Scope::Everything));
    if was_killed {
        undo(order);
    }
    line.report(Report::Ended { status, is_clean });
    if ended.is_some() {
        // The answer does not wait for this.
        tree.end(if line.is_accepted() {
            getsid(None).map_or(Scope::Everything, Scope::Session)
        } else {
            Scope::Everything
        });
    }
    is_clean
}

/// Undoes what a command did elsewhere, such as starting a container.
fn undo(order: &Order<String>) {
    let mut words = order.undo.iter();
    let Some(program) = words.next() else { return };
    let spawned = Command::new(program)
        .args(words)
        .envs(order.env.iter().filter_map(|pair| pair.split_once('=')))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else { return };
    let start = Instant::now();
    while let Ok(None) = child.try_wait() {
        if start.elapsed() >= UNDO_TIME {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        thread::sleep(A_MOMENT);
    }
}

/// What a keeper hears by signals.
struct Signals {
    /// Can be read after each.
    any: UnixStream,
    /// Whether the keeper was asked to end. It does not die of that, but ends its command first.
    to_end: Arc<AtomicBool>,
    /// The other end of it.
    writer: UnixStream,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let (any, writer) = UnixStream::pair()?;
        any.set_nonblocking(true)?;
        let to_end = Arc::new(AtomicBool::new(false));
        for signal in ASKED_TO_END {
            signal_hook::flag::register(signal.as_raw(), to_end.clone())?;
            signal_hook::low_level::pipe::register(signal.as_raw(), writer.try_clone()?)?;
        }
        Ok(Self {
            any,
            to_end,
            writer,
        })
    }

    /// Has the keeper hear of each child that ends, from now on.
    fn of_children(&self) -> io::Result<OfChildren<'_>> {
        let writer = self.writer.try_clone()?;
        let id = signal_hook::low_level::pipe::register(Signal::CHILD.as_raw(), writer)?;
        Ok(OfChildren { signals: self, id })
    }

    /// What came while nothing ran is not meant for what runs next.
    fn forget_old(&self) {
        if self.to_end.swap(false, Ordering::Relaxed) {
            self.forget();
        }
    }

    fn forget(&self) {
        let mut buffer = [0; 64];
        while let Ok(64..) = (&self.any).read(&mut buffer) {}
    }
}

/// As long as it is there, a keeper hears of children.
struct OfChildren<'a> {
    signals: &'a Signals,
    id: SigId,
}

impl Drop for OfChildren<'_> {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.id);
        self.signals.forget();
    }
}

/// Waits until one of the files can be read, or for some time. Returns which can.
fn wait_for_any<const N: usize>(
    files: [BorrowedFd<'_>; N],
    time: Option<&Timespec>,
) -> io::Result<[bool; N]> {
    let mut files = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
    while let Err(error) = poll(&mut files, time) {
        if error != Errno::INTR {
            return Err(error.into());
        }
    }
    Ok(files.map(|file| !file.revents().is_empty()))
}

/// Which processes of a command are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// All.
    Everything,
    /// Those in this session. One that has made a session of its own is a daemon, which is to
    /// outlive the command that started it.
    Session(Pid),
}

/// The processes of a command.
struct Tree {
    leader: Pid,
    /// How the leader ended, if it was waited for. Its number may be another's after that.
    status: Option<i32>,
    /// Where orphans are not ours: those that were found before the first of them ended.
    known: Vec<Pid>,
}

impl Tree {
    fn new(leader: Pid) -> Self {
        Self {
            leader,
            status: None,
            known: Vec::new(),
        }
    }

    /// The leader's status, or nothing if the server does not want to wait for it, and whether other
    /// children live. Orphans that end meanwhile are waited for too.
    fn wait_for_leader(
        &mut self,
        leash: &PipeReader,
        signals: &Signals,
        end: Option<&OwnedFd>,
    ) -> io::Result<(Option<i32>, bool)> {
        let (leash, any) = (leash.as_fd(), signals.any.as_fd());
        let mut is_let_go = false;
        if let Some(end) = end {
            [is_let_go, ..] = wait_for_any([leash, any, end.as_fd()], Some(&SOON))?;
        }
        let mut of_children = None;
        loop {
            let has_children = self.has_children();
            let is_to_end = is_let_go || signals.to_end.load(Ordering::Relaxed);
            if is_to_end || self.status.is_some() || !has_children {
                return Ok((self.status, has_children));
            }
            if of_children.is_none() {
                // One may have ended before.
                of_children = Some(signals.of_children()?);
                continue;
            }
            [is_let_go, _] = wait_for_any([leash, any], None)?;
            signals.forget();
        }
    }

    /// Ends them: they are asked, each once, and after a while killed. Returns the leader's status.
    fn end(&mut self, scope: Scope) -> i32 {
        // One that was stopped cannot hear unless it goes on.
        const ASK: &[Signal] = &[Signal::TERM, Signal::CONT];
        if !platform::ADOPTS_ORPHANS {
            self.known = members(scope);
        }
        let has_asked_group = self.status.is_none() || self.has_group();
        if has_asked_group {
            signal_group(self.leader, ASK);
            // Mostly that is all, and there is no need to look for others.
            if self.is_gone_within(A_MOMENT, scope) {
                return self.status();
            }
        }
        let mut others = self.members(scope);
        if has_asked_group {
            // What the group has started since, it needs to clean up.
            others.retain(|&other| getpgid(Some(other)) != Ok(self.leader));
        }
        signal_each(&others, ASK);
        if !self.is_gone_within(GRACE, scope) {
            let start = Instant::now();
            while start.elapsed() < GIVE_UP {
                self.kill(scope);
                if self.is_gone_within(LOOK_AGAIN, scope) {
                    break;
                }
            }
        }
        self.status()
    }

    fn kill(&self, scope: Scope) {
        let members = self.members(scope);
        // A whole group at once leaves none of it the time to fork. Our own is no command's.
        let own_group = getpgid(None);
        for &member in &members {
            if let Ok(group) = getpgid(Some(member))
                && Ok(group) != own_group
            {
                signal_group(group, &[Signal::KILL]);
            }
        }
        signal_each(&members, &[Signal::KILL]);
        if self.has_group() {
            signal_group(self.leader, &[Signal::KILL]);
        }
    }

    fn status(&self) -> i32 {
        self.status.unwrap_or(Signal::KILL.as_raw())
    }

    fn is_gone_within(&mut self, time: Duration, scope: Scope) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        while self.is_there(scope) {
            if start.elapsed() >= time {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK_AGAIN);
        }
        true
    }

    fn is_there(&mut self, scope: Scope) -> bool {
        let has_children = self.has_children();
        self.known
            .retain(|&process| test_kill_process(process).is_ok());
        self.has_group()
            || !self.known.is_empty()
            || match scope {
                Scope::Everything => has_children,
                // One that moves from a parent to the next can be missed by a look.
                Scope::Session(_) => has_children && (0..2).any(|_| !members(scope).is_empty()),
            }
    }

    /// Whether children live. Those that have ended are waited for.
    fn has_children(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((child, status))) if child == self.leader => {
                    self.status = Some(status.as_raw());
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn members(&self, scope: Scope) -> Vec<Pid> {
        let mut members = members(scope);
        for &process in &self.known {
            if !members.contains(&process) {
                members.push(process);
            }
        }
        members
    }

    /// Where orphans are not ours, the leader's group is all that can be known of them.
    fn has_group(&self) -> bool {
        !platform::ADOPTS_ORPHANS && test_kill_process_group(self.leader).is_ok()
    }
}

fn members(scope: Scope) -> Vec<Pid> {
    let mut members = platform::descendants().unwrap_or_default();
    if let Scope::Session(session) = scope {
        members.retain(|&member| getsid(Some(member)) == Ok(session));
    }
    members
}

fn signal_each(processes: &[Pid], signals: &[Signal]) {
    for &signal in signals {
        for &process in processes {
            // What is gone meanwhile needs none.
            let _ = kill_process(process, signal);
        }
    }
}

fn signal_group(leader: Pid, signals: &[Signal]) {
    for &signal in signals {
        let _ = kill_process_group(leader, signal);
    }
}

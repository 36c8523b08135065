//! Runs programs as a user other than root, to whom all rules of the system apply.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Folder;

/// A user other than root. All of its processes are killed at the end.
pub struct OtherUser {
    id: u32,
    /// Contains the server, which this user can read.
    folder: Folder,
}

impl OtherUser {
    /// A user that has no processes, and a copy of a server for it. Returns `None` if this process cannot start
    /// processes as another user.
    ///
    /// # Panics
    /// The server cannot be copied.
    #[must_use]
    pub fn new(server: &str) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Folder::new();
        let program = folder.path().join("server");
        fs::copy(server, &program).expect("copied");
        for path in [folder.path(), &program] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).expect("set");
        }
        let user = Self {
            id: 2_000_000 + process::id() * 16 + number,
            folder,
        };
        let status = user.command(&Command::new("true")).status();
        if status.is_ok_and(|status| status.success()) {
            return Some(user);
        }
        eprintln!("skipped: this needs root, to start processes as another user");
        None
    }

    /// The copy of the server.
    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("server")
    }

    /// The user's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A command that runs another one as this user.
    #[must_use]
    pub fn command(&self, command: &Command) -> Command {
        let id = self.id.to_string();
        let mut switch = Command::new("setpriv");
        switch
            .args(["--reuid", &id, "--regid", &id, "--clear-groups"])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir("/");
        copy_variables(command, &mut switch);
        switch
    }

    /// How many processes the user has.
    ///
    /// # Panics
    /// `/proc` cannot be read.
    #[must_use]
    pub fn count_processes(&self) -> usize {
        let processes = fs::read_dir("/proc").expect("a table").flatten();
        let owners = processes.filter_map(|process| process.metadata().ok());
        owners.filter(|owner| owner.uid() == self.id).count()
    }
}

impl Drop for OtherUser {
    fn drop(&mut self) {
        let mut kill = self.command(Command::new("sh").args(["-c", "kill -KILL -1"]));
        let _ = kill.status();
    }
}

/// Gives a command the variables of another one.
pub fn copy_variables(from: &Command, to: &mut Command) {
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
}

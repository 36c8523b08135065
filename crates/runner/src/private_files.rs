//! Files that exist only during a call: only this user can read them, and they are removed when the call ends.
//!
//! Every server has a directory of its own, which it locks as long as it lives, and every call that needs files has
//! a directory in it. The worker of a call removes that directory even if the server was killed. What remains after
//! both were killed is not locked, and the next server removes it.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{self, Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::geteuid;

/// Permissions of directories: only this user.
const DIRECTORY_MODE: u32 = 0o700;
/// Permissions of files: only this user.
const FILE_MODE: u32 = 0o600;

/// The private files of one server. Creating it does not touch the file system.
pub struct PrivateFiles {
    /// The directory of all servers of this user.
    base: PathBuf,
    /// The name of this server's directory in it.
    server_name: String,
    next_call: AtomicU64,
    /// This server's directory, once it exists. It is locked while it is open.
    locked: Mutex<Option<fs::File>>,
    leftovers: Once,
}

impl Default for PrivateFiles {
    fn default() -> Self {
        let temporary = env::temp_dir();
        // The command may run in another directory.
        Self::within(&path::absolute(&temporary).unwrap_or(temporary))
    }
}

impl PrivateFiles {
    fn within(temporary: &Path) -> Self {
        let mut random = [0; 8];
        // Without random numbers, the process id makes the name unique among running servers.
        let _ = getrandom::fill(&mut random);
        let random = u64::from_le_bytes(random);
        Self {
            base: temporary.join(format!("climax-{}", geteuid().as_raw())),
            server_name: format!("{}-{random:016x}", process::id()),
            next_call: AtomicU64::new(1),
            locked: Mutex::new(None),
            leftovers: Once::new(),
        }
    }

    /// The path of the directory for the next call. It does not exist yet.
    #[must_use]
    pub fn next_directory(&self) -> PathBuf {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        self.server_directory().join(number.to_string())
    }

    /// Creates the directory of a call and its files. Names must not contain a slash.
    ///
    /// # Errors
    /// A directory or a file could not be created, or another user owns the directory of all servers.
    pub fn write<'f>(
        &self,
        directory: &Path,
        files: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> io::Result<CallDirectory> {
        self.lock_server_directory()?;
        if let Err(error) = create_directory(directory) {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            // Something has removed this server's directory.
            *self.lock() = None;
            self.lock_server_directory()?;
            create_directory(directory)?;
        }
        let directory = CallDirectory(directory.to_owned());
        for (name, text) in files {
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(FILE_MODE)
                .open(directory.0.join(name))?;
            file.write_all(text.as_bytes())?;
        }
        Ok(directory)
    }

    /// Removes the files of servers that were killed together with their workers. Only the first call does anything.
    pub(crate) fn remove_leftovers(&self) {
        self.leftovers.call_once(|| {
            // Usually the directory does not exist.
            if self.check_base().is_err() {
                return;
            }
            let servers = fs::read_dir(&self.base).into_iter().flatten().flatten();
            for server in servers {
                let path = server.path();
                if let Ok(directory) = open_directory(&path)
                    && flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()
                {
                    // Files that another process removes at the same time are no error.
                    let _ = fs::remove_dir_all(path);
                }
            }
        });
    }

    /// Fails unless the directory of all servers is a private directory of this user. Another user could have
    /// created it, or a link with its name.
    fn check_base(&self) -> io::Result<()> {
        let base = fs::symlink_metadata(&self.base)?;
        let mode = base.permissions().mode() & 0o777;
        if base.is_dir() && base.uid() == geteuid().as_raw() && mode == DIRECTORY_MODE {
            return Ok(());
        }
        let message = format!(
            "{} is not a private directory of this user",
            self.base.display()
        );
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }

    fn server_directory(&self) -> PathBuf {
        self.base.join(&self.server_name)
    }

    /// Creates this server's directory and locks it, unless that was done before.
    fn lock_server_directory(&self) -> io::Result<()> {
        let mut locked = self.lock();
        if locked.is_some() {
            return Ok(());
        }
        create_unless_exists(&self.base)?;
        self.check_base()?;
        let path = self.server_directory();
        create_unless_exists(&path)?;
        let directory = open_directory(&path)?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
        *locked = Some(directory);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<fs::File>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PrivateFiles {
    fn drop(&mut self) {
        let locked = self.locked.get_mut();
        if locked.unwrap_or_else(PoisonError::into_inner).is_some() {
            let _ = fs::remove_dir_all(self.server_directory());
        }
    }
}

fn create_unless_exists(path: &Path) -> io::Result<()> {
    match create_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Opens a directory, and nothing else: opening a pipe would block.
fn open_directory(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

fn create_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(DIRECTORY_MODE).create(path)
}

/// The directory with the files of a call. Dropping it removes the directory.
pub struct CallDirectory(PathBuf);

impl Drop for CallDirectory {
    fn drop(&mut self) {
        // The worker may have removed it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty directory that is removed when it is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("{name}-{}", process::id()));
            fs::create_dir(&path).expect("a new directory");
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("exists").permissions().mode() & 0o777
    }

    #[test]
    fn files_are_private_and_removed_with_their_call() {
        let scratch = Scratch::new("private-files");
        let files = PrivateFiles::within(&scratch.0);
        let directory = files.next_directory();
        let call = files
            .write(&directory, [("a.txt", "text")])
            .expect("written");
        let file = directory.join("a.txt");
        assert_eq!(fs::read_to_string(&file).expect("a file"), "text");
        assert_eq!((mode(&directory), mode(&file)), (0o700, 0o600));
        assert!(files.write(&directory, []).is_err(), "exists already");
        assert_ne!(files.next_directory(), directory);
        drop(call);
        assert!(!directory.exists());
        drop(files);
        assert_eq!(
            fs::read_dir(scratch.0.join(base_name()))
                .expect("a directory")
                .count(),
            0
        );
    }

    fn base_name() -> String {
        format!("climax-{}", geteuid().as_raw())
    }

    #[test]
    fn leftovers_are_removed_unless_their_server_lives() {
        let scratch = Scratch::new("private-leftovers");
        let living = PrivateFiles::within(&scratch.0);
        let directory = living.next_directory();
        let _call = living.write(&directory, [("a", "")]).expect("written");
        let dead = scratch.0.join(base_name()).join("1-dead");
        fs::create_dir_all(dead.join("1")).expect("a directory");
        PrivateFiles::within(&scratch.0).remove_leftovers();
        assert!(directory.exists());
        assert!(!dead.exists());
    }

    #[test]
    fn nothing_is_removed_through_a_link() {
        let scratch = Scratch::new("private-link");
        let home = scratch.0.join("home");
        fs::create_dir_all(home.join("documents")).expect("a directory");
        std::os::unix::fs::symlink(&home, scratch.0.join(base_name())).expect("a link");
        PrivateFiles::within(&scratch.0).remove_leftovers();
        assert!(home.join("documents").exists());
    }

    #[test]
    fn a_removed_directory_is_created_again() {
        let scratch = Scratch::new("private-removed");
        let files = PrivateFiles::within(&scratch.0);
        drop(files.write(&files.next_directory(), []).expect("written"));
        fs::remove_dir_all(files.server_directory()).expect("removed");
        assert!(files.write(&files.next_directory(), []).is_ok());
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let scratch = Scratch::new("private-shared");
        let base = scratch.0.join(base_name());
        fs::create_dir(&base).expect("a directory");
        fs::set_permissions(&base, fs::Permissions::from_mode(0o777)).expect("permissions");
        let files = PrivateFiles::within(&scratch.0);
        let error = files
            .write(&files.next_directory(), [])
            .err()
            .expect("refused");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}

//! Stores output that is too long for a response in unlinked temporary files, within a limit for all of them.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::limits;
use crate::stored_output::StoredOutput;

/// The most files that a store has open.
const MAX_FILES: usize = 256;

/// The size of a store, as a multiple of what one call may store.
const CALLS_PER_STORE: u64 = 4;

/// Where output is stored, and how much.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The directory of the files. They have no names, so they vanish with the process.
    pub directory: PathBuf,
    /// Bytes stored per call. All calls together store at most four times as many.
    pub max_call_bytes: u64,
}

/// Stored outputs by id. When a new output needs space, the oldest ones are removed.
pub struct OutputStore {
    options: StoreOptions,
    max_files: usize,
    state: Mutex<StoreState>,
}

/// The share of a store that one call may use.
#[derive(Clone, Debug)]
pub struct CallStore {
    /// Weak, because the store owns outputs that refer to it.
    store: Weak<OutputStore>,
    /// Bytes that the call may still store.
    remaining: Arc<AtomicU64>,
}

#[derive(Default)]
struct StoreState {
    /// Bytes of all files, including those that are still being written.
    bytes: u64,
    files: usize,
    /// Complete outputs, the oldest first.
    kept: VecDeque<(OutputId, Arc<StoredOutput>)>,
}

/// An id that nobody can guess.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OutputId(u128);

impl OutputId {
    /// Parses what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_valid = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok();
        number.filter(|_| is_valid).map(Self)
    }

    fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(u128::from_ne_bytes(bytes)))
    }
}

impl fmt::Display for OutputId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl fmt::Debug for OutputId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl OutputStore {
    /// Creates an empty store. The directory is not used before an output is stored.
    #[must_use]
    pub fn new(options: StoreOptions) -> Arc<Self> {
        Arc::new(Self {
            options,
            max_files: limits::max_stored_files().min(MAX_FILES),
            state: Mutex::default(),
        })
    }

    /// The output with this id, unless it was removed.
    #[must_use]
    pub fn get(&self, id: OutputId) -> Option<Arc<StoredOutput>> {
        let state = self.lock();
        let mut kept = state.kept.iter();
        kept.find(|(known, _)| *known == id)
            .map(|(_, output)| output.clone())
    }

    /// The share of the store for a new call.
    #[must_use]
    pub fn for_call(self: &Arc<Self>) -> CallStore {
        CallStore {
            store: Arc::downgrade(self),
            remaining: Arc::new(AtomicU64::new(self.options.max_call_bytes)),
        }
    }

    /// Takes something if there is room for it, after removing as many of the oldest outputs as necessary.
    fn take(&self, has_room: impl Fn(&StoreState) -> bool, take: impl Fn(&mut StoreState)) -> bool {
        loop {
            let mut state = self.lock();
            if has_room(&state) {
                take(&mut state);
                return true;
            }
            let oldest = state.kept.pop_front();
            // Dropping the output releases its space, which needs the lock.
            drop(state);
            if oldest.is_none() {
                return false;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallStore {
    /// Keeps a complete output under a new id.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn keep(&self, output: StoredOutput) -> io::Result<OutputId> {
        let id = OutputId::random()?;
        let store = self.store()?;
        store.lock().kept.push_back((id, Arc::new(output)));
        Ok(id)
    }

    /// Creates a file for a new output.
    pub(crate) fn create(&self) -> io::Result<StoredOutput> {
        let store = self.store()?;
        if store.options.max_call_bytes == 0 {
            return Err(io::Error::other("--max-output is 0"));
        }
        if !store.take(
            |state| state.files < store.max_files,
            |state| state.files += 1,
        ) {
            return Err(io::Error::other("too many outputs are being stored"));
        }
        match tempfile::tempfile_in(&store.options.directory) {
            Ok(file) => Ok(StoredOutput::new(file, self.clone())),
            Err(error) => {
                self.release_file(0);
                Err(error)
            }
        }
    }

    /// Reserves space. Returns how many of the `wanted` bytes may be stored.
    pub(crate) fn reserve(&self, wanted: u64) -> u64 {
        let Ok(store) = self.store() else { return 0 };
        let wanted = wanted.min(self.remaining.load(Ordering::Relaxed));
        let max_bytes = store.options.max_call_bytes.saturating_mul(CALLS_PER_STORE);
        let is_reserved = store.take(
            |state| state.bytes + wanted <= max_bytes,
            |state| state.bytes += wanted,
        );
        if !is_reserved {
            return 0;
        }
        // Both outputs of a call are read by the same task, so nothing was taken in between.
        self.remaining.fetch_sub(wanted, Ordering::Relaxed);
        wanted
    }

    /// Returns reserved space.
    pub(crate) fn release_bytes(&self, bytes: u64) {
        if let Ok(store) = self.store() {
            store.lock().bytes -= bytes;
            self.remaining.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the space of a file.
    pub(crate) fn release_file(&self, bytes: u64) {
        if let Ok(store) = self.store() {
            let mut state = store.lock();
            state.files -= 1;
            state.bytes -= bytes;
        }
    }

    fn store(&self) -> io::Result<Arc<OutputStore>> {
        let store = self.store.upgrade();
        store.ok_or_else(|| io::Error::other("the store was closed"))
    }
}

impl fmt::Debug for OutputStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OutputStore")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(max_call_bytes: u64) -> Arc<OutputStore> {
        OutputStore::new(StoreOptions {
            directory: std::env::temp_dir(),
            max_call_bytes,
        })
    }

    fn keep(store: &Arc<OutputStore>, bytes: &[u8]) -> OutputId {
        let call = store.for_call();
        let mut output = call.create().expect("a file");
        output.append(bytes);
        call.keep(output).expect("random numbers")
    }

    #[test]
    fn the_oldest_outputs_make_room_for_new_ones() {
        let store = store(10);
        let ids: Vec<OutputId> = (0..4).map(|_| keep(&store, &[b'x'; 10])).collect();
        assert!(ids.iter().all(|id| store.get(*id).is_some()));
        let newest = keep(&store, b"y");
        assert!(store.get(ids[0]).is_none());
        assert!(store.get(ids[1]).is_some());
        assert!(store.get(newest).is_some());
        assert_eq!(store.lock().bytes, 31);
        assert_eq!(store.lock().files, 4);
    }

    #[test]
    fn outputs_that_are_still_written_are_not_removed() {
        let store = store(10);
        let mut outputs: Vec<StoredOutput> = (0..5)
            .map(|_| store.for_call().create().expect("a file"))
            .collect();
        for output in &mut outputs {
            output.append(&[b'x'; 20]);
        }
        let sizes: Vec<u64> = outputs.iter().map(StoredOutput::size).collect();
        assert_eq!(sizes, [10, 10, 10, 10, 0]);
        drop(outputs);
        assert_eq!(store.lock().bytes, 0);
        assert_eq!(store.lock().files, 0);
    }

    #[test]
    fn the_outputs_of_a_call_share_its_limit() {
        let store = store(10);
        let call = store.for_call();
        let mut stdout = call.create().expect("a file");
        let mut stderr = call.create().expect("a file");
        stdout.append(&[b'x'; 7]);
        stderr.append(&[b'y'; 7]);
        assert_eq!((stdout.size(), stderr.size()), (7, 3));
    }

    #[test]
    fn at_most_a_fixed_number_of_files_is_open() {
        let store = store(10);
        let first = keep(&store, b"x");
        for _ in 0..MAX_FILES {
            keep(&store, b"");
        }
        assert!(store.get(first).is_none());
        assert!(store.lock().files <= MAX_FILES);
    }

    #[test]
    fn an_id_is_parsed_from_its_text_only() {
        let id = OutputId::random().expect("random numbers");
        assert_eq!(OutputId::parse(&id.to_string()), Some(id));
        assert_ne!(OutputId::random().expect("random numbers"), id);
        for text in ["", "1", "+0000000000000000000000000000001", &"g".repeat(32)] {
            assert_eq!(OutputId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let store = OutputStore::new(StoreOptions {
            directory: "/no/such/directory".into(),
            max_call_bytes: 10,
        });
        assert!(store.for_call().create().is_err());
        assert_eq!(store.lock().files, 0);
    }
}

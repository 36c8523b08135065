//! Stores output that is too long for a response in unnamed temporary files, within a limit for all of them.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::limits;
use crate::stored_output::StoredOutput;

/// The size of a store, as a multiple of what one call may store.
const CALLS_PER_STORE: u64 = 4;

/// One part in this many of what a call may store is for standard error. The two streams have limits of their
/// own, so that much standard output does not displace an error message.
const STDERR_DIVISOR: u64 = 16;

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

/// The share of a store for one output stream of a call.
#[derive(Clone, Debug)]
pub struct StreamStore {
    /// Weak, because the store owns outputs that refer to it.
    store: Weak<OutputStore>,
    /// Bytes that may be stored.
    max_bytes: u64,
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
            max_files: limits::max_stored_files(),
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

    /// The share for the standard output of a call.
    #[must_use]
    pub fn for_stdout(self: &Arc<Self>) -> StreamStore {
        let max_bytes = self.options.max_call_bytes;
        self.share(max_bytes - max_bytes / STDERR_DIVISOR)
    }

    /// The share for the standard error of a call.
    #[must_use]
    pub fn for_stderr(self: &Arc<Self>) -> StreamStore {
        self.share(self.options.max_call_bytes / STDERR_DIVISOR)
    }

    fn share(self: &Arc<Self>, max_bytes: u64) -> StreamStore {
        StreamStore {
            store: Arc::downgrade(self),
            max_bytes,
        }
    }

    /// Reserves space, after removing as many of the oldest outputs as necessary. Outputs that are being read
    /// stay. Returns false, and removes nothing, if there is not enough space.
    fn reserve(&self, bytes: u64, files: usize) -> bool {
        let max_bytes = self.options.max_call_bytes.saturating_mul(CALLS_PER_STORE);
        // Dropped after the lock is released: an output needs the lock to release its space.
        let mut removed = Vec::new();
        let mut state = self.lock();
        let (mut used_bytes, mut used_files) = (state.bytes + bytes, state.files + files);
        let mut numbers = Vec::new();
        for (number, (_, output)) in state.kept.iter().enumerate() {
            if used_bytes <= max_bytes && used_files <= self.max_files {
                break;
            }
            if Arc::strong_count(output) == 1 {
                used_bytes -= output.size();
                used_files -= 1;
                numbers.push(number);
            }
        }
        if used_bytes > max_bytes || used_files > self.max_files {
            return false;
        }
        for number in numbers.into_iter().rev() {
            removed.extend(state.kept.remove(number));
        }
        state.bytes += bytes;
        state.files += files;
        drop(state);
        true
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamStore {
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
        if self.max_bytes == 0 {
            return Err(io::Error::other("the limit of stored output is 0"));
        }
        if !store.reserve(0, 1) {
            return Err(io::Error::other("too many outputs are being stored"));
        }
        match tempfile::tempfile_in(&store.options.directory) {
            Ok(file) => Ok(StoredOutput::new(file, self.clone())),
            Err(error) => {
                self.release(0, 1);
                Err(error)
            }
        }
    }

    /// Reserves space for an output that has `size` bytes now. Returns how many of the `wanted` bytes it may add.
    pub(crate) fn reserve(&self, size: u64, wanted: u64) -> u64 {
        let wanted = wanted.min(self.max_bytes.saturating_sub(size));
        let store = self.store();
        if store.is_ok_and(|store| store.reserve(wanted, 0)) {
            wanted
        } else {
            0
        }
    }

    /// Releases reserved space.
    pub(crate) fn release(&self, bytes: u64, files: usize) {
        if let Ok(store) = self.store() {
            let mut state = store.lock();
            state.bytes -= bytes;
            state.files -= files;
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

    /// A store in which the standard output of a call has this limit.
    fn store(max_stdout_bytes: u64) -> Arc<OutputStore> {
        OutputStore::new(StoreOptions {
            directory: std::env::temp_dir(),
            max_call_bytes: max_stdout_bytes,
        })
    }

    fn keep(store: &Arc<OutputStore>, bytes: &[u8]) -> OutputId {
        let stream = store.for_stdout();
        let mut output = stream.create().expect("a file");
        output.append(bytes);
        stream.keep(output).expect("random numbers")
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
    fn outputs_that_are_written_or_read_are_not_removed() {
        let store = store(10);
        let read = keep(&store, &[b'r'; 10]);
        let reader = store.get(read).expect("kept");
        let stream = store.for_stdout();
        let mut outputs: Vec<StoredOutput> =
            (0..4).map(|_| stream.create().expect("a file")).collect();
        let kept = keep(&store, b"");
        for output in &mut outputs {
            output.append(&[b'x'; 20]);
        }
        let sizes: Vec<u64> = outputs.iter().map(StoredOutput::size).collect();
        assert_eq!(sizes, [10, 10, 10, 0]);
        // Removing it would not have made enough space.
        assert!(store.get(kept).is_some());
        drop(outputs);
        drop(reader);
        assert_eq!(store.lock().bytes, 10);
        assert_eq!(store.lock().files, 2);
    }

    #[test]
    fn the_streams_of_a_call_have_limits_of_their_own() {
        let store = store(160);
        let mut stdout = store.for_stdout().create().expect("a file");
        let mut stderr = store.for_stderr().create().expect("a file");
        stdout.append(&[b'x'; 1000]);
        stderr.append(&[b'y'; 1000]);
        assert_eq!((stdout.size(), stderr.size()), (150, 10));
    }

    #[test]
    fn at_most_a_fixed_number_of_files_is_open() {
        let store = store(10);
        let first = keep(&store, b"x");
        for _ in 0..store.max_files {
            keep(&store, b"");
        }
        assert!(store.get(first).is_none());
        assert_eq!(store.lock().files, store.max_files);
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
        assert!(store.for_stdout().create().is_err());
        assert_eq!(store.lock().files, 0);
    }
}

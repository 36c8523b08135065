//! A file that holds an output: all of it, or its beginning and its end.
//!
//! Output is appended until a limit is reached or a write fails. From then on the second half of the file is a
//! ring buffer that holds the latest output, so what is lost is in the middle.
//!
//! Files are written on the thread of the event loop. A write of 16 KiB to the page cache takes a few
//! microseconds, as long as reading it from the command's pipe.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::store::StreamStore;

/// The stored part of an output. Offsets count from the beginning of the output, not of the file.
pub struct StoredOutput {
    file: File,
    store: StreamStore,
    /// The size of the file.
    size: u64,
    /// Set when the file cannot grow any more: where its ring buffer begins.
    ring_start: Option<u64>,
    /// Bytes appended so far, stored or not.
    appended: u64,
    /// Why a write failed.
    write_error: Option<String>,
    summary: OutputSummary,
}

/// What is known about a complete output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputSummary {
    /// Bytes of the whole output.
    pub bytes: u64,
    /// Lines of the whole output. The last one may be without a line end.
    pub lines: u64,
    /// Whether it is text: without NUL bytes, and at most a tenth of it invalid UTF-8.
    pub is_text: bool,
}

impl StoredOutput {
    pub(crate) fn new(file: File, store: StreamStore) -> Self {
        Self {
            file,
            store,
            size: 0,
            ring_start: None,
            appended: 0,
            write_error: None,
            summary: OutputSummary::default(),
        }
    }

    /// Completes the output.
    pub(crate) fn complete(&mut self, summary: OutputSummary) {
        self.summary = summary;
    }

    /// Appends output. Never fails: what cannot be stored is missing from the middle.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) {
        if self.ring_start.is_none() {
            let grown = self.grow(bytes);
            self.appended += grown as u64;
            bytes = &bytes[grown..];
            if bytes.is_empty() {
                return;
            }
            self.ring_start = Some(self.size / 2);
        }
        let end = self.appended + bytes.len() as u64;
        let ring = self.ring();
        // If the bytes are longer than the ring buffer, only their end is stored.
        let stored = bytes
            .len()
            .min(usize::try_from(ring.end - ring.start).unwrap_or(usize::MAX));
        bytes = &bytes[bytes.len() - stored..];
        self.appended = end - stored as u64;
        while !bytes.is_empty() {
            let position = self.position(self.appended);
            let space = usize::try_from(ring.end - position).unwrap_or(usize::MAX);
            let (chunk, rest) = bytes.split_at(bytes.len().min(space));
            if let Err(error) = self.file.write_all_at(chunk, position) {
                // The ring buffer cannot be used, so only the beginning stays.
                self.write_error.get_or_insert(error.to_string());
                self.truncate(ring.start);
                break;
            }
            self.appended += chunk.len() as u64;
            bytes = rest;
        }
        self.appended = end;
    }

    /// Makes the file longer. Returns how many bytes were added.
    fn grow(&mut self, bytes: &[u8]) -> usize {
        let reserved = self.store.reserve(self.size, bytes.len() as u64);
        let allowed = usize::try_from(reserved).unwrap_or(bytes.len());
        let mut written = 0;
        while written < allowed {
            let position = self.size + written as u64;
            match self.file.write_at(&bytes[written..allowed], position) {
                Ok(length @ 1..) => written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The disk is full, for example.
                Err(error) => {
                    self.write_error.get_or_insert(error.to_string());
                    break;
                }
                Ok(0) => break,
            }
        }
        self.store.release(reserved - written as u64, 0);
        self.size += written as u64;
        written
    }

    fn truncate(&mut self, size: u64) {
        // If this fails, the file keeps its blocks, which the limit of the store then does not count.
        let _ = self.file.set_len(size);
        self.store.release(self.size - size, 0);
        self.size = size;
    }

    /// The part of the file that is a ring buffer.
    fn ring(&self) -> Range<u64> {
        self.ring_start.unwrap_or(self.size)..self.size
    }

    /// Where in the file a stored byte is.
    fn position(&self, offset: u64) -> u64 {
        let ring = self.ring();
        if offset < ring.start {
            return offset;
        }
        ring.start + (offset - ring.start) % (ring.end - ring.start).max(1)
    }

    /// The size of the file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The parts that are stored: the beginning and the end of the output. The end is empty if the beginning is
    /// all of it.
    #[must_use]
    pub fn parts(&self) -> [Range<u64>; 2] {
        if self.appended == self.size {
            return [0..self.appended, self.appended..self.appended];
        }
        let ring = self.ring();
        [
            0..ring.start,
            self.appended - (ring.end - ring.start)..self.appended,
        ]
    }

    /// Why a write failed, if one did.
    #[must_use]
    pub fn write_error(&self) -> Option<&str> {
        self.write_error.as_deref()
    }

    /// Describes the whole output, stored or not.
    #[must_use]
    pub fn summary(&self) -> OutputSummary {
        self.summary
    }

    /// Reads bytes of a stored part. Returns how many were read, which may be fewer than the buffer holds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.position(offset);
        let ring = self.ring();
        let end = if position < ring.start {
            ring.start
        } else {
            ring.end
        };
        let length = usize::try_from(end - position).unwrap_or(usize::MAX);
        let length = length.min(buffer.len());
        self.file.read_at(&mut buffer[..length], position)
    }
}

impl Drop for StoredOutput {
    fn drop(&mut self) {
        self.store.release(self.size, 1);
    }
}

impl fmt::Debug for StoredOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("StoredOutput");
        debug.field("parts", &self.parts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{OutputStore, StoreOptions};
    use std::sync::Arc;

    fn store(max_call_bytes: u64) -> Arc<OutputStore> {
        OutputStore::new(StoreOptions {
            directory: std::env::temp_dir(),
            max_call_bytes,
        })
    }

    /// The stored parts with their offsets, as text.
    fn stored(output: &StoredOutput) -> Vec<(u64, String)> {
        let read = |part: Range<u64>| {
            let mut text = Vec::new();
            while part.start + (text.len() as u64) < part.end {
                let mut buffer = [0; 3];
                let offset = part.start + text.len() as u64;
                let length = output.read_at(offset, &mut buffer).expect("readable");
                assert!(length > 0);
                text.extend_from_slice(&buffer[..length]);
            }
            text.truncate(usize::try_from(part.end - part.start).expect("short"));
            (part.start, String::from_utf8(text).expect("text"))
        };
        let parts = output.parts().into_iter();
        parts.filter(|part| !part.is_empty()).map(read).collect()
    }

    #[test]
    fn output_within_the_limit_is_stored_in_full() {
        let store = store(10);
        let mut output = store.for_stdout().create().expect("a file");
        for chunk in ["abc", "", "defghij"] {
            output.append(chunk.as_bytes());
        }
        assert_eq!(stored(&output), [(0, "abcdefghij".to_owned())]);
    }

    #[test]
    fn beyond_the_limit_the_middle_is_missing_however_the_output_is_cut_into_chunks() {
        let text: Vec<u8> = (b'a'..=b'z').collect();
        for chunk_length in 1..=26 {
            let store = store(10);
            let mut output = store.for_stdout().create().expect("a file");
            for chunk in text.chunks(chunk_length) {
                output.append(chunk);
            }
            let expected = [(0, "abcde".to_owned()), (21, "vwxyz".to_owned())];
            assert_eq!(stored(&output), expected, "{chunk_length}");
            assert_eq!(output.size(), 10);
        }
    }

    #[test]
    fn a_full_disk_stores_what_it_can() {
        // Writing to this device fails as if the disk were full.
        let file = File::options()
            .write(true)
            .open("/dev/full")
            .expect("the device");
        let store = store(10);
        let mut output = store.for_stdout().create().expect("a file");
        output.file = file;
        output.append(b"abc");
        output.append(b"def");
        assert_eq!(output.size(), 0);
        assert_eq!(output.parts(), [0..0, 6..6]);
        let error = output.write_error().expect("an error");
        assert!(error.starts_with("No space left on device"), "{error}");
    }
}

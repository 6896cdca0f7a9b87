//! A file that is known to hold what was written to it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::hashes::hexadecimal;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// A file open for writing, with the hash of all that it must hold.
pub(super) struct HashedFile {
    file: File,
    written: Written,
}

/// What a file must hold. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Written(Arc<Mutex<Contents>>);

#[derive(Clone, Default)]
struct Contents {
    hash: Sha256,
    bytes: u64,
}

impl HashedFile {
    /// A new file.
    pub(super) fn new(file: File) -> Self {
        let written = Written::default();
        Self { file, written }
    }

    /// The file at `path`, which is open to be gone on with behind what is there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn resume(file: File, path: &Path) -> io::Result<Self> {
        let resumed = Self::new(file);
        let (mut reader, mut chunk) = (File::open(path)?, vec![0; CHUNK_BYTES]);
        loop {
            match reader.read(&mut chunk)? {
                0 => return Ok(resumed),
                length => resumed.written.add(&chunk[..length]),
            }
        }
    }

    /// What it must hold.
    pub(super) fn written(&self) -> Written {
        self.written.clone()
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.written.add(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Written {
    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, bytes: &[u8]) {
        let mut contents = self.contents();
        contents.hash.update(bytes);
        contents.bytes += bytes.len() as u64;
    }

    /// Its length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.contents().bytes
    }

    /// Its SHA-256, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        hexadecimal(&self.contents().hash.clone().finalize())
    }
}

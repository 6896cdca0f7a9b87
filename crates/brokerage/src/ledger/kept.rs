//! The ledger of a run that has ended, in its results directory. The run may have been killed, so the
//! file is used as far as its blocks are valid.

use super::changes::Maintained;
use super::records::{RecordFile, is_damage};
use super::{Closed, IdRanges, LEDGER_FILE};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use witness::RunId;

/// What a run has left of its ledger.
#[derive(Debug)]
pub struct KeptLedger {
    /// The number by which the run is known.
    pub run: RunId,
    /// Transactions that the database has acknowledged.
    pub acknowledged: u64,
    /// When the last of them was acknowledged, in milliseconds since the start of the run.
    pub last_ms: u32,
    /// Bytes that follow the last valid block, and are not used.
    pub invalid_bytes: u64,
    pub(crate) closed: Closed,
}

/// Why there is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// The file is not there.
    #[error("there is no {}", .0.display())]
    Missing(PathBuf),
    /// The run had not begun its load, or the file is damaged at its start.
    #[error("the header of {} is not valid", .0.display())]
    NoHeader(PathBuf),
    /// The file cannot be read.
    #[error("the ledger {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The ledger, in the results directory.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl KeptLedger {
    /// Reads the ledger in a results directory.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, KeptError> {
        let path = directory.join(LEDGER_FILE);
        Self::read_file(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => KeptError::Missing(path),
            _ if is_damage(&error) => KeptError::NoHeader(path),
            _ => KeptError::Unreadable { path, error },
        })
    }

    fn read_file(path: &Path) -> io::Result<Self> {
        let (mut acknowledged, mut last_ms) = (0, 0);
        let mut ranges = IdRanges::default();
        let (header, file) = RecordFile::recover(File::open(path)?, |header, record| {
            if record.kind.is_of_trade() {
                ranges.add(header.base, record.trade);
            }
            if record.kind.is_acknowledged() {
                acknowledged += 1;
                last_ms = record.time_ms;
            }
        })?;
        Ok(Self {
            run: header.run,
            acknowledged,
            last_ms,
            invalid_bytes: file.invalid_bytes()?,
            closed: Closed {
                file,
                base: header.base,
                ranges,
                shares: BTreeMap::new(),
                updated_rows: 0,
                maintained: Maintained::default(),
            },
        })
    }
}

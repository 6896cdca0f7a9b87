//! What is wrong with a log file, a copy of the header or the checkpoint file.

use super::finding::{EseError, Persistence};
use std::fmt;
use strum::IntoStaticStr;

/// The part of the files that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePart {
    /// A copy of the database header: 1, or 2 for the shadow header.
    Header {
        /// Number of the copy, from 1.
        copy: u8,
    },
    /// A copy of the checkpoint: 1 or 2.
    Checkpoint {
        /// Number of the copy, from 1.
        copy: u8,
    },
    /// A place in a log file.
    Log {
        /// Generation of the log file.
        generation: u32,
        /// The segment of 4 KiB, if it is about one; its header is segment 0.
        segment: Option<u32>,
    },
    /// The end of the database file.
    DatabaseEnd,
    /// The file of page versions beside a closed database.
    Versions,
}

/// The kinds of damage to these files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum FileClass {
    /// The checksum is wrong.
    Checksum,
    /// Something older than what was written last: a write that was reported as done is not there.
    LostWrite,
    /// Something that belongs to another database or log.
    Foreign,
    /// All bytes are zero, although they have been written.
    Zeroed,
    /// It is not there, or shorter than it was.
    Missing,
    /// Something else than was written, with a checksum that is right.
    Different,
}

impl FileClass {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One thing that is wrong with a log file, a header or the checkpoint file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFinding {
    /// The file's name as a person knows it.
    pub file: String,
    /// Which part of it.
    pub part: FilePart,
    /// What the storage has done.
    pub class: FileClass,
    /// What is wrong, without a full stop.
    pub problem: String,
    /// How often it was.
    pub persistence: Persistence,
}

impl FileFinding {
    /// The error that ESE gives for it; `None` for the versions of pages, which ESE does not store.
    #[must_use]
    pub fn ese_error(&self) -> Option<EseError> {
        Some(match (self.part, self.class) {
            (FilePart::Versions, _) => return None,
            (FilePart::Header { .. } | FilePart::DatabaseEnd, _) => EseError::DATABASE_CORRUPTED,
            (FilePart::Checkpoint { .. }, _) => EseError::CHECKPOINT_CORRUPT,
            (FilePart::Log { .. }, FileClass::Missing) => EseError::MISSING_LOG_FILE,
            (FilePart::Log { .. }, FileClass::Foreign) => EseError::BAD_LOG_SIGNATURE,
            (FilePart::Log { segment: None, .. }, FileClass::LostWrite) => {
                EseError::INVALID_LOG_SEQUENCE
            }
            (FilePart::Log { .. }, _) => EseError::LOG_FILE_CORRUPT,
        })
    }
}

impl fmt::Display for FileFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match self.ese_error() {
            Some(number) => write!(f, " ({number}{})", self.persistence),
            None => write!(f, "{}", self.persistence),
        }
    }
}

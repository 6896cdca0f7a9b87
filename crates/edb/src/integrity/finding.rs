//! What is wrong with a page, as data and as a sentence.

use crate::format::database_header::LogTime;
use crate::format::page::WrongBit;
use std::fmt;
use strum::IntoStaticStr;

/// The kinds of damage to a page, by what the storage has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum DamageClass {
    /// The page is empty, and as far as is known nobody has ever written it; yet it is in use.
    NeverWritten,
    /// An older version of the page: a write that was reported as done is not there.
    LostWrite,
    /// A whole page of this database, but another one: a write or a read went to the wrong place.
    Misdirected,
    /// A whole page of another database.
    Foreign,
    /// Its first part is of an older version than was written last, and other parts are not of that: parts of
    /// different versions.
    Torn,
    /// All bytes are zero, although the page has been written.
    Zeroed,
    /// A version later than the last write that completed.
    FromTheFuture,
    /// The checksum is wrong.
    Checksum,
}

impl DamageClass {
    /// All classes, in the order in which reports list them.
    pub const ALL: [Self; 8] = [
        Self::LostWrite,
        Self::Misdirected,
        Self::Foreign,
        Self::Torn,
        Self::Zeroed,
        Self::FromTheFuture,
        Self::Checksum,
        Self::NeverWritten,
    ];

    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The error that ESE gives for it.
    #[must_use]
    pub fn ese_error(self) -> EseError {
        EseError(match self {
            Self::Checksum | Self::Torn => -1018, // JET_errReadVerifyFailure
            Self::NeverWritten | Self::Zeroed => -1019, // JET_errPageNotInitialized
            Self::Misdirected => -1118,           // JET_errReadPgnoVerifyFailure
            Self::LostWrite | Self::Foreign => -1119, // JET_errReadLostFlushVerifyFailure
            Self::FromTheFuture => -567,          // JET_errDbTimeTooNew
        })
    }
}

/// The number of an error of ESE. Source: esent.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EseError(pub i32);

impl EseError {
    /// A request to the storage failed: JET_errDiskIO.
    pub const DISK_IO: Self = Self(-1022);
    /// There is no space left: JET_errDiskFull.
    pub const DISK_FULL: Self = Self(-1808);
    /// A log file is damaged: JET_errLogFileCorrupt.
    pub const LOG_FILE_CORRUPT: Self = Self(-501);
    /// A log file is of another generation than its place: JET_errInvalidLogSequence.
    pub const INVALID_LOG_SEQUENCE: Self = Self(-515);
    /// A log file that must be there is missing: JET_errMissingLogFile.
    pub const MISSING_LOG_FILE: Self = Self(-528);
    /// A log file is of another set: JET_errBadLogSignature.
    pub const BAD_LOG_SIGNATURE: Self = Self(-530);
    /// The checkpoint file is damaged: JET_errCheckpointCorrupt.
    pub const CHECKPOINT_CORRUPT: Self = Self(-533);
    /// Something in the database contradicts itself: JET_errDatabaseCorrupted.
    pub const DATABASE_CORRUPTED: Self = Self(-1206);
}

impl fmt::Display for EseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ESE error {}", self.0)
    }
}

/// Waits before what was wrong is read again, in milliseconds.
pub(crate) const READ_AGAIN_AFTER_MS: [u64; 3] = [1, 100, 800];

/// How often a page, or a part of another file, was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// It was read only once.
    #[default]
    ReadOnce,
    /// Wrong at first, and right when it was read again.
    Transient {
        /// Reads that returned it wrong, at least 1.
        wrong_reads: u32,
    },
    /// Wrong in every read until this process wrote the page anew, and right since.
    Rewritten {
        /// Reads that returned it wrong, at least 1.
        wrong_reads: u32,
    },
    /// Wrong in every read: so it is on the medium.
    Medium {
        /// Reads that were all wrong.
        reads: u32,
    },
    /// Wrong in every read, and put right in place with what the log says was written last.
    Patched,
}

/// Goes on from what was wrong: empty, or `; wrong in all 4 reads`.
impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnce => Ok(()),
            Self::Transient { wrong_reads: 1 } => {
                f.write_str("; wrong in one read, right in the next")
            }
            Self::Transient { wrong_reads } => {
                write!(f, "; wrong in {wrong_reads} reads, right in the next")
            }
            Self::Rewritten { wrong_reads: 1 } => {
                f.write_str("; wrong in one read, and then written anew before it was read again")
            }
            Self::Rewritten { wrong_reads } => write!(
                f,
                "; wrong in all {wrong_reads} reads, until the page was written anew"
            ),
            Self::Patched => f.write_str("; wrong in all reads, and rebuilt from the log in place"),
            Self::Medium { reads } => write!(f, "; wrong in all {reads} reads"),
        }
    }
}

/// A write that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastWrite {
    /// The database time that the page carried.
    pub dbtime: u64,
    /// When it completed, in milliseconds since 1970; on a simulated clock since the run began.
    pub unix_ms: u64,
}

/// Which of the partial checksums are wrong: one bit for each, the lowest for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrongBlocks {
    /// A bit for each partial checksum that is wrong.
    pub mask: u8,
    /// Partial checksums of a page of this size: 4, or 1 in pages below 16 KiB.
    pub blocks: u8,
}

impl WrongBlocks {
    /// How many are wrong.
    #[must_use]
    pub fn wrong(self) -> u32 {
        self.mask.count_ones()
    }

    /// Whether some are right and some are wrong.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        (1..u32::from(self.blocks)).contains(&self.wrong())
    }
}

/// A page that was found in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misplaced {
    /// The number in the page that was found.
    pub number: u32,
    /// Whether what was found is the newest version of that page, as far as is known: then the last
    /// write of it went to the wrong place, or this read did.
    pub is_newest: Option<bool>,
}

/// What is known of one damaged page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFinding {
    /// The page that was asked for.
    pub page: u32,
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// What the storage has done.
    pub class: DamageClass,
    /// Whether it was wrong once or stays so.
    pub persistence: Persistence,
    /// The database time in the page, if what was found is a page.
    pub found_dbtime: Option<u64>,
    /// The 16 bits of the version that was found, if it is a page.
    pub found_version: Option<u16>,
    /// The 16 bits that were expected; 0 = not known, 1 = never written.
    pub expected_version: u16,
    /// The last completed write of the page, if it is remembered.
    pub last_write: Option<LastWrite>,
    /// The page whose contents were found.
    pub misplaced: Option<Misplaced>,
    /// Where the contents of this page were found instead.
    pub found_at: Option<u32>,
    /// Which partial checksums are wrong.
    pub wrong_blocks: WrongBlocks,
    /// The one wrong bit, if there is exactly one.
    pub wrong_bit: Option<WrongBit>,
}

impl PageFinding {
    /// The error that ESE gives for it.
    #[must_use]
    pub fn ese_error(&self) -> EseError {
        self.class.ese_error()
    }

    /// Whether the page may be one of which a write was carried out in part.
    #[must_use]
    pub(crate) fn may_be_half_written(&self) -> bool {
        matches!(self.class, DamageClass::Torn | DamageClass::Checksum) && self.wrong_bit.is_none()
    }

    fn what(&self) -> String {
        match self.class {
            DamageClass::NeverWritten => {
                "the page was never written (all bytes are zero), yet it is in use".to_owned()
            }
            DamageClass::LostWrite => {
                "a write of the page was lost: the storage returned an older version".to_owned()
            }
            DamageClass::Misdirected => self.what_misdirected(),
            DamageClass::Foreign => {
                "the page is one of another database: its database time is none of this one"
                    .to_owned()
            }
            DamageClass::Torn => {
                "the page is torn: its first part is of an older version than was written last, and other parts \
                 are not of that version"
                    .to_owned()
            }
            DamageClass::Zeroed => {
                "all bytes of the page are zero, although it has been written".to_owned()
            }
            DamageClass::FromTheFuture => {
                "the page is of a later version than any write that has completed".to_owned()
            }
            DamageClass::Checksum => match self.wrong_bit {
                Some(WrongBit { byte, bit }) => {
                    format!("the page's checksum is wrong (one bit: byte {byte}, bit {bit})")
                }
                None if self.wrong_blocks.is_mixed() => format!(
                    "the page's checksum is wrong: of its {} partial checksums {} wrong",
                    self.wrong_blocks.blocks,
                    are_wrong(self.wrong_blocks)
                ),
                None => "the page's checksum is wrong".to_owned(),
            },
        }
    }

    fn what_misdirected(&self) -> String {
        let Some(Misplaced { number, is_newest }) = self.misplaced else {
            return "the page is another one of this database".to_owned();
        };
        let newest = match is_newest {
            Some(true) => ", the last one written to that page",
            Some(false) => ", an older version of it",
            None => "",
        };
        format!(
            "the contents are those of page {number}{newest}: a write or a read went to the wrong \
             place"
        )
    }

    fn versions(&self) -> Option<String> {
        let found = self.found_dbtime.map(|time| format!("found {time}"));
        let expected = self.last_write.map(|write| {
            let time = LogTime {
                unix_ms: write.unix_ms,
            };
            format!("expected {}, written {time}", write.dbtime)
        });
        let parts: Vec<String> = found.into_iter().chain(expected).collect();
        (!parts.is_empty()).then(|| format!("database time {}", parts.join(", ")))
    }
}

fn are_wrong(blocks: WrongBlocks) -> String {
    let numbers: Vec<String> = (0..blocks.blocks)
        .filter(|block| blocks.mask >> block & 1 == 1)
        .map(|block| (block + 1).to_string())
        .collect();
    match numbers.as_slice() {
        [one] => format!("the one of block {one} is"),
        many => format!("those of blocks {} are", many.join(", ")),
    }
}

impl fmt::Display for PageFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.what(), self.ese_error())?;
        write!(f, "; offset {}", self.offset_bytes)?;
        if let Some(versions) = self.versions() {
            write!(f, "; {versions}")?;
        }
        if let Some(page) = self.found_at {
            write!(f, "; its contents were found at page {page}")?;
        }
        write!(f, "{})", self.persistence)
    }
}

impl std::error::Error for PageFinding {}

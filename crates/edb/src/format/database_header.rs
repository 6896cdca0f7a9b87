//! The database header: one page, stored twice, identical. Both are checked by the XOR of their
//! words.

use super::checksum::header_checksum;
pub use super::header_values::{HeaderLogPosition, LogTime};
use super::page::PAGE_SIZES_BYTES;
use std::cmp::Ordering;

const MAGIC: u32 = 0x89AB_CDEF;
const FORMAT_VERSION: u32 = 0x620;
/// What Exchange 2013 and 2016 write. Later revisions add page features that readers do not know.
const FORMAT_REVISION: u32 = 0x14;
/// Revisions whose pages can be read: from the first with this checksum to the last without tags
/// that are no nodes.
const READABLE_REVISIONS: std::ops::RangeInclusive<u32> = 0x0B..=0xC7;
const FILE_TYPE_DATABASE: u8 = 1;
/// Windows 8 and Server 2012: what the format revision belongs to.
const SYSTEM_VERSION: [u32; 4] = [6, 2, 9200, 0];
/// No sort version: keys hold no Unicode text.
const NO_SORT_VERSION: u64 = u64::MAX;

/// What distinguishes one database or log stream from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signature {
    /// Makes signatures created at the same time differ.
    pub random: u32,
    /// When it was created.
    pub created: LogTime,
}

/// State of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseState {
    /// Being created or built: not yet a database.
    JustCreated,
    /// In use, or not closed properly: the log is needed to open it.
    Dirty,
    /// Closed properly: the file can be opened without its log.
    Clean,
}

impl DatabaseState {
    fn code(self) -> u32 {
        match self {
            Self::JustCreated => 1,
            Self::Dirty => 2,
            Self::Clean => 3,
        }
    }
}

/// When and where something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeAndPosition {
    /// When it was; 0 if it has not happened.
    pub time: LogTime,
    /// Place in the log.
    pub position: HeaderLogPosition,
}

/// How far the background checksum scan has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanProgress {
    /// When the last whole pass ended.
    pub last_finish: LogTime,
    /// When the pass under way began.
    pub current_start: LogTime,
    /// All pages up to this one have been scanned in the pass under way.
    pub highest_page: u32,
}

/// The program a file was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// This one, which writes only a part of the format.
    Proofload,
    /// Another one, such as Windows.
    Other,
}

/// The header's fields that mean something to this engine. All others are constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseHeader {
    /// Who wrote the file.
    pub writer: Writer,
    /// Revision of the format.
    pub revision: u32,
    /// Page size of the file.
    pub page_size_bytes: u32,
    /// State of the file.
    pub state: DatabaseState,
    /// The highest database time given to a page.
    pub dbtime: u64,
    /// Signature of the database.
    pub signature: Signature,
    /// Signature of the log it belongs to.
    pub log_signature: Signature,
    /// When it was last opened.
    pub attach: TimeAndPosition,
    /// When it was last closed; not set while dirty. Also stored as the "consistent" moment.
    pub detach: TimeAndPosition,
    /// The highest object id in use.
    pub last_object_id: u32,
    /// First log generation that recovery needs, 0 when clean.
    pub lowest_log_needed: u32,
    /// Last log generation that recovery needs, 0 when clean.
    pub highest_log_needed: u32,
    /// Last log generation with durable records of this database, 0 when clean.
    pub highest_log_committed: u32,
    /// Progress of the background scan.
    pub scan: ScanProgress,
}

/// Why bytes are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderDamage {
    /// Not the magic number.
    #[error("this is not a database of this format (no magic number)")]
    NoMagic,
    /// A page size the format does not have, or one larger than the bytes given.
    #[error("the header names a page size of {0} bytes")]
    PageSize(u32),
    /// The header is damaged, or was written only in part when the power failed.
    #[error("the checksum of the database header is wrong")]
    WrongChecksum,
    /// Another format, or a revision that this program cannot read.
    #[error(
        "the format is {version:#x}, revision {revision:#x}; only 0x620, revisions 0xb to 0xc7, \
         can be read"
    )]
    Version {
        /// Format version in the header.
        version: u32,
        /// Format revision in the header.
        revision: u32,
    },
    /// A state no database is left in.
    #[error("the database state is {0}: being converted or detached by force")]
    State(u32),
}

mod at {
    pub const MAGIC: usize = 4;
    pub const VERSION: usize = 8;
    pub const DBTIME: usize = 16;
    pub const SIGNATURE: usize = 24;
    pub const STATE: usize = 52;
    pub const CONSISTENT_POSITION: usize = 56;
    pub const CONSISTENT_TIME: usize = 64;
    pub const ATTACH_TIME: usize = 72;
    pub const ATTACH_POSITION: usize = 80;
    pub const DETACH_TIME: usize = 88;
    pub const DETACH_POSITION: usize = 96;
    pub const DATABASE_ID: usize = 104;
    pub const LOG_SIGNATURE: usize = 108;
    pub const LAST_OBJECT_ID: usize = 212;
    pub const SYSTEM_VERSION: usize = 216;
    pub const REVISION: usize = 232;
    pub const PAGE_SIZE: usize = 236;
    pub const LOWEST_LOG: usize = 296;
    pub const HIGHEST_LOG: usize = 300;
    pub const CREATED_VERSION: usize = 340;
    pub const HIGHEST_COMMITTED: usize = 416;
    pub const SORT_VERSION: usize = 508;
    /// Signatures of the header and of the map of lost writes, which Windows sets at each write of
    /// the header.
    pub const FLUSH_SIGNATURES: std::ops::Range<usize> = 584..640;
    pub const SCAN_FINISH: usize = 516;
    pub const SCAN_START: usize = 524;
    pub const SCAN_PAGE: usize = 532;
    pub const FILE_TYPE: usize = 667;
}

/// Bytes that are enough to find the page size.
pub const PEEK_BYTES: usize = 4096;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn eight(bytes: &[u8], at: usize) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    eight
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

impl DatabaseHeader {
    /// A header for a new database that is being created.
    #[must_use]
    pub fn new(page_size_bytes: u32, signature: Signature) -> Self {
        Self {
            writer: Writer::Proofload,
            revision: FORMAT_REVISION,
            page_size_bytes,
            state: DatabaseState::JustCreated,
            dbtime: 0,
            signature,
            log_signature: Signature::default(),
            attach: TimeAndPosition::default(),
            detach: TimeAndPosition::default(),
            last_object_id: super::layout::FIRST_USER_OBJECT_ID - 1,
            lowest_log_needed: 0,
            highest_log_needed: 0,
            highest_log_committed: 0,
            scan: ScanProgress::default(),
        }
    }

    /// The page size named in the first [`PEEK_BYTES`] of a file, without checking anything else.
    ///
    /// # Errors
    /// If this is no database, or the page size is none of the format's.
    ///
    /// # Panics
    /// If fewer bytes are given.
    pub fn peek_page_size(bytes: &[u8]) -> Result<usize, HeaderDamage> {
        assert!(bytes.len() >= PEEK_BYTES);
        if word(bytes, at::MAGIC) != MAGIC {
            return Err(HeaderDamage::NoMagic);
        }
        // Zero is what databases from before the field existed have.
        let stated = match word(bytes, at::PAGE_SIZE) {
            0 => 4096,
            size => size,
        };
        let known = PAGE_SIZES_BYTES
            .into_iter()
            .find(|&size| size == stated as usize);
        known.ok_or(HeaderDamage::PageSize(stated))
    }

    /// Writes the header, checksum included, into one whole page.
    ///
    /// # Panics
    /// If `page` has another size than the header names, or the file is another program's: most of
    /// its header would be lost.
    pub fn encode(&self, page: &mut [u8]) {
        assert_eq!(page.len(), self.page_size_bytes as usize);
        assert_eq!(self.writer, Writer::Proofload, "another program's file");
        page.fill(0);
        put(page, at::MAGIC, &MAGIC.to_le_bytes());
        put(page, at::VERSION, &FORMAT_VERSION.to_le_bytes());
        put(page, at::DBTIME, &self.dbtime.to_le_bytes());
        put_signature(page, at::SIGNATURE, self.signature);
        put(page, at::STATE, &self.state.code().to_le_bytes());
        put(
            page,
            at::CONSISTENT_POSITION,
            &self.detach.position.encode(),
        );
        put(page, at::CONSISTENT_TIME, &self.detach.time.encode());
        put(page, at::ATTACH_TIME, &self.attach.time.encode());
        put(page, at::ATTACH_POSITION, &self.attach.position.encode());
        put(page, at::DETACH_TIME, &self.detach.time.encode());
        put(page, at::DETACH_POSITION, &self.detach.position.encode());
        put(page, at::DATABASE_ID, &1_u32.to_le_bytes());
        put_signature(page, at::LOG_SIGNATURE, self.log_signature);
        put(page, at::LAST_OBJECT_ID, &self.last_object_id.to_le_bytes());
        for (i, number) in SYSTEM_VERSION.iter().enumerate() {
            put(page, at::SYSTEM_VERSION + 4 * i, &number.to_le_bytes());
        }
        put(page, at::REVISION, &FORMAT_REVISION.to_le_bytes());
        put(page, at::PAGE_SIZE, &self.page_size_bytes.to_le_bytes());
        put(page, at::LOWEST_LOG, &self.lowest_log_needed.to_le_bytes());
        put(
            page,
            at::HIGHEST_LOG,
            &self.highest_log_needed.to_le_bytes(),
        );
        put(page, at::CREATED_VERSION, &FORMAT_VERSION.to_le_bytes());
        put(
            page,
            at::CREATED_VERSION + 4,
            &FORMAT_REVISION.to_le_bytes(),
        );
        put(
            page,
            at::HIGHEST_COMMITTED,
            &self.highest_log_committed.to_le_bytes(),
        );
        put(page, at::SORT_VERSION, &NO_SORT_VERSION.to_le_bytes());
        put(page, at::SCAN_FINISH, &self.scan.last_finish.encode());
        put(page, at::SCAN_START, &self.scan.current_start.encode());
        put(page, at::SCAN_PAGE, &self.scan.highest_page.to_le_bytes());
        page[at::FILE_TYPE] = FILE_TYPE_DATABASE;
        let checksum = header_checksum(page);
        put(page, 0, &checksum.to_le_bytes());
    }

    /// Reads one copy of the header; `page` begins with it and may be longer.
    ///
    /// # Errors
    /// Why it is none.
    ///
    /// # Panics
    /// If fewer than [`PEEK_BYTES`] are given.
    pub fn decode(page: &[u8]) -> Result<Self, HeaderDamage> {
        let size = Self::peek_page_size(page)?;
        let page = page
            .get(..size)
            .ok_or(HeaderDamage::PageSize(size as u32))?;
        if word(page, 0) != header_checksum(page) {
            return Err(HeaderDamage::WrongChecksum);
        }
        let (version, revision) = (word(page, at::VERSION), word(page, at::REVISION));
        if version != FORMAT_VERSION || !READABLE_REVISIONS.contains(&revision) {
            return Err(HeaderDamage::Version { version, revision });
        }
        let state = match word(page, at::STATE) {
            1 => DatabaseState::JustCreated,
            2 => DatabaseState::Dirty,
            3 => DatabaseState::Clean,
            other => return Err(HeaderDamage::State(other)),
        };
        let time = |at| LogTime::decode(eight(page, at));
        let position = |at| HeaderLogPosition::decode(eight(page, at));
        Ok(Self {
            writer: writer_of(page, revision),
            revision,
            page_size_bytes: size as u32,
            state,
            dbtime: u64::from_le_bytes(eight(page, at::DBTIME)),
            signature: signature_at(page, at::SIGNATURE),
            log_signature: signature_at(page, at::LOG_SIGNATURE),
            attach: TimeAndPosition {
                time: time(at::ATTACH_TIME),
                position: position(at::ATTACH_POSITION),
            },
            detach: TimeAndPosition {
                time: time(at::DETACH_TIME),
                position: position(at::DETACH_POSITION),
            },
            last_object_id: word(page, at::LAST_OBJECT_ID),
            lowest_log_needed: word(page, at::LOWEST_LOG),
            highest_log_needed: word(page, at::HIGHEST_LOG),
            highest_log_committed: word(page, at::HIGHEST_COMMITTED),
            scan: ScanProgress {
                last_finish: time(at::SCAN_FINISH),
                current_start: time(at::SCAN_START),
                highest_page: word(page, at::SCAN_PAGE),
            },
        })
    }

    /// Chooses between the two copies. The first is written first and is durable before the second is
    /// written, so it is the one unless it is damaged, or older than the second: then a write of it was
    /// lost.
    ///
    /// # Errors
    /// What is wrong with the first copy, if neither is whole.
    pub fn choose(first: &[u8], second: &[u8]) -> Result<Self, HeaderDamage> {
        match (Self::decode(first), Self::decode(second)) {
            (Ok(first), Ok(second)) if first.is_older_than(&second) => Ok(second),
            (Ok(header), _) | (Err(_), Ok(header)) => Ok(header),
            (Err(damage), Err(_)) => Err(damage),
        }
    }

    /// Whether this copy was certainly written before the other one: before the database was opened
    /// the last time, or a log file earlier. Positions in different logs cannot be compared.
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        if self.signature != other.signature || self.log_signature != other.log_signature {
            return false;
        }
        let are_dirty = [self, other].map(|header| header.state) == [DatabaseState::Dirty; 2];
        match self.attach.position.cmp(&other.attach.position) {
            Ordering::Less => true,
            Ordering::Equal => {
                are_dirty && self.highest_log_committed < other.highest_log_committed
            }
            Ordering::Greater => false,
        }
    }
}

/// Windows 8 is the system that this program names, and it sets the signatures that this one leaves
/// alone.
fn writer_of(page: &[u8], revision: u32) -> Writer {
    let stated = [0, 4, 8, 12].map(|at| word(page, at::SYSTEM_VERSION + at));
    let signed = page[at::FLUSH_SIGNATURES].iter().any(|&byte| byte != 0);
    if revision == FORMAT_REVISION && stated == SYSTEM_VERSION && !signed {
        Writer::Proofload
    } else {
        Writer::Other
    }
}

pub(crate) fn put_signature(page: &mut [u8], at: usize, signature: Signature) {
    put(page, at, &signature.random.to_le_bytes());
    put(page, at + 4, &signature.created.encode());
}

pub(crate) fn signature_at(page: &[u8], at: usize) -> Signature {
    Signature {
        random: word(page, at),
        created: LogTime::decode(eight(page, at + 4)),
    }
}

#[cfg(test)]
#[path = "database_header_tests.rs"]
mod tests;

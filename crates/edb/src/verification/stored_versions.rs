//! The table of page versions in a file, while the database is closed.
//!
//! The file lies beside the database and is good for exactly one state of it: that of the signature,
//! database time and detach position that its head names. It is written before the header says that
//! the database is closed, and removed before the header says that it is in use again. So a table
//! that is out of date never accuses a database that is sound: after a kill there is none.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | magic |
//! | 8..12 | CRC-32 of the rest of the head |
//! | 12..16 | CRC-32 of the versions |
//! | 16..20 | page size |
//! | 20..24 | number of pages |
//! | 24..32 | database time |
//! | 32..40 | detach position |
//! | 40..52 | signature of the database |
//! | 4096.. | the versions of pages 1 and up, two bytes each |

use crate::format::database_header::{DatabaseHeader, put_signature};
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence as Lasting};
use crate::log::{eight, put, word};
use runtime::buffer::BLOCK_BYTES;
use runtime::{Buffer, Directory, File, IoError, IoFailure, IoOperation, Persistence};
use std::rc::Rc;

/// How the name of such a file ends; it begins with the name of the database file.
pub const VERSIONS_ENDING: &str = ".versions";
/// How it ends until it is complete.
const NEW_ENDING: &str = ".versions.new";

const MAGIC: &[u8; 8] = b"EDBPGVS1";
/// Bytes of one write or read.
const CHUNK_BYTES: usize = 1 << 20;

mod at {
    pub const HEAD_CRC: usize = 8;
    pub const BODY_CRC: usize = 12;
    pub const PAGE_SIZE: usize = 16;
    pub const PAGES: usize = 20;
    pub const DBTIME: usize = 24;
    pub const DETACH: usize = 32;
    pub const SIGNATURE: usize = 40;
    pub const END: usize = 52;
}

/// The file with the page versions of the database file `name`.
#[must_use]
pub fn versions_file(name: &str) -> String {
    format!("{name}{VERSIONS_ENDING}")
}

/// What was found where the versions of a database are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredVersions {
    /// The versions of pages 1 and up, as of the state that the header is in.
    Found(Vec<u16>),
    /// There is no file.
    Missing,
    /// There is one, of another state of the database; the database time that it names.
    OfAnotherState {
        /// The database time that the file is of.
        dbtime: u64,
        /// Whether it is of the same database.
        is_same: bool,
    },
    /// There is one, which is damaged or none of this kind.
    Damaged,
}

impl StoredVersions {
    /// Reads the versions of the database `name`, whose header is `header`.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read<D: Directory>(
        directory: &D,
        name: &str,
        header: &DatabaseHeader,
    ) -> Result<Self, IoError> {
        let file = match directory.open(&versions_file(name)).await {
            Err(error) if error.failure == IoFailure::NotFound => return Ok(Self::Missing),
            opened => opened?,
        };
        let size = file.size_bytes().await?;
        if size < BLOCK_BYTES as u64 {
            return Ok(Self::Damaged);
        }
        let (head, result) = file.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        result?;
        if head[..8] != *MAGIC || word(&head, at::HEAD_CRC) != head_crc(&head) {
            return Ok(Self::Damaged);
        }
        let expected = head_of(header, 0);
        let dbtime = u64::from_le_bytes(eight(&head, at::DBTIME));
        if head[at::DBTIME..at::END] != expected[at::DBTIME..at::END]
            || word(&head, at::PAGE_SIZE) != header.page_size_bytes
        {
            let same_database = head[at::SIGNATURE..at::END] == expected[at::SIGNATURE..at::END];
            return Ok(Self::OfAnotherState {
                dbtime,
                is_same: same_database,
            });
        }
        let pages = word(&head, at::PAGES) as usize;
        if size < BLOCK_BYTES as u64 + 2 * pages as u64 {
            return Ok(Self::Damaged);
        }
        let (versions, crc) = read_body(&file, pages).await?;
        if crc != word(&head, at::BODY_CRC) {
            return Ok(Self::Damaged);
        }
        Ok(Self::Found(versions))
    }

    /// Why there are none of the database `name`, as a part of a sentence; `None` when there are.
    #[must_use]
    pub fn missing_because(&self, name: &str) -> Option<String> {
        let file = versions_file(name);
        match self {
            Self::Found(_) => None,
            Self::Missing => Some(format!("there is no {file}")),
            Self::Damaged => Some(format!("{file} is damaged")),
            Self::OfAnotherState { .. } => {
                Some(format!("{file} is of another state of the database"))
            }
        }
    }

    /// What is wrong with the file of the database `name` in a directory, if there is one: a closed database
    /// has written it before its header.
    #[must_use]
    pub fn damage(&self, directory: &str, name: &str) -> Option<FileFinding> {
        let (class, became) = match self {
            Self::Found(_) | Self::Missing => return None,
            Self::Damaged => (FileClass::Checksum, "has a wrong checksum"),
            Self::OfAnotherState { is_same: true, .. } => (
                FileClass::LostWrite,
                "is an older one: the last write of it was lost",
            ),
            Self::OfAnotherState { is_same: false, .. } => {
                (FileClass::Foreign, "is that of another database")
            }
        };
        let file = versions_file(name);
        Some(FileFinding {
            problem: format!("the file of page versions {became}"),
            file: format!("{directory}/{file}"),
            part: FilePart::Versions,
            class,
            persistence: Lasting::ReadOnce,
        })
    }

    /// Writes the versions of the database `name` as of the state that `header` describes, in one
    /// step that either happens or not.
    ///
    /// There are none: who opens a database removes them. A file of that name is none of ours, and is left as it is.
    ///
    /// # Errors
    /// If there is such a file, or the storage fails. What was written so far is removed then, if that is possible.
    pub async fn write<D: Directory>(
        directory: &D,
        name: &str,
        header: &DatabaseHeader,
        versions: &[u16],
    ) -> Result<(), IoError> {
        let new_name = format!("{name}{NEW_ENDING}");
        remove_if_there(directory, &new_name).await?;
        refuse_if_there(directory, &versions_file(name)).await?;
        let written = write_new(directory, &new_name, header, versions).await;
        if let Err(error) = written {
            // The next opening removes it if this cannot.
            let _ = remove_if_there(directory, &new_name).await;
            return Err(error);
        }
        directory.rename(&new_name, &versions_file(name)).await?;
        directory.sync().await
    }

    /// Removes the versions of the database `name`, durably: it is about to change.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn remove<D: Directory>(directory: &D, name: &str) -> Result<(), IoError> {
        let stored = remove_if_there(directory, &versions_file(name)).await?;
        let new = remove_if_there(directory, &format!("{name}{NEW_ENDING}")).await?;
        if stored || new {
            directory.sync().await?;
        }
        Ok(())
    }
}

async fn refuse_if_there<D: Directory>(directory: &D, name: &str) -> Result<(), IoError> {
    match directory.open(name).await {
        Ok(_) => Err(IoError {
            operation: IoOperation::Create,
            file: format!("{}/{name}", directory.describe()),
            offset_bytes: 0,
            length_bytes: 0,
            failure: IoFailure::NotOwn(
                "a file of this name, which Proofload did not write, was put there while the database was \
                 open; it was left as it is; move it away"
                    .to_owned(),
            ),
        }),
        Err(error) if error.failure == IoFailure::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

async fn remove_if_there<D: Directory>(directory: &D, name: &str) -> Result<bool, IoError> {
    match directory.remove(name).await {
        Ok(()) => Ok(true),
        Err(error) if error.failure == IoFailure::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn head_of(header: &DatabaseHeader, pages: usize) -> Buffer {
    let mut head = Buffer::zeroed(BLOCK_BYTES);
    put(&mut head, 0, MAGIC);
    put(
        &mut head,
        at::PAGE_SIZE,
        &header.page_size_bytes.to_le_bytes(),
    );
    put(&mut head, at::PAGES, &(pages as u32).to_le_bytes());
    put(&mut head, at::DBTIME, &header.dbtime.to_le_bytes());
    put(&mut head, at::DETACH, &header.detach.position.encode());
    put_signature(&mut head, at::SIGNATURE, header.signature);
    head
}

fn head_crc(head: &[u8]) -> u32 {
    crc32fast::hash(&head[at::BODY_CRC..])
}

async fn write_new<D: Directory>(
    directory: &D,
    name: &str,
    header: &DatabaseHeader,
    versions: &[u16],
) -> Result<(), IoError> {
    let file = directory.create(name).await?;
    let mut crc = crc32fast::Hasher::new();
    let mut offset = BLOCK_BYTES as u64;
    for chunk in versions.chunks(CHUNK_BYTES / 2) {
        let mut buffer = Buffer::zeroed((2 * chunk.len()).next_multiple_of(BLOCK_BYTES));
        for (place, version) in buffer.chunks_exact_mut(2).zip(chunk) {
            place.copy_from_slice(&version.to_le_bytes());
        }
        crc.update(&buffer[..2 * chunk.len()]);
        let length = buffer.len() as u64;
        file.write(offset, Rc::new(buffer), Persistence::Volatile)
            .await?;
        offset += length;
    }
    let mut head = head_of(header, versions.len());
    put(&mut head, at::BODY_CRC, &crc.finalize().to_le_bytes());
    let crc = head_crc(&head);
    put(&mut head, at::HEAD_CRC, &crc.to_le_bytes());
    file.write(0, Rc::new(head), Persistence::Volatile).await?;
    file.sync().await
}

/// The versions, and the CRC-32 of their bytes.
async fn read_body<F: File>(file: &F, pages: usize) -> Result<(Vec<u16>, u32), IoError> {
    let mut versions = Vec::with_capacity(pages);
    let mut crc = crc32fast::Hasher::new();
    let mut offset = BLOCK_BYTES as u64;
    while versions.len() < pages {
        let count = (pages - versions.len()).min(CHUNK_BYTES / 2);
        let length = (2 * count).next_multiple_of(BLOCK_BYTES);
        let (bytes, result) = file.read(offset, Buffer::zeroed(length)).await;
        result?;
        crc.update(&bytes[..2 * count]);
        let codes = bytes[..2 * count].chunks_exact(2);
        versions.extend(codes.map(|code| u16::from_le_bytes([code[0], code[1]])));
        offset += length as u64;
    }
    Ok((versions, crc.finalize()))
}

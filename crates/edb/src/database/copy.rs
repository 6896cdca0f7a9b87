//! A copy of a database in another directory, with the log that makes one state of it.

use super::{Database, LOG_PREFIX};
use crate::error::EngineError;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::layout::page_offset;
use crate::format::page;
use crate::log::{checkpoint_name, is_needed_from};
use crate::position::LogPosition;
use runtime::{Buffer, Directory, File, Handle, IoError, Persistence, SharedBuffer, is_zero};
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

/// Bytes of one read or write of a log file that is copied.
const LOG_COPY_BYTES: u64 = 1 << 20;

/// A copy of a database that is being made.
pub struct DatabaseCopy<D: Directory> {
    directory: D,
    log_directory: D,
    file: D::File,
    page_bytes: usize,
    /// What was written, request by request.
    written: Vec<Written>,
    /// Log files that belong to it.
    log_files: u64,
}

/// The pages of one write, and what was in them.
#[derive(Debug, Clone, Copy)]
struct Written {
    first: u32,
    count: u32,
    hash: u64,
}

/// What reading a copy back has found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CopyCheck {
    /// Pages read back.
    pub pages: u64,
    /// Bytes read back.
    pub bytes: u64,
    /// Pages whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages of writes that are not as they were read from the database.
    pub different_pages: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl<D: Directory> DatabaseCopy<D> {
    /// A new copy called `name` in one directory, with its log in the other.
    ///
    /// # Errors
    /// If there is such a file, or the storage fails.
    pub async fn create(
        (directory, log_directory): (&D, &D),
        name: &str,
        page_bytes: usize,
    ) -> Result<Self, IoError> {
        Ok(Self {
            directory: directory.clone(),
            log_directory: log_directory.clone(),
            file: directory.create(name).await?,
            page_bytes,
            written: Vec::new(),
            log_files: 0,
        })
    }

    /// The file of the copy, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.file.name()
    }

    /// Log files that were copied along.
    #[must_use]
    pub fn log_files(&self) -> u64 {
        self.log_files
    }

    pub(super) async fn write(&mut self, first: u32, pages: Vec<Buffer>) -> Result<(), IoError> {
        self.written.push(Written {
            first,
            count: pages.len() as u32,
            hash: hash(pages.iter().map(|page| &page[..])),
        });
        let pages = pages.into_iter().map(SharedBuffer::new).collect();
        let offset = page_offset(first, self.page_bytes);
        self.file
            .write_vectored(offset, pages, Persistence::Volatile)
            .await
    }

    pub(crate) async fn sync(&self) -> Result<(), IoError> {
        self.file.sync().await?;
        self.log_directory.sync().await?;
        self.directory.sync().await
    }

    /// Reads every page of the copy back and compares it with what was written. `progress` hears the bytes
    /// read so far, and says whether to go on. To be called before the copy is opened, which changes it.
    ///
    /// # Errors
    /// If the copy cannot be read.
    pub async fn check(
        &self,
        handle: &Handle,
        progress: impl Fn(u64) -> bool,
    ) -> Result<CopyCheck, IoError> {
        let began_ns = handle.now_ns();
        let mut check = CopyCheck::default();
        for written in &self.written {
            let offset = page_offset(written.first, self.page_bytes);
            let length = written.count as usize * self.page_bytes;
            let (bytes, result) = self.file.read(offset, Buffer::zeroed(length)).await;
            result?;
            if hash(bytes.chunks_exact(self.page_bytes)) != written.hash {
                check.different_pages += u64::from(written.count);
            }
            for (number, bytes) in (written.first..).zip(bytes.chunks_exact(self.page_bytes)) {
                check.wrong_pages +=
                    u64::from(!is_zero(bytes) && page::verify(bytes, number).is_err());
            }
            check.pages += u64::from(written.count);
            check.bytes += length as u64;
            if !progress(check.bytes) {
                check.stopped = true;
                break;
            }
        }
        check.seconds = (handle.now_ns() - began_ns) as f64 / 1e9;
        Ok(check)
    }
}

/// What stands for the contents of some pages.
fn hash<'a>(pages: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    pages.for_each(|page| hasher.write(page));
    hasher.finish()
}

impl<D: Directory> Database<D> {
    /// Completes a copy with its headers, its checkpoint and the log files that it needs, and lets the
    /// checkpoint go on. No transaction may be open: nothing is logged meanwhile.
    ///
    /// # Errors
    /// If the storage of either fails.
    pub async fn complete_copy(&self, copy: &mut DatabaseCopy<D>) -> Result<(), EngineError> {
        let completed = self.try_complete_copy(copy).await;
        self.hold_checkpoint(false);
        completed
    }

    async fn try_complete_copy(&self, copy: &mut DatabaseCopy<D>) -> Result<(), EngineError> {
        let core = &self.inner.core;
        match self.clean_up().await {
            Ok(()) | Err(EngineError::Page(_)) => {}
            Err(error) => return Err(error),
        }
        core.log.make_durable(core.log.end()).await?;
        self.write_headers(copy).await?;
        let position = self.inner.checkpoint_parts.checkpointer.position();
        self.copy_log(copy, position).await?;
        copy.sync().await?;
        Ok(())
    }

    /// Writes both headers of a copy, which say that it needs the log up to now, and makes its file as long
    /// as that of the database.
    pub(crate) async fn write_headers(
        &self,
        copy: &DatabaseCopy<D>,
    ) -> Result<DatabaseHeader, IoError> {
        let core = &self.inner.core;
        let mut header = self.inner.checkpoint_parts.headers.header();
        header.state = DatabaseState::Dirty;
        header.highest_log_needed = header.highest_log_needed.max(core.log.generation());
        header.highest_log_committed = header.highest_log_committed.max(core.log.generation());
        let mut page = Buffer::zeroed(copy.page_bytes);
        header.encode(&mut page);
        let page: SharedBuffer = Rc::new(page);
        for number in [0, 1] {
            let offset = number * copy.page_bytes as u64;
            let write = copy
                .file
                .write(offset, Rc::clone(&page), Persistence::Durable);
            write.await?;
        }
        // The file may have grown since its end was read; what is new there is in the log.
        let size_bytes = core.cache.store().file().size_bytes().await?;
        if copy.file.size_bytes().await? < size_bytes {
            copy.file.set_size_bytes(size_bytes).await?;
        }
        Ok(header)
    }

    /// Copies the log files from that of the checkpoint on, and the checkpoint file.
    async fn copy_log(
        &self,
        copy: &mut DatabaseCopy<D>,
        checkpoint: LogPosition,
    ) -> Result<(), IoError> {
        let log = &self.inner.core.log;
        let from = &self.inner.place.log_directory;
        let first = checkpoint.generation(log.file_size_bytes());
        copy.log_files = 0;
        for name in from.list().await? {
            if is_needed_from(LOG_PREFIX, &name, first) {
                copy_file::<D>(&from.open(&name).await?, &copy.log_directory, &name).await?;
                copy.log_files += 1;
            }
        }
        let name = checkpoint_name(LOG_PREFIX);
        copy_file::<D>(&from.open(&name).await?, &copy.log_directory, &name).await
    }
}

pub(super) async fn copy_file<D: Directory>(
    from: &D::File,
    to: &D,
    name: &str,
) -> Result<(), IoError> {
    let size_bytes = from.size_bytes().await?;
    let file = to.create(name).await?;
    let mut offset = 0;
    while offset < size_bytes {
        let length = LOG_COPY_BYTES.min(size_bytes - offset);
        let (bytes, result) = from.read(offset, Buffer::zeroed(length as usize)).await;
        result?;
        file.write(offset, SharedBuffer::new(bytes), Persistence::Volatile)
            .await?;
        offset += length;
    }
    file.sync().await
}

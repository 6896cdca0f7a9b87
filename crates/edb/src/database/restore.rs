//! The copy of a closed database put in the place of another one.
//!
//! Every page is verified on the way: its checksum, its number, and its version where that is known. The
//! headers are written last, so that what was restored in part is no database.

use super::LOG_PREFIX;
use super::copy::copy_file;
use super::header::read_headers;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::layout::{last_page, page_offset};
use crate::integrity::{Contents, Evidence, Version, compare_headers};
use crate::log::{ClosedLog, verify_log};
use crate::position::LogPosition;
use crate::verification::StoredVersions;
use runtime::{Buffer, Directory, File, Handle, IoError, JoinHandle, Persistence, SharedBuffer};
use std::collections::VecDeque;
use std::rc::Rc;

/// Bytes of one read and of one write.
const REQUEST_BYTES: usize = 1 << 20;
/// Requests under way at one time.
const REQUESTS_IN_FLIGHT: usize = 4;

/// Why a copy cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The storage of either failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The copy is not one of a closed database, or it is damaged.
    #[error("{file}: {reason}")]
    Unusable {
        /// The file of the copy.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What was restored.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Restored {
    /// Pages that were read, verified and written.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Log files that were copied along.
    pub log_files: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// The copy of a database that was closed.
pub struct ClosedCopy<D: Directory> {
    log_directory: D,
    name: String,
    file: D::File,
    /// Both copies of the header as they are in the file.
    headers: [SharedBuffer; 2],
    header: DatabaseHeader,
    versions: Rc<Vec<u16>>,
    last_page: u32,
}

/// A request under way, and its pages.
type Request = (u32, JoinHandle<Result<(), RestoreError>>);

impl<D: Directory> ClosedCopy<D> {
    /// Opens the copy called `name` in one directory, whose log is in the other, in files of this size. Its
    /// headers, its page versions and its log are read and verified.
    ///
    /// # Errors
    /// If it is not one of a closed database, one of these is damaged, or the storage fails.
    pub async fn open(
        handle: &Handle,
        (directory, log_directory): (&D, &D),
        name: &str,
        page_bytes: usize,
        log_file_bytes: u64,
    ) -> Result<Self, RestoreError> {
        let file = directory.open(name).await?;
        let unusable = |reason: String| RestoreError::Unusable {
            file: file.name(),
            reason,
        };
        let size_bytes = file.size_bytes().await?;
        if size_bytes < 3 * page_bytes as u64 {
            return Err(unusable("it is too short to be a database".to_owned()));
        }
        let [first, second] = read_headers(&file, page_bytes).await?;
        let header = DatabaseHeader::choose(&first, &second);
        let header = header.map_err(|damage| unusable(damage.to_string()))?;
        if let Some(finding) = compare_headers(&file.name(), &first, &second) {
            return Err(unusable(finding.problem));
        }
        if header.page_size_bytes as usize != page_bytes {
            let found = header.page_size_bytes;
            return Err(unusable(format!("its pages have {found} bytes")));
        }
        if header.state != DatabaseState::Clean {
            return Err(unusable("it was not closed".to_owned()));
        }
        let last_page = last_page(size_bytes, page_bytes);
        let versions = match StoredVersions::read(directory, name, &header).await? {
            StoredVersions::Found(versions) if versions.len() <= last_page as usize => versions,
            StoredVersions::Found(_) => {
                return Err(unusable("it is shorter than it was".to_owned()));
            }
            _ => {
                let reason = "its page versions are missing, damaged or of another state of it";
                return Err(unusable(reason.to_owned()));
            }
        };
        let log_end = LogPosition(header.detach.position.to_stream(log_file_bytes));
        let log = ClosedLog {
            signature: header.log_signature,
            oldest_full: None,
            end: log_end,
            file_size_bytes: log_file_bytes,
        };
        if let Some(finding) = verify_log(handle, log_directory, &log)
            .await?
            .findings
            .first()
        {
            return Err(RestoreError::Unusable {
                file: finding.file.clone(),
                reason: finding.problem.clone(),
            });
        }
        Ok(Self {
            log_directory: log_directory.clone(),
            name: name.to_owned(),
            file,
            headers: [first, second].map(SharedBuffer::new),
            header,
            versions: Rc::new(versions),
            last_page,
        })
    }

    /// Bytes of its pages.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        u64::from(self.last_page) * u64::from(self.header.page_size_bytes)
    }

    /// Copies it to a place without a database, with its log and its page versions. `progress` hears the
    /// bytes of pages that were copied so far, and says whether to go on.
    ///
    /// # Errors
    /// If a page of the copy is damaged, or the storage of either fails. What was written so far is left,
    /// without headers.
    pub async fn restore_to(
        &self,
        handle: &Handle,
        (directory, log_directory): (&D, &D),
        progress: impl Fn(u64) -> bool,
    ) -> Result<Restored, RestoreError> {
        let began_ns = handle.now_ns();
        let file = directory.create(&self.name).await?;
        let mut restored = self.copy_pages(handle, &file, progress).await?;
        if restored.stopped {
            return Ok(restored);
        }
        for name in self.log_directory.list().await? {
            if name.starts_with(LOG_PREFIX) {
                let from = self.log_directory.open(&name).await?;
                copy_file::<D>(&from, log_directory, &name).await?;
                restored.log_files += u64::from(name.ends_with(".log"));
            }
        }
        log_directory.sync().await?;
        file.sync().await?;
        StoredVersions::write(directory, &self.name, &self.header, &self.versions).await?;
        let mut offset = 0;
        for header in &self.headers {
            file.write(offset, Rc::clone(header), Persistence::Durable)
                .await?;
            offset += header.len() as u64;
        }
        file.sync().await?;
        directory.sync().await?;
        restored.seconds = (handle.now_ns() - began_ns) as f64 / 1e9;
        Ok(restored)
    }

    async fn copy_pages(
        &self,
        handle: &Handle,
        to: &D::File,
        progress: impl Fn(u64) -> bool,
    ) -> Result<Restored, RestoreError> {
        let page_bytes = self.header.page_size_bytes as usize;
        let per_request = (REQUEST_BYTES / page_bytes) as u32;
        let mut restored = Restored::default();
        let mut under_way: VecDeque<Request> = VecDeque::new();
        let mut first = 1;
        let mut outcome = Ok(());
        loop {
            let goes_on = outcome.is_ok() && !restored.stopped;
            while goes_on && under_way.len() < REQUESTS_IN_FLIGHT && first <= self.last_page {
                let count = per_request.min(self.last_page - first + 1);
                under_way.push_back((count, self.start_copying(handle, to, first, count)));
                first += count;
            }
            // Also after an error: whoever follows on it must find nothing under way.
            let Some((count, request)) = under_way.pop_front() else {
                break;
            };
            match request.await {
                Ok(()) => {
                    restored.pages += u64::from(count);
                    restored.bytes += u64::from(count) * page_bytes as u64;
                    restored.stopped |= !progress(restored.bytes);
                }
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome.map(|()| restored)
    }

    fn start_copying(
        &self,
        handle: &Handle,
        to: &D::File,
        first: u32,
        count: u32,
    ) -> JoinHandle<Result<(), RestoreError>> {
        let (from, to) = (self.file.clone(), to.clone());
        let versions = Rc::clone(&self.versions);
        let page_bytes = self.header.page_size_bytes as usize;
        let offset = page_offset(first, page_bytes);
        handle.spawn(async move {
            let buffer = Buffer::zeroed(count as usize * page_bytes);
            let (pages, result) = from.read(offset, buffer).await;
            result?;
            for (page, bytes) in (first..).zip(pages.chunks_exact(page_bytes)) {
                let known = versions.get(page as usize - 1);
                let version = known.map_or(Version::UNKNOWN, |&code| Version::from_code(code));
                if let Some(problem) = problem_of(bytes, page, version) {
                    return Err(RestoreError::Unusable {
                        file: from.name(),
                        reason: format!("page {page} {problem}"),
                    });
                }
            }
            to.write(offset, pages.into(), Persistence::Volatile)
                .await?;
            Ok(())
        })
    }
}

/// What is wrong with a page of which this version was written last.
fn problem_of(bytes: &[u8], page: u32, version: Version) -> Option<&'static str> {
    match Evidence::of(bytes, page).contents {
        Contents::Damaged => Some("is damaged: its checksum or its number is wrong"),
        Contents::Zero if version.is_written() => Some("is empty, but it was written"),
        Contents::Zero => None,
        Contents::Whole { dbtime } => {
            let is_newest = version == Version::UNKNOWN || version == Version::of(dbtime);
            (!is_newest).then_some("is another version of it than was written last")
        }
    }
}

//! Everything of a closed database read back: pages, trees, headers, checkpoint and log.

use super::page_pass::{PagePass, verify_pages};
use crate::check::{CheckError, CheckReport, check};
use crate::checkpoint;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::integrity::{Coverage, FileFinding, LastWritten, VersionTable};
use crate::log::{ClosedLog, LOG_PREFIX, LogVerification, verify_log};
use runtime::{Directory, File, Handle, IoError};
use std::rc::Rc;

/// What is known of a database that has been closed, well or not, by the process that had it open.
#[derive(Clone)]
pub struct ClosedState {
    /// The versions of its pages.
    pub versions: Rc<VersionTable>,
    /// The header as it was written last.
    pub header: DatabaseHeader,
    /// The log that goes with the closed database.
    pub log: ClosedLog,
    /// What the copies of the header must be.
    pub written_header: Rc<LastWritten>,
    /// What the copies of the checkpoint must be.
    pub written_checkpoint: Rc<LastWritten>,
}

/// What the verification of a closed database found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// How much had been read back before.
    pub coverage: Coverage,
    /// The pass over every page of the file.
    pub pages: PagePass,
    /// Every tree; an error if the trees could not be walked, nothing if verification was stopped
    /// before.
    pub trees: Option<Result<CheckReport, CheckError>>,
    /// The copies of the header and of the checkpoint.
    pub copies: Vec<FileFinding>,
    /// The pass over every log file.
    pub log: LogVerification,
}

impl ClosedState {
    /// Reads everything back: the database file `name` in one directory, its log in another.
    /// `progress` hears the bytes done, of twice the size of the file, and says whether to go on.
    ///
    /// # Errors
    /// If a file cannot be opened or the storage fails as a whole.
    pub async fn verify<D: Directory>(
        &self,
        handle: &Handle,
        (directory, name): (&D, &str),
        log_directory: &D,
        progress: Rc<dyn Fn(u64) -> bool>,
    ) -> Result<Verification, IoError> {
        let file = directory.open(name).await?;
        let page_bytes = self.header.page_size_bytes as usize;
        let coverage = self.versions.coverage();
        let heard = Rc::clone(&progress);
        let pass = verify_pages(handle, &file, page_bytes, &self.versions, move |bytes| {
            heard(bytes)
        });
        let pages = pass.await?;
        let mut copies = self.verify_header(handle, &file).await?;
        copies.extend(self.verify_checkpoint(handle, log_directory).await?);
        let log = verify_log(handle, log_directory, &self.log).await?;
        let before = pages.bytes;
        let trees = if pages.stopped {
            None
        } else if self.header.state == DatabaseState::Clean {
            let checked = check(&file, move |done, _| {
                progress(before + done * page_bytes as u64);
            });
            Some(checked.await)
        } else {
            Some(Err(CheckError::NotClean {
                file: file.name(),
                writer: self.header.writer,
            }))
        };
        Ok(Verification {
            coverage,
            pages,
            trees,
            copies,
            log,
        })
    }

    async fn verify_header<F: File>(
        &self,
        handle: &Handle,
        file: &F,
    ) -> Result<Vec<FileFinding>, IoError> {
        let page_bytes = u64::from(self.header.page_size_bytes);
        checkpoint::read_header_back(handle, file, &self.written_header, page_bytes).await
    }

    async fn verify_checkpoint<D: Directory>(
        &self,
        handle: &Handle,
        directory: &D,
    ) -> Result<Vec<FileFinding>, IoError> {
        checkpoint::read_checkpoint_back(handle, directory, LOG_PREFIX, &self.written_checkpoint)
            .await
    }
}

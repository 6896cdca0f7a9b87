//! Bringing a database back after a crash.
//!
//! The log is read from the checkpoint to its end. Every page operation is repeated if the page has
//! not seen it: the page's database time must be the one before the operation (repeat) or not less
//! than the one after it (skip). Anything else means that the disk lost a write, and recovery stops
//! rather than go on with wrong data.
//!
//! On the way, [`redo`] collects what transactions have changed. Those without an end are rolled back
//! afterwards by the same code as any rollback, which logs what it does: a cut at any instant of
//! recovery leaves a log from which the next recovery goes on (see `transaction::record`). Deleted
//! nodes that had not been removed yet are queued for removal.
//!
//! A torn page is found by its checksum. Without page images in the log that is the end, with a
//! message that names the page. With images, operations on the page are passed over until its image
//! comes: the image was durable before the page was overwritten, so it lies behind the oldest
//! operation that the page on disk may lack.

mod logged_pages;
mod rebuild;
mod redo;

use crate::integrity::FileFinding;

pub use logged_pages::{LoggedPage, logged_pages};
pub(crate) use rebuild::LoggedContents;
pub(crate) use redo::Recovery;

/// What recovery has done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecoveryReport {
    /// Whether the database had been closed properly, so that there was nothing to do.
    pub was_clean: bool,
    /// What is wrong with one of the two copies of the header, which is rewritten from the other.
    pub damaged_header: Option<FileFinding>,
    /// What is wrong with the checkpoint file of a database that had been closed properly, where it is not
    /// needed; or that neither copy in it could be used for one that had not. It is written again at the next
    /// checkpoint.
    pub damaged_checkpoint: Option<FileFinding>,
    /// What is wrong with the header of the log file that was being written, which was written again from what
    /// its segments and the file before it say.
    pub damaged_log: Option<FileFinding>,
    /// What is wrong with the page versions that were stored when the database was closed. They are counted
    /// anew.
    pub damaged_versions: Option<FileFinding>,
    /// Why the versions of the pages are not known, if so: until
    /// [`crate::Database::rebuild_versions`] each page is taken for its newest version when it is first
    /// read.
    pub missing_versions: Option<String>,
    /// Log files from that of the first record read to the last one.
    pub generations: u32,
    /// Log records read from those files.
    pub records: u64,
    /// Page operations repeated because the page in the file was older.
    pub redone: u64,
    /// Page operations the pages had seen already.
    pub skipped: u64,
    /// Pages restored from their images.
    pub restored_pages: u64,
    /// Transactions without a commit that were taken back.
    pub undone_transactions: u64,
    /// Time from the opening of the file until the database was ready, in seconds.
    pub seconds: f64,
}

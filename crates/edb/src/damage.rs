//! Whatever is wrong with the files of a database.

use crate::cache::PageError;
use crate::integrity::FileFinding;

/// Something that is wrong with the files of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// A page of the database file.
    Page(PageError),
    /// A header, a checkpoint or a log file.
    File(FileFinding),
}

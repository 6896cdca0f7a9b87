//! Whatever is wrong with the files of a database.

use crate::integrity::FileFinding;
use crate::pool::PageError;

/// Something that is wrong with the files of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// A page.
    Page(PageError),
    /// Anything else.
    File(FileFinding),
}

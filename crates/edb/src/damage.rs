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

impl Damage {
    /// The name of its class in files and reports.
    #[must_use]
    pub fn class_name(&self) -> &'static str {
        match self {
            Self::Page(error) => error.finding().map_or("io", |finding| finding.class.name()),
            Self::File(finding) => finding.class.name(),
        }
    }
}

//! Why rows cannot be read.

use crate::format::general::{CompressionError, TableError};
use crate::format::page::PageDamage;
use crate::format::record::RecordError;

use super::reader::{CheckError, PageProblem};

/// Why rows cannot be read, or not handed on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("{0}")]
    File(#[from] CheckError),
    /// The catalog is damaged.
    #[error("{0}")]
    Catalog(#[from] TableError),
    /// A page is damaged.
    #[error("page {page} of {object} cannot be read: {problem}")]
    Page {
        /// Number of the page.
        page: u32,
        /// The table or its long values.
        object: String,
        /// What is wrong with it.
        problem: PageProblem,
    },
    /// Pages do not form a tree.
    #[error("the pages of {object} form no tree: page {page} {reason}")]
    Tree {
        /// Number of the page.
        page: u32,
        /// The table or its long values.
        object: String,
        /// What is wrong with its place.
        reason: &'static str,
    },
    /// A record is damaged.
    #[error("a record on page {page} of {object} cannot be read: {error}")]
    Record {
        /// Number of the page.
        page: u32,
        /// Name of the table.
        object: String,
        /// What is wrong with it.
        error: RecordError,
    },
    /// A value is compressed in a way that is not known here, encrypted, or damaged.
    #[error("the value of column {column} on page {page} of {object} is {reason}")]
    Value {
        /// Number of the page.
        page: u32,
        /// Name of the table.
        object: String,
        /// Name of the column.
        column: String,
        /// Why it cannot be read.
        reason: String,
    },
    /// A long value is missing or incomplete.
    #[error("long value {id} of {object} {reason}")]
    LongValue {
        /// Number of the long value.
        id: u64,
        /// Name of the table.
        object: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The rows could not be given to the caller.
    #[error("{0}")]
    Output(std::io::Error),
}

impl ReadError {
    /// Whether the file is damaged, or was at least not understood.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::File(_) | Self::Output(_))
    }

    /// Whether a file that was not closed properly need not be damaged: what is missing may be in its log.
    #[must_use]
    pub fn may_be_only_in_log(&self) -> bool {
        match self {
            Self::Tree { .. } => true,
            Self::Page { problem, .. } => {
                matches!(problem, PageProblem::Damage(PageDamage::NeverWritten))
            }
            _ => false,
        }
    }
}

/// Why the value of a column cannot be read.
pub(crate) fn reason_of(error: CompressionError) -> String {
    error.to_string()
}

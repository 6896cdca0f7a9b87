//! Knowing of every page what the storage must return.
//!
//! A checksum shows that a page is whole, not that it is the newest one: a storage that loses a write
//! returns an older page whose checksum is right. So the engine remembers of each page 16 bits hashed
//! from the database time that its last completed write carried, and compares them at every read.
//!
//! - [`Version`] is those 16 bits, [`DbtimeRange`] the database times that one database hands out:
//!   each database counts from its own base, so that a page of another file is recognised.
//! - [`VersionTable`] holds them, and what else was valid while a read was under way.
//! - `classify` says what is wrong with a page: a [`PageFinding`] with its [`DamageClass`].
//! - [`LastWritten`] compares the copies of the header and of the checkpoint with what was written,
//!   and `header_copies` those of a header with each other.

mod classify;
mod copies;
mod file_finding;
mod finding;
mod header_copies;
mod table;
mod version;

#[cfg(test)]
mod table_tests;

pub use classify::{Evidence, classify};
pub use copies::LastWritten;
pub(crate) use copies::{Copy, two_copies};
pub use file_finding::{FileClass, FileFinding, FilePart};
pub(crate) use finding::READ_AGAIN_AFTER_MS;
pub use finding::{
    DamageClass, EseError, LastWrite, Misplaced, PageFinding, Persistence, WrongBlocks,
};
pub(crate) use header_copies::{compare_headers, foreign_copy};
pub use table::{Contents, Coverage, ReadCheck, ReadInProgress, VersionTable, WriteInProgress};
pub use version::{DbtimeRange, Version};

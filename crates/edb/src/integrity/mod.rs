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
//! - `persist` keeps the table in a file beside the database while that is closed.
//! - [`LastWritten`] compares the copies of the header and of the checkpoint.
//! - [`ClosedState::verify`] reads a whole database back: [`verify_pages`] its pages.

mod classify;
mod copies;
mod file_finding;
mod finding;
mod page_pass;
mod persist;
mod table;
mod verify;
mod version;

#[cfg(test)]
mod table_tests;

pub use classify::{Evidence, classify};
pub use copies::LastWritten;
pub use file_finding::{Damage, FileClass, FileFinding, FilePart};
pub use finding::{
    DamageClass, EseError, LastWrite, Misplaced, PageFinding, Persistence, WrongBlocks,
};
pub use page_pass::{PagePass, verify_pages};
pub use persist::{StoredVersions, VERSIONS_ENDING, versions_file};
pub use table::{Contents, Coverage, Judgement, ReadInProgress, VersionTable, WriteInProgress};
pub(crate) use verify::two_copies;
pub use verify::{ClosedState, Verification};
pub use version::{DbtimeRange, Version};

//! A directory of files inside a block device, without a file system.
//!
//! The first block is a label that says the device is ours; nothing is opened without it. A table
//! follows, in which every file has two blocks that are written in turn, so that each change of a
//! name, a size or a place is one durable write and a torn write leaves what was before. The rest
//! is given to files in units of (usually) 1 MiB. Which units are free is not stored: it follows
//! from the table.
//!
//! Inside: `label` and `entry` are the bytes on the device, `space` knows free units, `claims` which
//! part of a file was ever written (the rest reads as zero), `inode` a file in memory, `table` all
//! of them; `directory` and `file` speak the traits, and `transfer` moves bytes that lie in several
//! pieces.

mod claims;
mod directory;
mod entry;
mod error;
mod file;
mod inode;
mod label;
mod space;
mod table;
mod transfer;

pub use directory::RawDirectory;
pub use error::RawError;
pub use file::RawFile;
pub use label::{DeviceContent, FormatOptions, inspect};

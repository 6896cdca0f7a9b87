//! SQLite's own file layer ("unix-excl"), with each read, write and sync counted and timed.
//!
//! SQLite calls a VFS for everything that it asks of the operating system. This one forwards each
//! call to "unix-excl", whose code makes the I/O and takes the locks; nothing is done in another way.
//! Each database has a VFS of its own, so the counters of a file, also of a temporary one without a
//! name, are those of its database.
//!
//! - `counters`: the counters, by kind of files.
//! - `vfs`: the VFS, and connections that use it.
//! - `file`: the methods of an open file.

mod counters;
mod file;
mod vfs;

pub(super) use vfs::{TimedConnection, TimedVfs};

#[cfg(test)]
mod tests;

//! The checkpoint: how far back recovery must read the log.
//!
//! - [`CheckpointFile`] holds it on disk, [`HeaderWriter`] the log files the database needs.
//! - [`Checkpointer`] moves it: every second or two, as far as dirty pages and open transactions
//!   allow, the database header first. Pages are written back by the cache's own flusher.

mod checkpointer;
mod contents;
mod copies;
mod file;
mod headers;

pub use checkpointer::{CheckpointSource, Checkpointer};
pub use contents::Checkpoint;
pub use file::CheckpointFile;
pub(crate) use file::{copies_in, read_checkpoint_back};
pub use headers::HeaderWriter;
pub(crate) use headers::read_header_back;

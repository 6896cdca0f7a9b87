//! The simulation of the engine: the same I/O without contents, for databases of any size.
//!
//! The simulation runs the engine's own database cache, log, checkpoint and maintenance scan, with pages that
//! hold nothing and records that are only as long as the engine's. Of the B+ trees it knows what
//! decides which pages an operation touches, as arithmetic and counts, never as rows:
//!
//! - [`geometry`] measures nodes, pages and records with the engine's own page and record formats;
//!   [`record`] adds up log records.
//! - [`spaces`] hands out pages and takes them back as the engine's space trees do.
//! - [`ascending`] is a tree that grows at its right edge (the table, the long values), [`scattered`]
//!   one with random keys (the index); [`levels`] the internal pages above either.
//! - [`shape`] is all trees of a database as the bulk builder leaves them.
//! - [`transactions`] knows snapshots, conflicts and what is to be cleaned up.
//! - [`edb::store::ContentlessStore`] is the database file, [`core`] the loop of every operation,
//!   [`operations`] what rows ask of it, [`cleanup`] the removal of deleted nodes, [`growth`] the
//!   file's extension.
//! - [`store`] and [`host`] put it behind the interfaces of the workload. It runs on any
//!   [`runtime::Directory`].
//!
//! The sessions, the mix, the pacing and the verdict are those of every other run.

pub(crate) mod ascending;
pub(crate) mod cleanup;
pub(crate) mod core;
pub(crate) mod extents;
pub(crate) mod geometry;
pub(crate) mod growth;
pub mod host;
pub(crate) mod levels;
pub(crate) mod open;
pub(crate) mod operations;
pub(crate) mod record;
pub(crate) mod replaced;
pub(crate) mod scan;
pub(crate) mod scattered;
pub(crate) mod shape;
pub(crate) mod spaces;
pub mod store;
pub(crate) mod transactions;

pub use host::SimulatedHost;
pub use store::SimulatedStore;

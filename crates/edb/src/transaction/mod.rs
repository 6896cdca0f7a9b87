//! Transactions: snapshots, versions, rollback.
//!
//! - [`versions`](crate::versions) keeps what records were, and knows who is active and what waits for
//!   cleanup. [`log_record`](crate::log_record) is the shape of log records, and shows how undo
//!   survives a power cut.
//! - [`nodes`] reads and writes single nodes under the rules of snapshot isolation; [`undo`] takes
//!   changes back; [`cleanup`] removes deleted nodes once nobody can see them.
//! - [`handle`] is the [`Transaction`] that callers hold.
//!
//! A transaction sees the database as of its beginning, plus its own changes. It conflicts with
//! another one at once when it changes a record whose newest state it does not see; nobody waits,
//! and readers never block. All trees, those of indexes and long values too, go through the same
//! versioned node operations, so a rollback is a list of nodes to restore, newest first.

pub(crate) mod cleanup;
pub(crate) mod handle;
pub(crate) mod nodes;
pub(crate) mod undo;

pub use handle::{Commit, Transaction};
pub(crate) use nodes::{NodeChange, WriteOutcome};

//! Whether transactions that were acknowledged are still there.
//!
//! An open database notifies a [`CommitObserver`] of each commit that is durable: of its position in the
//! log and a hash. Together with the [`Opening`], by which the opened database is known again, that is
//! enough to look for the commits later:
//!
//! - [`read_log`] reads the log, before recovery changes anything, and says of each commit whether its
//!   record is there ([`CommitState`]).
//! - [`stale_pages`], after recovery, compares the pages with the changes in that log: a page that lacks
//!   one has lost a write. [`commits_on`] finds the transactions that had changed it.
//!
//! What the log has no changes of, [`crate::check`] reads: an audit is of every page and every tree.

mod logged;
mod pages;

pub use crate::acknowledged::{AcknowledgedCommit, CommitObserver, Opening};
pub use logged::{AuditedLog, CommitState, Lineage, read_log};
pub use pages::{LoggedVersions, StalePage, commits_on, stale_pages};

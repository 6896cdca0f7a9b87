//! The statements that begin and end transactions, and the state of a transaction.

use crate::session::Isolation;

pub(super) const BEGIN_READ_COMMITTED: &str = "proofload begin read committed";
pub(super) const BEGIN_REPEATABLE_READ: &str = "proofload begin repeatable read";
pub(super) const BEGIN_SERIALIZABLE: &str = "proofload begin serializable";
pub(super) const READ_BY_INDEX: &str = "proofload read by index";
pub(super) const COMMIT: &str = "proofload commit";
pub(super) const ROLLBACK: &str = "proofload rollback";

/// BEGIN of a serializable transaction. If it scans a table, however small, every write to that
/// table conflicts with it: so rows are looked up by index, where the planner would rather scan the
/// one page of a table of ten brokers.
pub(super) const SERIALIZABLE: [&str; 2] = [BEGIN_SERIALIZABLE, READ_BY_INDEX];

/// What every session prepares when it connects.
pub(super) const CONTROLS: [(&str, &str); 7] = [
    ("", "SET default_transaction_isolation TO 'read committed'"),
    (BEGIN_READ_COMMITTED, "BEGIN ISOLATION LEVEL READ COMMITTED"),
    (
        BEGIN_REPEATABLE_READ,
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
    ),
    (BEGIN_SERIALIZABLE, "BEGIN ISOLATION LEVEL SERIALIZABLE"),
    (READ_BY_INDEX, "SET LOCAL enable_seqscan TO off"),
    (COMMIT, "COMMIT"),
    (ROLLBACK, "ROLLBACK"),
];

/// State of the transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// No transaction is open.
    Idle,
    /// Begun by the caller, not yet sent to the server.
    Begun(Isolation),
    /// Open on the server.
    Open,
}

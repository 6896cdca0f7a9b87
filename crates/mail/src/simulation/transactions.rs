//! Snapshots, write conflicts and what is to be cleaned up, as the engine has them.
//!
//! A transaction conflicts with another one when it changes a row whose newest state it does not
//! see. Deleted nodes are cleaned up once no snapshot is older than their transaction's commit, and
//! the checkpoint does not pass what is open or not cleaned up.

use super::shape::{Change, Node};
use edb::position::LogPosition;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// One change of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Update {
    pub(crate) node: Node,
    pub(crate) change: Change,
}

/// A transaction that has not ended.
#[derive(Debug)]
pub struct SimulatedTransaction {
    id: u64,
    snapshot: u64,
    /// Where its first record begins, once there is one.
    pub(crate) begin: Option<LogPosition>,
    pub(crate) updates: Vec<Update>,
    /// Rows it has written.
    rows: Vec<u64>,
    /// Rows with the long values they had before.
    pub(crate) former_values: Vec<(u64, u32)>,
}

/// Who has written a row last.
#[derive(Debug, Clone, Copy)]
struct Written {
    writer: u64,
    /// The number of the commit, once it has come.
    commit: Option<u64>,
}

#[derive(Debug)]
struct Committed {
    number: u64,
    begin: LogPosition,
    writer: u64,
    rows: Vec<u64>,
    updates: Vec<Update>,
    deletes: bool,
}

/// A deleted node whose time has come, and the log position that is held back for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleanup {
    pub(crate) node: Node,
    pub(crate) begin: LogPosition,
}

/// The transactions of one database.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    next_id: u64,
    last_commit: u64,
    /// Open transactions by their snapshots.
    snapshots: BTreeMap<u64, u32>,
    committed: VecDeque<Committed>,
    written: FxHashMap<u64, Written>,
    cleanups: VecDeque<Cleanup>,
    /// Positions the checkpoint does not pass.
    held: BTreeMap<LogPosition, u32>,
    /// Positions to let go of once the log is durable up to the first of each pair.
    ending: VecDeque<(LogPosition, LogPosition)>,
    /// Memory to be used again.
    spare_updates: Vec<Vec<Update>>,
    spare_rows: Vec<Vec<u64>>,
}

impl Transactions {
    pub(crate) fn begin(&mut self) -> SimulatedTransaction {
        self.next_id += 1;
        *self.snapshots.entry(self.last_commit).or_default() += 1;
        SimulatedTransaction {
            id: self.next_id,
            snapshot: self.last_commit,
            begin: None,
            updates: self.spare_updates.pop().unwrap_or_default(),
            rows: self.spare_rows.pop().unwrap_or_default(),
            former_values: Vec::new(),
        }
    }

    /// Whether a transaction may change a row; if so, it has written it now.
    pub(crate) fn write(&mut self, transaction: &mut SimulatedTransaction, row: u64) -> bool {
        if let Some(written) = self.written.get(&row) {
            let is_own = written.writer == transaction.id;
            let seen = written
                .commit
                .is_some_and(|commit| commit <= transaction.snapshot);
            if !is_own && !seen {
                return false;
            }
        }
        let written = Written {
            writer: transaction.id,
            commit: None,
        };
        self.written.insert(row, written);
        transaction.rows.push(row);
        true
    }

    /// Holds a position back from the checkpoint.
    pub(crate) fn hold(&mut self, position: LogPosition) {
        *self.held.entry(position).or_default() += 1;
    }

    fn release(&mut self, position: LogPosition) {
        let Some(count) = self.held.get_mut(&position) else {
            panic!("{position} is not held");
        };
        *count -= 1;
        if *count == 0 {
            self.held.remove(&position);
        }
    }

    /// Lets go of a position once the log is durable up to `end`.
    pub(crate) fn release_after(&mut self, position: LogPosition, end: LogPosition) {
        self.ending.push_back((end, position));
    }

    /// The oldest log position a restart would need.
    pub(crate) fn oldest_needed(&mut self, durable: LogPosition) -> Option<LogPosition> {
        while self.ending.front().is_some_and(|&(end, _)| end <= durable) {
            if let Some((_, begin)) = self.ending.pop_front() {
                self.release(begin);
            }
        }
        self.held.keys().next().copied()
    }

    /// Commits; `end` is the end of the commit record.
    pub(crate) fn commit(&mut self, transaction: SimulatedTransaction, end: LogPosition) {
        let SimulatedTransaction {
            id,
            snapshot,
            begin,
            updates,
            rows,
            ..
        } = transaction;
        if let Some(begin) = begin {
            self.release_after(begin, end);
            self.last_commit += 1;
            for row in &rows {
                if let Some(written) = self.written.get_mut(row) {
                    written.commit = Some(self.last_commit);
                }
            }
            let deletes = updates.iter().any(|update| update.change == Change::Flag);
            if deletes {
                self.hold(begin);
            }
            self.committed.push_back(Committed {
                number: self.last_commit,
                begin,
                writer: id,
                rows,
                updates,
                deletes,
            });
        } else {
            self.spare_updates.push(updates);
            self.spare_rows.push(rows);
        }
        self.end_snapshot(snapshot);
    }

    /// Ends a transaction whose changes have been taken back; `end` is the end of the record that
    /// says so. What it had inserted is to be cleaned up.
    pub(crate) fn end_rolled_back(&mut self, transaction: &SimulatedTransaction, end: LogPosition) {
        for row in &transaction.rows {
            let is_own = |written: &Written| written.writer == transaction.id;
            if self.written.get(row).is_some_and(is_own) {
                self.written.remove(row);
            }
        }
        if let Some(begin) = transaction.begin {
            for update in &transaction.updates {
                if update.change == Change::Insert {
                    let node = update.node;
                    self.hold(begin);
                    self.cleanups.push_back(Cleanup { node, begin });
                }
            }
            self.release_after(begin, end);
        }
        self.end_snapshot(transaction.snapshot);
    }

    fn end_snapshot(&mut self, snapshot: u64) {
        let Some(count) = self.snapshots.get_mut(&snapshot) else {
            panic!("no transaction has the snapshot {snapshot}");
        };
        *count -= 1;
        if *count == 0 {
            self.snapshots.remove(&snapshot);
        }
        self.purge();
    }

    /// Forgets what no snapshot needs and queues deleted nodes for cleanup.
    pub(crate) fn purge(&mut self) {
        let oldest = self.snapshots.keys().next().copied();
        let oldest = oldest.unwrap_or(self.last_commit);
        while self
            .committed
            .front()
            .is_some_and(|one| one.number <= oldest)
        {
            let Some(mut one) = self.committed.pop_front() else {
                return;
            };
            for row in one.rows.drain(..) {
                let is_own = |written: &Written| written.writer == one.writer;
                if self.written.get(&row).is_some_and(is_own) {
                    self.written.remove(&row);
                }
            }
            for update in one.updates.drain(..) {
                if update.change == Change::Flag {
                    let (node, begin) = (update.node, one.begin);
                    self.hold(begin);
                    self.cleanups.push_back(Cleanup { node, begin });
                }
            }
            if one.deletes {
                self.release(one.begin);
            }
            self.spare_updates.push(one.updates);
            self.spare_rows.push(one.rows);
        }
    }

    /// The next node to clean up. The caller releases its position when done.
    pub(crate) fn pop_cleanup(&mut self) -> Option<Cleanup> {
        self.cleanups.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_changed_since_the_snapshot_is_a_conflict_until_nobody_cares() {
        let mut all = Transactions::default();
        let mut one = all.begin();
        let mut two = all.begin();
        assert!(all.write(&mut one, 7));
        assert!(!all.write(&mut two, 7), "not committed");
        one.begin = Some(LogPosition(100));
        all.hold(LogPosition(100));
        let (node, change) = (Node::Row(7), Change::Flag);
        one.updates.push(Update { node, change });
        all.commit(one, LogPosition(200));
        assert!(!all.write(&mut two, 7), "committed after the snapshot");
        assert!(
            all.pop_cleanup().is_none(),
            "the older one may still see it"
        );
        let mut three = all.begin();
        assert!(all.write(&mut three, 7), "it sees the commit");
        all.end_rolled_back(&three, LogPosition::START);
        all.end_rolled_back(&two, LogPosition::START);
        assert_eq!(all.pop_cleanup().map(|cleanup| cleanup.node), Some(node));
        assert_eq!(all.oldest_needed(LogPosition(200)), Some(LogPosition(100)));
        all.release_after(LogPosition(100), LogPosition(300));
        assert_eq!(all.oldest_needed(LogPosition(300)), None);
        assert!(all.snapshots.is_empty() && all.written.is_empty());
    }
}

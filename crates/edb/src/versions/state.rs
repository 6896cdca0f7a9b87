//! The transactions of one database: snapshots, commits, versions and what is left to clean up.

use super::{CommitNumber, VersionStore, Writer};
use crate::position::LogPosition;
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::tree::DataChange;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// One change of one node that may have to be taken back.
pub(crate) struct Update {
    /// Root of the tree.
    pub(crate) tree: u32,
    pub(crate) key: Rc<[u8]>,
    /// Whether the node carries the deleted flag since.
    pub(crate) deletes: bool,
    /// Whether this is the transaction's first change of the node: taking it back ends the need
    /// for a version.
    pub(crate) is_first: bool,
    /// What was there before.
    pub(crate) before: FormerState,
}

/// What was there before a change.
pub(crate) enum FormerState {
    /// There was no node: the change inserted it.
    Nothing,
    /// There was one, perhaps with the deleted flag.
    Node {
        /// With the deleted flag.
        deleted: bool,
        /// Bytes of its data that are still the same, at the front and at the back.
        kept: (usize, usize),
        /// The bytes in between, as they were.
        middle: Box<[u8]>,
    },
}

impl FormerState {
    /// Whether nobody but older snapshots saw the node before.
    pub(crate) fn was_absent(&self) -> bool {
        matches!(self, Self::Nothing | Self::Node { deleted: true, .. })
    }

    /// A copy of what the log holds.
    pub(crate) fn of_change(deleted: bool, change: DataChange<'_>) -> Self {
        let kept = (change.front, change.back);
        Self::Node {
            deleted,
            kept,
            middle: change.middle.into(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Node { middle, .. } => middle.len(),
        }
    }
}

/// Bytes an update costs besides its image.
const UPDATE_OVERHEAD_BYTES: usize = 64;

impl Update {
    pub(crate) fn bytes(&self) -> usize {
        UPDATE_OVERHEAD_BYTES + self.before.bytes()
    }
}

/// A transaction that has not ended.
pub(crate) struct OpenTransaction {
    pub(crate) writer: Rc<Writer>,
    /// The newest commit it sees.
    pub(crate) snapshot: CommitNumber,
    /// Where its first record begins, once there is one.
    pub(crate) begin: Option<LogPosition>,
    /// Its changes, oldest first.
    pub(crate) updates: Vec<Update>,
}

impl OpenTransaction {
    /// Bytes of its versions and of its undo information.
    pub(crate) fn bytes(&self) -> u64 {
        let undo_bytes: usize = self.updates.iter().map(Update::bytes).sum();
        (self.writer.version_bytes.get() + undo_bytes) as u64
    }
}

/// A node with the deleted flag that goes away once nobody can see it.
pub(crate) struct Cleanup {
    /// Root of the tree.
    pub(crate) tree: u32,
    pub(crate) key: Rc<[u8]>,
    /// The log position that recovery needs to know of it.
    pub(crate) begin: LogPosition,
}

/// Nodes that are kept in mind although their pages could not be read. Those beyond stay in their
/// pages, with the deleted flag.
const MOST_SET_ASIDE: usize = 10_000;

/// A committed transaction whose versions older snapshots may need.
struct Committed {
    number: CommitNumber,
    writer: u64,
    begin: LogPosition,
    nodes: Vec<(u32, Rc<[u8]>, bool)>,
    /// Whether there are deleted nodes among them, for which `begin` is held.
    deletes: bool,
}

/// All transactions of one database.
#[derive(Default)]
pub(crate) struct Transactions {
    /// What records were before the changes that someone may not see yet.
    pub(crate) versions: VersionStore,
    last_commit: CommitNumber,
    last_id: u64,
    snapshots: BTreeMap<CommitNumber, usize>,
    committed: VecDeque<Committed>,
    cleanups: VecDeque<Cleanup>,
    /// Nodes, by tree and key, on pages that could not be read.
    set_aside: Vec<(u32, Rc<[u8]>)>,
    /// How often each log position is needed for undo or cleanup at a restart.
    held: BTreeMap<LogPosition, usize>,
    /// Positions that are needed until the log is durable up to the first of each pair: until then
    /// a power cut loses the record that ended the need.
    ending: VecDeque<(LogPosition, LogPosition)>,
    undo_bytes: usize,
}

impl Transactions {
    /// Starts a transaction that sees all commits so far.
    pub(crate) fn begin(&mut self) -> OpenTransaction {
        self.last_id += 1;
        let writer = Writer::new(self.last_id);
        *self.snapshots.entry(self.last_commit).or_default() += 1;
        OpenTransaction {
            writer,
            snapshot: self.last_commit,
            begin: None,
            updates: Vec::new(),
        }
    }

    /// Bytes of versions and of undo information.
    pub(crate) fn bytes(&self) -> u64 {
        (self.versions.bytes() + self.undo_bytes) as u64
    }

    /// Transactions that have begun and not ended.
    pub(crate) fn open_count(&self) -> usize {
        self.snapshots.values().sum()
    }

    /// Whether nodes can be cleaned up now.
    pub(crate) fn has_cleanups(&self) -> bool {
        !self.cleanups.is_empty()
    }

    /// Nodes that wait to be cleaned up, those that older snapshots still see included.
    pub(crate) fn waiting_cleanups(&self) -> usize {
        let deleted = self
            .committed
            .iter()
            .flat_map(|one| &one.nodes)
            .filter(|node| node.2);
        self.cleanups.len() + deleted.count()
    }

    /// The oldest log position a restart would need to undo transactions and to clean up, given how
    /// far the log is durable.
    pub(crate) fn oldest_needed(&mut self, durable: LogPosition) -> Option<LogPosition> {
        let at_once = is_seeded(SeededBug::HoldEndsBeforeLogIsDurable);
        let has_ended = |&(end, _): &(LogPosition, LogPosition)| end <= durable || at_once;
        while self.ending.front().is_some_and(has_ended) {
            if let Some((_, begin)) = self.ending.pop_front() {
                self.release(begin);
            }
        }
        self.held.keys().next().copied()
    }

    /// Holds a position back from the checkpoint.
    pub(crate) fn hold(&mut self, position: LogPosition) {
        *self.held.entry(position).or_default() += 1;
    }

    /// Lets go of a position once the log is durable up to `end`.
    pub(crate) fn release_after(&mut self, position: LogPosition, end: LogPosition) {
        self.ending.push_back((end, position));
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

    /// Adds a change to its transaction.
    pub(crate) fn push_update(&mut self, transaction: &mut OpenTransaction, update: Update) {
        self.undo_bytes += update.bytes();
        transaction.updates.push(update);
    }

    /// Takes the newest change off its transaction.
    pub(crate) fn pop_update(&mut self, transaction: &mut OpenTransaction) -> Option<Update> {
        let update = transaction.updates.pop()?;
        self.undo_bytes -= update.bytes();
        Some(update)
    }

    fn end_snapshot(&mut self, snapshot: CommitNumber) {
        let Some(count) = self.snapshots.get_mut(&snapshot) else {
            panic!("no transaction has the snapshot {snapshot:?}");
        };
        *count -= 1;
        if *count == 0 {
            self.snapshots.remove(&snapshot);
        }
    }

    /// Commits: from now on new snapshots see the changes. `end` is the end of the commit record.
    pub(crate) fn commit(&mut self, transaction: &mut OpenTransaction, end: LogPosition) {
        if let Some(begin) = transaction.begin {
            self.release_after(begin, end);
            self.last_commit.0 += 1;
            transaction.writer.commit(self.last_commit);
            let updates = std::mem::take(&mut transaction.updates);
            self.undo_bytes -= updates.iter().map(Update::bytes).sum::<usize>();
            let mut deletes = false;
            let nodes = updates.into_iter().map(|update| {
                deletes |= update.deletes;
                (update.tree, update.key, update.deletes)
            });
            let nodes = nodes.collect();
            if deletes {
                self.hold(begin);
            }
            self.committed.push_back(Committed {
                number: self.last_commit,
                writer: transaction.writer.id,
                begin,
                nodes,
                deletes,
            });
        }
        self.end_snapshot(transaction.snapshot);
        self.purge();
    }

    /// Ends a transaction all of whose changes have been taken back.
    /// `end` is the end of the record that says so.
    pub(crate) fn end_rolled_back(&mut self, transaction: &OpenTransaction, end: LogPosition) {
        assert!(
            transaction.updates.is_empty(),
            "nothing is left to take back"
        );
        if let Some(begin) = transaction.begin {
            self.release_after(begin, end);
        }
        self.end_snapshot(transaction.snapshot);
        self.purge();
    }

    /// Drops the versions that no snapshot needs, and queues deleted nodes for cleanup.
    pub(crate) fn purge(&mut self) {
        let oldest = self
            .snapshots
            .keys()
            .next()
            .copied()
            .filter(|_| !is_seeded(SeededBug::CleanupIgnoresSnapshots))
            .unwrap_or(self.last_commit);
        while self
            .committed
            .front()
            .is_some_and(|one| one.number <= oldest)
        {
            let Some(one) = self.committed.pop_front() else {
                return;
            };
            for (tree, key, deletes) in one.nodes {
                self.versions.forget(tree, &key, one.writer);
                if deletes {
                    self.push_cleanup(tree, key, one.begin);
                }
            }
            if one.deletes {
                self.release(one.begin);
            }
        }
    }

    /// Queues a node with the deleted flag.
    pub(crate) fn push_cleanup(&mut self, tree: u32, key: Rc<[u8]>, begin: LogPosition) {
        self.hold(begin);
        self.cleanups.push_back(Cleanup { tree, key, begin });
    }

    /// Continues a transaction that a restart found open in the log.
    pub(crate) fn resume(
        &mut self,
        id: u64,
        begin: LogPosition,
        updates: Vec<Update>,
    ) -> OpenTransaction {
        self.last_id = self.last_id.max(id);
        let mut transaction = self.begin();
        transaction.writer = Writer::new(id);
        transaction.begin = Some(begin);
        self.undo_bytes += updates.iter().map(Update::bytes).sum::<usize>();
        transaction.updates = updates;
        self.hold(begin);
        transaction
    }

    /// The next node to clean up. The caller releases its position when done.
    pub(crate) fn pop_cleanup(&mut self) -> Option<Cleanup> {
        self.cleanups.pop_front()
    }

    /// Keeps a node in mind whose page could not be read. Nothing is held back for it.
    pub(crate) fn set_aside(&mut self, cleanup: Cleanup) {
        if self.set_aside.len() < MOST_SET_ASIDE {
            self.set_aside.push((cleanup.tree, cleanup.key));
        }
    }

    /// Queues the nodes that were set aside once more. `end` is where the log ends.
    pub(crate) fn take_up_again(&mut self, end: LogPosition) {
        for (tree, key) in std::mem::take(&mut self.set_aside) {
            self.push_cleanup(tree, key, end);
        }
    }
}

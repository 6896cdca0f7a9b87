//! The versions of records that somebody may still need to see.
//!
//! A page holds the newest state of each record, committed or not. For every record that was changed
//! recently, the store keeps what it was before each change, by tree and key. A reader whose snapshot
//! is older than a change goes back through these before-images until it meets a change it may see.
//! A node that is absent in the newest state but present in an older one stays in its page with the
//! deleted flag until the last version is gone, so a scan meets every key it may have to show.
//!
//! A version disappears when it is committed and no snapshot is older, or when it is rolled back.

mod state;

pub(crate) use state::{Cleanup, FormerState, OpenTransaction, Transactions, Update};

use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;

/// A point in the order of commits: a snapshot sees exactly the commits up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct CommitNumber(pub(crate) u64);

/// Bytes a version costs besides its key and image.
const VERSION_OVERHEAD_BYTES: usize = 96;

/// Who writes: one transaction.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Its number, unique since the log began.
    pub(crate) id: u64,
    committed: Cell<Option<CommitNumber>>,
    /// Bytes of the versions that its changes have made.
    version_bytes: Cell<usize>,
}

impl Writer {
    pub(crate) fn new(id: u64) -> Rc<Self> {
        Rc::new(Self {
            id,
            committed: Cell::new(None),
            version_bytes: Cell::new(0),
        })
    }

    /// Marks everything the transaction wrote as committed.
    pub(crate) fn commit(&self, number: CommitNumber) {
        assert!(
            self.committed.get().is_none(),
            "transaction {} commits once",
            self.id
        );
        self.committed.set(Some(number));
    }

    fn is_visible(&self, snapshot: CommitNumber, reader: u64) -> bool {
        self.id == reader
            || self
                .committed
                .get()
                .is_some_and(|number| number <= snapshot)
    }
}

/// What a record was: its data, or absent.
pub(crate) type BeforeImage = Option<Rc<[u8]>>;

struct Version {
    writer: Rc<Writer>,
    before: BeforeImage,
}

impl Version {
    fn bytes(&self, key: &[u8]) -> usize {
        let image = self.before.as_ref().map_or(0, |image| image.len());
        VERSION_OVERHEAD_BYTES + key.len() + image
    }
}

/// The versions of one record, oldest first.
type Chain = Vec<Version>;

/// What a reader sees of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// What the page holds.
    Newest,
    /// What the record was before a change that the reader may not see.
    Before(BeforeImage),
}

/// All versions of one database.
#[derive(Default)]
pub(crate) struct VersionStore {
    trees: FxHashMap<u32, FxHashMap<Rc<[u8]>, Chain>>,
    bytes: usize,
}

impl VersionStore {
    /// Memory that versions take, estimated.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn chain(&self, tree: u32, key: &[u8]) -> Option<&Chain> {
        self.trees.get(&tree)?.get(key)
    }

    /// What the reader with this snapshot sees of a record.
    #[inline]
    pub(crate) fn seen(&self, tree: u32, key: &[u8], snapshot: CommitNumber, reader: u64) -> Seen {
        let Some(chain) = self.chain(tree, key) else {
            return Seen::Newest;
        };
        let mut seen = Seen::Newest;
        for version in chain.iter().rev() {
            if version.writer.is_visible(snapshot, reader) {
                break;
            }
            seen = Seen::Before(version.before.clone());
        }
        seen
    }

    /// Whether a transaction with this snapshot may change the record: its newest state must be
    /// visible to it.
    pub(crate) fn may_change(
        &self,
        tree: u32,
        key: &[u8],
        snapshot: CommitNumber,
        writer: u64,
    ) -> bool {
        let newest = self.chain(tree, key).and_then(|chain| chain.last());
        newest.is_none_or(|version| version.writer.is_visible(snapshot, writer))
    }

    /// Whether anybody may still need a version of the record.
    pub(crate) fn has_versions(&self, tree: u32, key: &[u8]) -> bool {
        self.chain(tree, key).is_some()
    }

    /// Notes what a record was before `writer` changes it. Only its first change of a record counts;
    /// returns whether this is it.
    pub(crate) fn note(
        &mut self,
        tree: u32,
        key: &Rc<[u8]>,
        before: BeforeImage,
        writer: &Rc<Writer>,
    ) -> bool {
        let chain = self
            .trees
            .entry(tree)
            .or_default()
            .entry(Rc::clone(key))
            .or_default();
        if let Some(newest) = chain.last() {
            if newest.writer.id == writer.id {
                return false;
            }
            assert!(
                newest.writer.committed.get().is_some(),
                "transaction {} changes a record that transaction {} has not committed",
                writer.id,
                newest.writer.id
            );
        }
        let version = Version {
            writer: Rc::clone(writer),
            before,
        };
        let bytes = version.bytes(key);
        writer.version_bytes.set(writer.version_bytes.get() + bytes);
        self.bytes += bytes;
        chain.push(version);
        true
    }

    /// Forgets the version of a record that `writer` made, if there still is one.
    pub(crate) fn forget(&mut self, tree: u32, key: &[u8], writer: u64) {
        let Some(chains) = self.trees.get_mut(&tree) else {
            return;
        };
        let Some(chain) = chains.get_mut(key) else {
            return;
        };
        let place = chain.iter().position(|version| version.writer.id == writer);
        if let Some(place) = place {
            self.bytes -= chain.remove(place).bytes(key);
        }
        if chain.is_empty() {
            chains.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_go_back_to_what_they_may_see() {
        let mut store = VersionStore::default();
        let key: Rc<[u8]> = Rc::from(*b"k");
        let (one, two) = (Writer::new(1), Writer::new(2));
        assert!(store.note(7, &key, None, &one));
        one.commit(CommitNumber(5));
        assert!(store.note(7, &key, Some(Rc::from(*b"a")), &two));
        assert!(!store.note(7, &key, Some(Rc::from(*b"b")), &two));
        let seen = |snapshot, reader| store.seen(7, b"k", CommitNumber(snapshot), reader);
        assert_eq!(seen(4, 9), Seen::Before(None));
        assert_eq!(seen(5, 9), Seen::Before(Some(Rc::from(*b"a"))));
        assert_eq!(seen(5, 2), Seen::Newest);
        assert!(!store.may_change(7, b"k", CommitNumber(5), 3));
        two.commit(CommitNumber(6));
        assert!(!store.may_change(7, b"k", CommitNumber(5), 3));
        assert!(store.may_change(7, b"k", CommitNumber(6), 3));
        store.forget(7, b"k", 1);
        store.forget(7, b"k", 2);
        assert!(!store.has_versions(7, b"k"));
        assert_eq!(store.bytes(), 0);
    }
}

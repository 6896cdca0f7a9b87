//! Reading and writing single nodes under snapshot isolation.

use crate::engine::Core;
use crate::error::EngineError;
use crate::format::page::{NodeFlags, PageView};
use crate::log_record::{NodeUndo, UndoState, encode_begin, encode_update};
use crate::tree::{self, DataChange, Found, Need, Step};
use crate::versions::{BeforeImage, CommitNumber, Seen, VersionStore};
use crate::versions::{FormerState, OpenTransaction, Update};
use runtime::Directory;
use std::rc::Rc;

/// What a transaction sees: commits up to its snapshot, and its own changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadView {
    /// The newest commit it sees.
    pub(crate) snapshot: CommitNumber,
    /// Number of the transaction, whose own changes are visible to it.
    pub(crate) transaction: u64,
}

impl OpenTransaction {
    pub(crate) fn read_view(&self) -> ReadView {
        ReadView {
            snapshot: self.snapshot,
            transaction: self.writer.id,
        }
    }
}

/// Shows the data of node `index` of a leaf, as `read_view` sees them, to `show`; `None` if it sees no
/// such node.
pub(crate) fn see_node<T>(
    versions: &VersionStore,
    tree: u32,
    key: &[u8],
    (flags, data): (NodeFlags, &[u8]),
    read_view: ReadView,
    show: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    match versions.seen(tree, key, read_view.snapshot, read_view.transaction) {
        Seen::Newest if flags.contains(NodeFlags::DELETED) => None,
        Seen::Newest => Some(show(data)),
        Seen::Before(Some(image)) => Some(show(&image)),
        Seen::Before(None) => None,
    }
}

/// What a transaction wants to do to a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NodeChange<'a> {
    /// Add it with these data.
    Insert(&'a [u8]),
    /// Give it these data.
    Replace(&'a [u8]),
    Delete,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Done,
    /// A node to insert is there already.
    Exists,
    /// A node to replace or delete is not there.
    Absent,
}

/// A node's newest state.
struct Present {
    deleted: bool,
    data: Rc<[u8]>,
}

impl<D: Directory> Core<D> {
    /// Calls `show` with the data of the node that the reader sees; `None` if it sees none.
    pub(crate) async fn read_node<T>(
        &self,
        tree: u32,
        key: &[u8],
        read_view: ReadView,
        mut show: impl FnMut(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        self.read(|step| self.find_visible(step, tree, key, read_view, &mut show))
            .await
    }

    /// Reads one node within a step.
    pub(crate) fn find_visible<T>(
        &self,
        step: &Step<'_>,
        tree: u32,
        key: &[u8],
        read_view: ReadView,
        show: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Need> {
        let Some(Found { leaf, index }) = tree::find(step, tree, key)? else {
            return Ok(None);
        };
        let node = PageView::new(&leaf.page).node(index);
        let transactions = self.transactions.borrow();
        let newest = (node.flags, node.data);
        Ok(see_node(
            &transactions.versions,
            tree,
            key,
            newest,
            read_view,
            show,
        ))
    }

    /// Changes one node for a transaction.
    pub(crate) async fn write_node(
        &self,
        transaction: &mut OpenTransaction,
        tree: u32,
        key: &[u8],
        change: NodeChange<'_>,
    ) -> Result<WriteOutcome, EngineError> {
        self.room_for_versions(transaction)?;
        self.write(|step| self.write_step(step, transaction, tree, key, change))
            .await
    }

    fn room_for_versions(&self, transaction: &OpenTransaction) -> Result<(), EngineError> {
        let limit_bytes = self.settings.engine.version_store.bytes();
        let mut transactions = self.transactions.borrow_mut();
        if transactions.bytes() < limit_bytes {
            return Ok(());
        }
        transactions.purge();
        if transactions.bytes() < limit_bytes {
            return Ok(());
        }
        Err(EngineError::VersionStoreFull {
            limit_bytes,
            own_bytes: transaction.bytes(),
        })
    }

    fn write_step(
        &self,
        mut step: Step<'_>,
        transaction: &mut OpenTransaction,
        tree: u32,
        key: &[u8],
        change: NodeChange<'_>,
    ) -> Result<WriteOutcome, Need> {
        let writer = transaction.writer.id;
        let may_change = {
            let transactions = self.transactions.borrow();
            transactions
                .versions
                .may_change(tree, key, transaction.snapshot, writer)
        };
        if !may_change {
            return Err(EngineError::WriteConflict.into());
        }
        let present = newest_state(&step, tree, key)?;
        let (new, deletes) = match (change, &present) {
            (NodeChange::Insert(_), Some(Present { deleted: false, .. })) => {
                return Ok(WriteOutcome::Exists);
            }
            (NodeChange::Insert(data), _) => (data, false),
            (_, None | Some(Present { deleted: true, .. })) => return Ok(WriteOutcome::Absent),
            (NodeChange::Replace(data), _) => (data, false),
            (NodeChange::Delete, Some(present)) => (&*present.data, true),
        };
        let flags = if deletes {
            NodeFlags::DELETED
        } else {
            NodeFlags::NONE
        };
        let (before, undo) = match &present {
            None => {
                crate::nodes::insert_node(&mut step, tree, key, flags, new)?;
                (None, UndoState::Nothing)
            }
            Some(Present { deleted, data }) => {
                crate::nodes::change_node(&mut step, tree, key, flags, new)?;
                let image = if *deleted {
                    None
                } else {
                    Some(Rc::clone(data))
                };
                let change = DataChange::between(new, data);
                (
                    image,
                    UndoState::Node {
                        deleted: *deleted,
                        change,
                    },
                )
            }
        };
        // Also if the data are the same again: writing a record means to own it until the commit.
        self.log_begin(transaction);
        let undo = NodeUndo {
            tree,
            key,
            before: undo,
        };
        self.commit_step(step, |operations| {
            encode_update(writer, deletes, &undo, operations)
        });
        self.note_update(transaction, &undo, deletes, before);
        Ok(WriteOutcome::Done)
    }

    /// Logs the beginning of a transaction before its first change.
    fn log_begin(&self, transaction: &mut OpenTransaction) {
        if transaction.begin.is_none() {
            let begin = self.log.append(&encode_begin(transaction.writer.id)).begin;
            transaction.begin = Some(begin);
            self.transactions.borrow_mut().hold(begin);
        }
    }

    fn note_update(
        &self,
        transaction: &mut OpenTransaction,
        undo: &NodeUndo<'_>,
        deletes: bool,
        before: BeforeImage,
    ) {
        let key: Rc<[u8]> = Rc::from(undo.key);
        let mut transactions = self.transactions.borrow_mut();
        let versions = &mut transactions.versions;
        let is_first = versions.note(undo.tree, &key, before, &transaction.writer);
        let before = match undo.before {
            UndoState::Nothing => FormerState::Nothing,
            UndoState::Node { deleted, change } => FormerState::of_change(deleted, change),
        };
        let update = Update {
            tree: undo.tree,
            key,
            deletes,
            is_first,
            before,
        };
        transactions.push_update(transaction, update);
    }
}

fn newest_state(step: &Step<'_>, tree: u32, key: &[u8]) -> Result<Option<Present>, Need> {
    let found = tree::find(step, tree, key)?;
    Ok(found.map(|Found { leaf, index }| {
        let node = PageView::new(&leaf.page).node(index);
        let deleted = node.flags.contains(NodeFlags::DELETED);
        Present {
            deleted,
            data: Rc::from(node.data),
        }
    }))
}

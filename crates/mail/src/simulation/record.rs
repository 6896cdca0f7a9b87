//! How long the engine's log records are, piece by piece.
//!
//! The engine encodes a record as its kind, what is needed to take the change back, and one
//! operation per changed page; the lengths here are those of its encoding.

/// A record that begins, commits or ends the rollback of a transaction.
pub(crate) const MARK: usize = 9;

/// Page number and former database time before each operation.
const PAGE: usize = 12;

/// First database time and number of operations before the operations of a record.
const OPERATIONS: usize = 12;

/// What an update has to say to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undo {
    /// There was no node.
    Nothing,
    /// There was a node, of which so many bytes are different now.
    Node { changed: usize },
}

/// An update by a transaction, of a node with a key of this length.
pub(crate) fn update(key: usize, undo: Undo, operations: usize) -> usize {
    let undo = match undo {
        Undo::Nothing => 1,
        Undo::Node { changed } => 1 + data_change(changed),
    };
    1 + 8 + 1 + 4 + string(key) + undo + OPERATIONS + operations
}

/// An update taken back.
pub(crate) fn taken_back(operations: usize) -> usize {
    1 + 8 + 4 + OPERATIONS + operations
}

/// A change on nobody's behalf.
pub(crate) fn system(operations: usize) -> usize {
    1 + OPERATIONS + operations
}

fn string(bytes: usize) -> usize {
    2 + bytes
}

fn data_change(bytes: usize) -> usize {
    4 + string(bytes)
}

/// Bytes of an operation that adds a node.
pub(crate) fn insert(key: usize, data: usize) -> usize {
    PAGE + 1 + 2 + 1 + string(key) + string(data)
}

/// So many bytes of a node's data become others.
pub(crate) fn replace(changed: usize) -> usize {
    PAGE + 1 + 2 + data_change(changed)
}

/// Bytes of an operation that removes nodes.
pub(crate) const REMOVE: usize = PAGE + 1 + 2 + 2;

/// A node gets other flags.
pub(crate) const FLAG: usize = PAGE + 1 + 2 + 1;

/// A leaf gets another neighbour.
pub(crate) const NEIGHBOUR: usize = PAGE + 1 + 4;

/// A page gets new contents: so many nodes with so many bytes of keys and data in all.
pub(crate) fn format(nodes: usize, bytes: usize) -> usize {
    PAGE + 1 + 16 + string(8) + 4 + nodes * 7 + bytes
}

/// A child more under an internal page: the old bound gets the new child, the new bound the old.
pub(crate) fn add_child(separator: usize) -> usize {
    replace(2) + insert(separator, 4)
}

/// Bytes of the operations that take a child from an internal page.
pub(crate) const DROP_CHILD: usize = PAGE + 1 + 2 + 6 + 2 + REMOVE;

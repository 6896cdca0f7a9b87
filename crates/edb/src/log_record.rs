//! Log records.
//!
//! Every record is one of [`LogRecord`]. A record with page operations is atomic in redo. The undo
//! information of an update is logical: the tree, the key, and how to get the record's former state
//! back. It travels in the same record as the change, so a page with uncommitted changes may be
//! written to the database at any time: its log record is on disk before, and that is all a restart
//! needs to take the change back.
//!
//! Taking back is logged, too, as [`LogRecord::Undo`]: the page operations together with the number
//! of updates of the transaction that are left to undo. A restart after a cut in the middle of a
//! rollback, or of an earlier restart, redoes the undo records as well, drops as many updates from
//! the end of the transaction's list, and goes on with the rest. No update is undone twice.

use crate::tree::bytes::{PutBytes, TakeBytes};
use crate::tree::{DataChange, LoggedOperations, StepOperations};

/// How to take back one change of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeUndo<'a> {
    /// Root of the tree.
    pub(crate) tree: u32,
    pub(crate) key: &'a [u8],
    pub(crate) before: UndoState<'a>,
}

/// The former state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UndoState<'a> {
    /// There was no node.
    Nothing,
    /// There was a node.
    Node {
        /// Whether it carried the deleted flag.
        deleted: bool,
        /// Makes the former data out of the present ones.
        change: DataChange<'a>,
    },
}

/// What a log record holds.
pub(crate) enum LogRecord<'a> {
    /// A transaction makes its first change.
    Begin {
        /// Number of the transaction.
        transaction: u64,
    },
    /// A transaction changes a node.
    Update {
        /// Number of the transaction.
        transaction: u64,
        /// Whether the node is deleted now.
        deletes: bool,
        /// How to take it back.
        undo: NodeUndo<'a>,
        /// What happens to pages.
        operations: LoggedOperations<'a>,
    },
    /// A change is taken back.
    Undo {
        /// Number of the transaction.
        transaction: u64,
        /// Updates of it that remain.
        remaining: u32,
        /// What happens to pages.
        operations: LoggedOperations<'a>,
    },
    /// A transaction is committed.
    Commit {
        /// Number of the transaction.
        transaction: u64,
    },
    /// A transaction is completely rolled back.
    RolledBack {
        /// Number of the transaction.
        transaction: u64,
    },
    /// Pages change on nobody's behalf: cleanup, growth, definitions of tables.
    System {
        /// What happens to pages.
        operations: LoggedOperations<'a>,
    },
    /// The whole of a page, logged before the page is overwritten in the file.
    Image {
        /// Number of the page.
        page: u32,
        /// The page with its checksum, as it is about to be written.
        bytes: &'a [u8],
    },
}

const BEGIN: u8 = 1;
const UPDATE: u8 = 2;
const UNDO: u8 = 3;
const COMMIT: u8 = 4;
const ROLLED_BACK: u8 = 5;
const SYSTEM: u8 = 6;
const IMAGE: u8 = 7;

/// A record without page operations.
pub(crate) fn encode_begin(transaction: u64) -> Vec<u8> {
    encode_mark(BEGIN, transaction)
}

/// The record that commits.
pub(crate) fn encode_commit(transaction: u64) -> Vec<u8> {
    encode_mark(COMMIT, transaction)
}

/// The record that ends a rollback.
pub(crate) fn encode_rolled_back(transaction: u64) -> Vec<u8> {
    encode_mark(ROLLED_BACK, transaction)
}

fn encode_mark(kind: u8, transaction: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(9);
    out.put_u8(kind);
    out.put_u64(transaction);
    out
}

/// The record of an update.
pub(crate) fn encode_update(
    transaction: u64,
    deletes: bool,
    undo: &NodeUndo<'_>,
    operations: &StepOperations,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + undo.key.len() + operations.encoded_bytes());
    out.put_u8(UPDATE);
    out.put_u64(transaction);
    out.put_u8(u8::from(deletes));
    out.put_u32(undo.tree);
    out.put_string(undo.key);
    match undo.before {
        UndoState::Nothing => out.put_u8(0),
        UndoState::Node { deleted, change } => {
            out.put_u8(1 + u8::from(deleted));
            change.encode(&mut out);
        }
    }
    operations.encode(&mut out);
    out
}

/// The record of an update taken back.
pub(crate) fn encode_undo(
    transaction: u64,
    remaining: u32,
    operations: &StepOperations,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(32 + operations.encoded_bytes());
    out.put_u8(UNDO);
    out.put_u64(transaction);
    out.put_u32(remaining);
    operations.encode(&mut out);
    out
}

/// The record of a change on nobody's behalf.
pub(crate) fn encode_system(operations: &StepOperations) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + operations.encoded_bytes());
    out.put_u8(SYSTEM);
    operations.encode(&mut out);
    out
}

/// The record of a page image.
pub(crate) fn encode_image(page: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(5 + bytes.len());
    out.put_u8(IMAGE);
    out.put_u32(page);
    out.extend_from_slice(bytes);
    out
}

impl<'a> LogRecord<'a> {
    /// Reads a record; `None` if the bytes make no sense.
    pub(crate) fn decode(record: &'a [u8]) -> Option<Self> {
        let mut from = TakeBytes(record);
        Some(match from.u8()? {
            BEGIN => Self::Begin {
                transaction: from.u64()?,
            },
            COMMIT => Self::Commit {
                transaction: from.u64()?,
            },
            ROLLED_BACK => Self::RolledBack {
                transaction: from.u64()?,
            },
            UPDATE => Self::Update {
                transaction: from.u64()?,
                deletes: from.u8()? != 0,
                undo: decode_node_undo(&mut from)?,
                operations: LoggedOperations::decode(from)?,
            },
            UNDO => Self::Undo {
                transaction: from.u64()?,
                remaining: from.u32()?,
                operations: LoggedOperations::decode(from)?,
            },
            SYSTEM => Self::System {
                operations: LoggedOperations::decode(from)?,
            },
            IMAGE => Self::Image {
                page: from.u32()?,
                bytes: from.0,
            },
            _ => return None,
        })
    }
}

fn decode_node_undo<'a>(from: &mut TakeBytes<'a>) -> Option<NodeUndo<'a>> {
    let tree = from.u32()?;
    let key = from.string()?;
    let before = match from.u8()? {
        0 => UndoState::Nothing,
        kind @ (1 | 2) => UndoState::Node {
            deleted: kind == 2,
            change: DataChange::decode(from)?,
        },
        _ => return None,
    };
    Some(NodeUndo { tree, key, before })
}

//! What a log record says about one page.
//!
//! Normal running and redo change pages through the same function, [`PageOperation::apply`]: a step
//! encodes its operations into the log record first and then carries out what it has just written.

use super::bytes::{PutBytes, TakeBytes};
use super::content::PageContent;
use crate::format::page::{NodeFlags, PageChange, PageFlags};

/// One change of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageOperation<'a> {
    /// Gives the page new contents, whatever was there.
    Format(PageContent<'a>),
    /// Inserts a node before node `index`.
    Insert {
        index: usize,
        flags: NodeFlags,
        key: &'a [u8],
        data: &'a [u8],
    },
    /// Takes nodes `first..first + count` out.
    Remove { first: usize, count: usize },
    /// Replaces the middle of a node's data; both ends stay.
    Replace {
        index: usize,
        change: DataChange<'a>,
    },
    /// Sets the flags of a node.
    Flag {
        index: usize,
        /// All its flags, the unchanged ones too.
        flags: NodeFlags,
    },
    /// Sets the left neighbour of a leaf.
    Previous(u32),
    /// Sets the right neighbour of a leaf.
    Next(u32),
    /// Sets the external header of a root.
    External(&'a [u8]),
    /// Sets the key prefix of a page that is not a root, and stores its keys against it.
    Prefix(&'a [u8]),
}

/// The difference between two versions of a node's data: what lies between the bytes that both
/// share at the front and at the back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataChange<'a> {
    /// Bytes kept at the front.
    pub(crate) front: usize,
    /// Bytes kept at the back.
    pub(crate) back: usize,
    /// What stands between them afterwards.
    pub(crate) middle: &'a [u8],
}

impl<'a> DataChange<'a> {
    /// The change that makes `new` out of `old`.
    pub(crate) fn between(old: &[u8], new: &'a [u8]) -> Self {
        let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let tails = old[front..].iter().rev().zip(new[front..].iter().rev());
        let back = tails.take_while(|(a, b)| a == b).count();
        let middle = &new[front..new.len() - back];
        Self {
            front,
            back,
            middle,
        }
    }

    /// `old` with the change made.
    pub(crate) fn applied(&self, old: &[u8]) -> Vec<u8> {
        let kept = self.front + self.back;
        assert!(
            kept <= old.len(),
            "{kept} of {} bytes cannot stay",
            old.len()
        );
        [
            &old[..self.front],
            self.middle,
            &old[old.len() - self.back..],
        ]
        .concat()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(self.front);
        out.put_u16(self.back);
        out.put_string(self.middle);
    }

    pub(crate) fn decode(from: &mut TakeBytes<'a>) -> Option<Self> {
        let (front, back) = (from.u16()?, from.u16()?);
        let middle = from.string()?;
        Some(Self {
            front,
            back,
            middle,
        })
    }
}

const FORMAT: u8 = 1;
const INSERT: u8 = 2;
const REMOVE: u8 = 3;
const REPLACE: u8 = 4;
const FLAG: u8 = 5;
const PREVIOUS: u8 = 6;
const NEXT: u8 = 7;
const EXTERNAL: u8 = 8;
const PREFIX: u8 = 9;

impl<'a> PageOperation<'a> {
    /// Whether the operation needs nothing of what the page held before.
    pub(crate) fn formats(&self) -> bool {
        matches!(self, Self::Format(_))
    }

    /// Carries the operation out on `page`, which becomes as of `dbtime`.
    ///
    /// # Panics
    /// If it does not fit: whoever built the operation has checked that it does.
    pub(crate) fn apply(&self, page: &mut [u8], page_number: u32, dbtime: u64) {
        let mut change = PageChange::new(page);
        let outcome = match *self {
            Self::Format(content) => content.build(&mut change, page_number),
            Self::Insert {
                index,
                flags,
                key,
                data,
            } => change.insert_node(index, key, data, flags),
            Self::Remove { first, count } => {
                change.remove_nodes(first..first + count);
                Ok(())
            }
            Self::Replace {
                index,
                change: data,
            } => {
                let new = data.applied(change.view().node(index).data);
                change.replace_data(index, &new)
            }
            Self::Flag { index, flags } => {
                change.set_node_flags(index, flags);
                Ok(())
            }
            Self::Previous(page) => {
                change.set_previous(page);
                Ok(())
            }
            Self::Next(page) => {
                change.set_next(page);
                Ok(())
            }
            Self::External(external) => change.set_external_header(external),
            Self::Prefix(prefix) => change.set_prefix(prefix),
        };
        outcome.unwrap_or_else(|full| panic!("an operation that was checked did not fit: {full}"));
        change.set_dbtime(dbtime);
    }

    /// Appends the operation to a record.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Format(content) => {
                out.put_u8(FORMAT);
                content.encode(out);
            }
            Self::Insert {
                index,
                flags,
                key,
                data,
            } => {
                out.put_u8(INSERT);
                out.put_u16(index);
                out.put_u8(flags.0);
                out.put_string(key);
                out.put_string(data);
            }
            Self::Remove { first, count } => {
                out.put_u8(REMOVE);
                out.put_u16(first);
                out.put_u16(count);
            }
            Self::Replace { index, change } => {
                out.put_u8(REPLACE);
                out.put_u16(index);
                change.encode(out);
            }
            Self::Flag { index, flags } => {
                out.put_u8(FLAG);
                out.put_u16(index);
                out.put_u8(flags.0);
            }
            Self::Previous(page) => {
                out.put_u8(PREVIOUS);
                out.put_u32(page);
            }
            Self::Next(page) => {
                out.put_u8(NEXT);
                out.put_u32(page);
            }
            Self::External(external) => {
                out.put_u8(EXTERNAL);
                out.put_string(external);
            }
            Self::Prefix(prefix) => {
                out.put_u8(PREFIX);
                out.put_string(prefix);
            }
        }
    }

    /// Takes one operation off the front of a record; `None` if the bytes make no sense.
    pub(crate) fn decode(from: &mut TakeBytes<'a>) -> Option<Self> {
        Some(match from.u8()? {
            FORMAT => Self::Format(PageContent::decode(from)?),
            INSERT => Self::Insert {
                index: from.u16()?,
                flags: NodeFlags(from.u8()?),
                key: from.string()?,
                data: from.string()?,
            },
            REMOVE => Self::Remove {
                first: from.u16()?,
                count: from.u16()?,
            },
            REPLACE => Self::Replace {
                index: from.u16()?,
                change: DataChange::decode(from)?,
            },
            FLAG => Self::Flag {
                index: from.u16()?,
                flags: NodeFlags(from.u8()?),
            },
            PREVIOUS => Self::Previous(from.u32()?),
            NEXT => Self::Next(from.u32()?),
            EXTERNAL => Self::External(from.string()?),
            PREFIX => Self::Prefix(from.string()?),
            _ => return None,
        })
    }
}

/// The flags of a page that belong to its tree, not to its place in the tree.
pub(crate) fn tree_flags(flags: PageFlags) -> PageFlags {
    let place = PageFlags::ROOT | PageFlags::LEAF | PageFlags::PARENT_OF_LEAF | PageFlags::EMPTY;
    flags.without(place)
}

/// Whether keys of such a page share a prefix. Internal pages hold short separators; one reader
/// damages prefixes in long value trees; space trees have keys of four bytes.
pub(crate) fn compresses(flags: PageFlags) -> bool {
    let plain = flags
        .without(PageFlags::SPACE)
        .without(PageFlags::LONG_VALUE)
        == flags;
    plain && flags.contains(PageFlags::LEAF)
}

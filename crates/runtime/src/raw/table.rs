//! The table of files: read when the device is opened, changed by one block at a time.

use super::entry::Entry;
use super::error::RawError;
use super::inode::Inode;
use super::label::{FormatOptions, Label};
use super::space::Space;
use crate::buffer::{BLOCK_BYTES, Buffer};
use crate::file::{File, IoError, IoFailure, Persistence};
use crate::sync::Semaphore;
use std::cell::{Cell, RefCell};
use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Slots read in one request when the table is loaded: 1 MiB.
const SLOTS_PER_READ: u32 = 256;

/// The file table of an open device.
pub(super) struct Table<F> {
    pub(super) device: F,
    pub(super) label: Label,
    pub(super) names: RefCell<BTreeMap<String, Rc<Inode>>>,
    pub(super) space: Rc<RefCell<Space>>,
    /// Held by whoever changes the table: one change at a time.
    pub(super) change: Rc<Semaphore>,
    /// For each pair, which of its slots holds the current line.
    current: RefCell<Vec<u8>>,
    free_pairs: RefCell<BTreeSet<u32>>,
    sequence: Cell<u64>,
}

impl<F: File> Table<F> {
    /// Writes a new label. Whatever the device held is lost.
    pub(super) async fn format(device: &F, options: &FormatOptions) -> Result<(), RawError> {
        let label = Label::new(options, device.size_bytes().await?)?;
        let block = Rc::new(label.encode());
        device.write(0, block, Persistence::Durable).await?;
        Ok(())
    }

    /// Reads a device's table, and finishes the renamings that a crash has interrupted.
    pub(super) async fn load(device: F) -> Result<Self, RawError> {
        let device_bytes = device.size_bytes().await?;
        if device_bytes < BLOCK_BYTES as u64 {
            return Err(RawError::NoLabel);
        }
        let (block, result) = device.read(0, Buffer::zeroed(BLOCK_BYTES)).await;
        result?;
        let label = Label::decode(&block, device_bytes)?;
        let space = Rc::new(RefCell::new(Space::new(label.units())));
        let table = Self {
            device,
            names: RefCell::default(),
            change: Semaphore::new(1),
            // A free pair is written from its first slot on.
            current: RefCell::new(vec![1; label.files_max as usize]),
            free_pairs: RefCell::new((0..label.files_max).collect()),
            sequence: Cell::new(0),
            space,
            label,
        };
        let replaced = table.load_entries().await?;
        for pair in replaced {
            table.free_pair(pair).await?;
        }
        Ok(table)
    }

    /// Takes in all lines. Returns the pairs of files whose name a later file has taken.
    async fn load_entries(&self) -> Result<Vec<u32>, RawError> {
        let mut named: BTreeMap<String, (u32, Entry)> = BTreeMap::new();
        let mut replaced = Vec::new();
        let slots = self.label.slots();
        for first in (0..slots).step_by(SLOTS_PER_READ as usize) {
            let count = SLOTS_PER_READ.min(slots - first);
            let buffer = Buffer::zeroed(count as usize * BLOCK_BYTES);
            let offset_bytes = Label::slot_offset_bytes(first);
            let (buffer, result) = self.device.read(offset_bytes, buffer).await;
            result?;
            for (index, blocks) in (0..).zip(buffer.chunks(2 * BLOCK_BYTES)) {
                let pair = first / 2 + index;
                let Some(entry) = self.load_pair(pair, blocks)? else {
                    continue;
                };
                self.free_pairs.borrow_mut().remove(&pair);
                match named.entry(entry.name.clone()) {
                    btree_map::Entry::Vacant(vacant) => {
                        vacant.insert((pair, entry));
                    }
                    btree_map::Entry::Occupied(mut other) => {
                        let is_later = entry.named_sequence > other.get().1.named_sequence;
                        replaced.push(if is_later {
                            other.insert((pair, entry)).0
                        } else {
                            pair
                        });
                    }
                }
            }
        }
        for (name, (pair, entry)) in named {
            self.take_space(&entry)?;
            let inode = Inode::new(pair, entry, Rc::clone(&self.space));
            self.names.borrow_mut().insert(name, inode);
        }
        Ok(replaced)
    }

    /// The current line of a pair, `None` if the pair is free.
    fn load_pair(&self, pair: u32, blocks: &[u8]) -> Result<Option<Entry>, RawError> {
        let (first, second) = blocks.split_at(BLOCK_BYTES);
        let line = |slot: u32, block| Entry::decode(block, &self.label, pair * 2 + slot);
        let (entry, current) = match (line(0, first), line(1, second)) {
            (None, None) => {
                // A crash tears one line at most.
                if Entry::is_trace(first, &self.label) && Entry::is_trace(second, &self.label) {
                    let text = format!("both lines of file {pair} are broken");
                    return Err(RawError::Damaged(text));
                }
                return Ok(None);
            }
            (Some(first), Some(second)) if second.sequence > first.sequence => (second, 1),
            (Some(first), _) => (first, 0),
            (None, Some(second)) => (second, 1),
        };
        self.current.borrow_mut()[pair as usize] = current;
        self.sequence.set(self.sequence.get().max(entry.sequence));
        Ok((!entry.is_free()).then_some(entry))
    }

    fn take_space(&self, entry: &Entry) -> Result<(), RawError> {
        let mut space = self.space.borrow_mut();
        for extent in &entry.extents {
            if !space.reserve(*extent) {
                let text = format!("{} is where another file is, or nowhere", entry.name);
                return Err(RawError::Damaged(text));
            }
        }
        let units: u64 = entry.extents.iter().map(|extent| extent.units).sum();
        if entry.size_bytes > units * self.label.allocation_bytes
            || entry.initialised_bytes > entry.size_bytes
        {
            let text = format!("{} is larger than its space", entry.name);
            return Err(RawError::Damaged(text));
        }
        Ok(())
    }

    pub(super) fn next_sequence(&self) -> u64 {
        self.sequence.set(self.sequence.get() + 1);
        self.sequence.get()
    }

    /// Makes `entry` the current line of a pair, durably. The caller holds `change`.
    pub(super) async fn write_line(&self, pair: u32, entry: &Entry) -> Result<(), IoError> {
        let other = 1 - self.current.borrow()[pair as usize];
        let slot = pair * 2 + u32::from(other);
        let block = Rc::new(entry.encode(&self.label, slot));
        let offset_bytes = Label::slot_offset_bytes(slot);
        self.device
            .write(offset_bytes, block, Persistence::Durable)
            .await?;
        self.current.borrow_mut()[pair as usize] = other;
        Ok(())
    }

    /// Changes a file's line on the device and in memory. A file without a name has only the latter.
    /// The caller holds `change`.
    pub(super) async fn record(&self, inode: &Inode, mut entry: Entry) -> Result<(), IoError> {
        entry.sequence = self.next_sequence();
        if let Some(pair) = inode.pair.get() {
            self.write_line(pair, &entry).await?;
        }
        *inode.entry.borrow_mut() = entry;
        Ok(())
    }

    /// Adds an empty file. The caller holds `change`.
    pub(super) async fn add(&self, name: &str) -> Result<Rc<Inode>, IoFailure> {
        let pair = self.free_pairs.borrow().first().copied();
        let pair = pair.ok_or(IoFailure::OutOfSpace)?;
        let sequence = self.next_sequence();
        let entry = Entry {
            sequence,
            named_sequence: sequence,
            name: name.to_owned(),
            ..Entry::default()
        };
        let result = self.write_line(pair, &entry).await;
        result.map_err(|error| error.failure)?;
        self.free_pairs.borrow_mut().remove(&pair);
        let inode = Inode::new(pair, entry, Rc::clone(&self.space));
        let mut names = self.names.borrow_mut();
        names.insert(name.to_owned(), Rc::clone(&inode));
        Ok(inode)
    }

    /// Takes a file's name away for good. The caller holds `change`.
    pub(super) async fn unlink(&self, inode: &Inode) -> Result<(), IoError> {
        let Some(pair) = inode.pair.get() else {
            return Ok(());
        };
        self.free_pair(pair).await?;
        inode.pair.set(None);
        Ok(())
    }

    async fn free_pair(&self, pair: u32) -> Result<(), IoError> {
        let line = Entry::free(self.next_sequence());
        self.write_line(pair, &line).await?;
        self.free_pairs.borrow_mut().insert(pair);
        Ok(())
    }
}

//! What a simulated disk holds: what reads see, what is durable, and what lies between.
//!
//! Like a journaling file system over a disk with a write cache, it keeps two kinds of changes that
//! a power cut may lose: writes, each on its own, and a single ordered list of changes to names and
//! sizes, of which a power cut keeps a prefix. All functions here are steps without time; when they
//! happen is decided in [`super::disk`].

use super::content::{Block, Content, block_number};
use super::wrong_blocks::RECENT_WRITES;
use crate::buffer::BLOCK_BYTES;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::{Rc, Weak};

/// A file, whatever it is called at the moment.
pub(super) type FileId = u64;

/// A change to names or sizes.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Create { name: String, file: FileId },
    Rename { from: String, to: String },
    Remove { name: String },
    Resize { file: FileId, size_bytes: u64 },
}

/// A change that is visible and not yet durable.
pub(super) struct JournalEntry {
    pub(super) sequence: u64,
    pub(super) change: Change,
}

/// A write that has completed and is not yet durable.
pub(super) struct PendingWrite {
    pub(super) sequence: u64,
    pub(super) first_block: u64,
    /// `None` where a durable write or a cut of the file has superseded the block.
    pub(super) blocks: Vec<Option<Block>>,
}

/// A write on its way to the disk.
pub(super) struct InFlightWrite {
    pub(super) file: FileId,
    pub(super) first_block: u64,
    pub(super) blocks: Vec<Block>,
    pub(super) durable: bool,
    /// When the disk will be done with it.
    pub(super) due_ns: u64,
    /// Whether the caller still waits for it.
    pub(super) awaited: bool,
}

/// A write that has completed not long ago.
pub(super) struct RecentWrite {
    pub(super) at_ns: u64,
    pub(super) file: FileId,
    pub(super) first_block: u64,
    pub(super) blocks: u64,
}

/// Held by everybody who has a file open.
pub(super) type OpenMark = Rc<()>;

#[derive(Default)]
pub(super) struct FileState {
    pub(super) visible: Content,
    pub(super) durable: Content,
    /// As the file was when the disk was powered on.
    pub(super) former: Content,
    pub(super) pending: Vec<PendingWrite>,
    /// What should be in blocks where something else is, since a fault was injected.
    pub(super) owed: BTreeMap<u64, Block>,
    /// Every block that was among them at some time.
    pub(super) once_wrong: BTreeSet<u64>,
    open: Weak<()>,
}

/// The files of a disk at one instant, nothing pending.
#[derive(Clone, Default)]
pub(super) struct Image {
    pub(super) names: BTreeMap<String, FileId>,
    pub(super) contents: BTreeMap<FileId, Content>,
}

/// Applies a change to a set of names.
pub(super) fn rename_in(names: &mut BTreeMap<String, FileId>, change: &Change) {
    match change {
        Change::Create { name, file } => {
            names.insert(name.clone(), *file);
        }
        Change::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Change::Remove { name } => {
            names.remove(name);
        }
        Change::Resize { .. } => {}
    }
}

/// Files and names of the disk, as they are and as a power cut would leave them.
#[derive(Default)]
pub(super) struct State {
    pub(super) names: BTreeMap<String, FileId>,
    pub(super) durable_names: BTreeMap<String, FileId>,
    pub(super) files: BTreeMap<FileId, FileState>,
    pub(super) journal: VecDeque<JournalEntry>,
    pub(super) in_flight: BTreeMap<u64, InFlightWrite>,
    /// The latest completed writes, oldest first.
    pub(super) recent_writes: VecDeque<RecentWrite>,
    /// Grows with every completed write and every change; orders them all.
    sequence: u64,
    next_file: FileId,
    next_request: u64,
}

impl State {
    /// A disk that holds exactly `image`, all of it durable.
    pub(super) fn from_image(image: Image) -> Self {
        let next_file = image.contents.keys().last().map_or(0, |last| last + 1);
        let file_state = |content: Content| FileState {
            visible: content.clone(),
            former: content.clone(),
            durable: content,
            ..FileState::default()
        };
        Self {
            durable_names: image.names.clone(),
            names: image.names,
            files: image
                .contents
                .into_iter()
                .map(|(file, content)| (file, file_state(content)))
                .collect(),
            next_file,
            ..Self::default()
        }
    }

    /// What reads see now, as a process that is killed leaves it behind.
    pub(super) fn visible_image(&self) -> Image {
        let content = |file: &FileId| (*file, self.files[file].visible.clone());
        Image {
            names: self.names.clone(),
            contents: self.names.values().map(content).collect(),
        }
    }

    /// The latest sequence number given out.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Bytes taken up by all files that have a name.
    pub(super) fn used_bytes(&self) -> u64 {
        let size = |file: &FileId| self.files[file].visible.size_bytes();
        self.names.values().map(size).sum()
    }

    /// A file's state. Files that are open or named are never forgotten.
    pub(super) fn file(&mut self, file: FileId) -> &mut FileState {
        self.files.entry(file).or_default()
    }

    /// Keeps a file alive while the mark is held.
    pub(super) fn open(&mut self, file: FileId) -> OpenMark {
        let state = self.file(file);
        state.open.upgrade().unwrap_or_else(|| {
            let mark = Rc::new(());
            state.open = Rc::downgrade(&mark);
            mark
        })
    }

    /// Makes an empty file called `name`.
    pub(super) fn create(&mut self, name: &str) -> FileId {
        let file = self.next_file;
        self.next_file += 1;
        self.files.insert(file, FileState::default());
        self.change(Change::Create {
            name: name.to_owned(),
            file,
        });
        file
    }

    /// Makes a change visible; it is durable only after a flush.
    pub(super) fn change(&mut self, change: Change) {
        rename_in(&mut self.names, &change);
        if let Change::Resize { file, size_bytes } = &change {
            self.file(*file).visible.resize(*size_bytes);
        }
        let sequence = self.next_sequence();
        self.journal.push_back(JournalEntry { sequence, change });
    }

    /// Hands a write to the disk; returns the number to complete it by.
    pub(super) fn begin_write(&mut self, write: InFlightWrite) -> u64 {
        let request = self.next_request;
        self.next_request += 1;
        self.in_flight.insert(request, write);
        request
    }

    /// The disk is done with a write: it is visible now, and durable if that was asked for.
    pub(super) fn complete_write(&mut self, request: u64) {
        let Some(write) = self.in_flight.remove(&request) else {
            return;
        };
        let end_bytes = (write.first_block + write.blocks.len() as u64) * BLOCK_BYTES as u64;
        if end_bytes > self.file(write.file).visible.size_bytes() {
            self.change(Change::Resize {
                file: write.file,
                size_bytes: end_bytes,
            });
        }
        if write.durable {
            self.commit_size(write.file, u64::MAX);
        }
        let sequence = self.next_sequence();
        self.remember(&write);
        let state = self.file(write.file);
        if !state.owed.is_empty() {
            let end = write.first_block + write.blocks.len() as u64;
            let is_elsewhere = |number: &u64| !(write.first_block..end).contains(number);
            state.owed.retain(|number, _| is_elsewhere(number));
        }
        for (number, block) in (write.first_block..).zip(&write.blocks) {
            state.visible.put(number, Rc::clone(block));
        }
        if write.durable {
            state.supersede(write.first_block, write.blocks.len() as u64, u64::MAX);
            for (number, block) in (write.first_block..).zip(write.blocks) {
                state.durable.put(number, block);
            }
        } else {
            state.pending.push(PendingWrite {
                sequence,
                first_block: write.first_block,
                blocks: write.blocks.into_iter().map(Some).collect(),
            });
        }
    }

    fn remember(&mut self, write: &InFlightWrite) {
        if self.recent_writes.len() == RECENT_WRITES {
            self.recent_writes.pop_front();
        }
        self.recent_writes.push_back(RecentWrite {
            at_ns: write.due_ns,
            file: write.file,
            first_block: write.first_block,
            blocks: write.blocks.len() as u64,
        });
    }

    /// Completes the writes whose callers no longer wait and whose time has come.
    pub(super) fn complete_abandoned(&mut self, now_ns: u64) {
        let due: Vec<u64> = self
            .in_flight
            .iter()
            .filter(|(_, write)| !write.awaited && write.due_ns <= now_ns)
            .map(|(request, _)| *request)
            .collect();
        for request in due {
            self.complete_write(request);
        }
    }

    /// Makes a file's writes and sizes up to `limit` durable.
    pub(super) fn sync_file(&mut self, file: FileId, limit: u64) {
        self.commit_size(file, limit);
        let state = self.file(file);
        let count = state
            .pending
            .partition_point(|write| write.sequence <= limit);
        for write in state.pending.drain(..count) {
            for (number, block) in (write.first_block..).zip(write.blocks) {
                if let Some(block) = block {
                    state.durable.put(number, block);
                }
            }
        }
    }

    /// Loses the writes that a failed flush should have made durable. Reads still see them until
    /// power is lost, as with a page cache that marks pages clean whose write-back failed.
    pub(super) fn fail_sync(&mut self, file: FileId, limit: u64) {
        self.file(file)
            .pending
            .retain(|write| write.sequence > limit);
    }

    /// Makes all changes of names and sizes up to `limit` durable.
    pub(super) fn sync_names(&mut self, limit: u64) {
        let count = self
            .journal
            .partition_point(|entry| entry.sequence <= limit);
        self.commit_first(count);
    }

    /// Makes the changes of a file's size up to `limit` durable, and with them everything before
    /// them in the journal.
    fn commit_size(&mut self, file: FileId, limit: u64) {
        let resizes = |entry: &JournalEntry| {
            entry.sequence <= limit
                && matches!(entry.change, Change::Resize { file: resized, .. } if resized == file)
        };
        let last = self.journal.iter().rposition(resizes);
        self.commit_first(last.map_or(0, |last| last + 1));
    }

    fn commit_first(&mut self, count: usize) {
        let mut unlinks = false;
        for entry in self.journal.drain(..count) {
            rename_in(&mut self.durable_names, &entry.change);
            match entry.change {
                Change::Resize { file, size_bytes } => {
                    if let Some(state) = self.files.get_mut(&file) {
                        state.durable.resize(size_bytes);
                        state.supersede(block_number(size_bytes), u64::MAX, entry.sequence);
                    }
                }
                Change::Rename { .. } | Change::Remove { .. } => unlinks = true,
                Change::Create { .. } => {}
            }
        }
        if unlinks {
            self.forget_unreachable();
        }
    }

    /// Frees the files that nobody can reach any more, now or after a power cut.
    fn forget_unreachable(&mut self) {
        let mut reachable: BTreeSet<FileId> = self.names.values().copied().collect();
        reachable.extend(self.durable_names.values());
        reachable.extend(self.journal.iter().filter_map(|entry| match entry.change {
            Change::Create { file, .. } => Some(file),
            _ => None,
        }));
        reachable.extend(self.in_flight.values().map(|write| write.file));
        self.files
            .retain(|file, state| reachable.contains(file) || state.open.strong_count() > 0);
    }
}

impl FileState {
    /// Drops `count` blocks from `first` on out of the pending writes up to `limit`.
    fn supersede(&mut self, first: u64, count: u64, limit: u64) {
        let end = first.saturating_add(count);
        for write in &mut self.pending {
            if write.sequence > limit {
                break;
            }
            for (number, block) in (write.first_block..).zip(&mut write.blocks) {
                if (first..end).contains(&number) {
                    *block = None;
                }
            }
        }
        self.pending
            .retain(|write| write.blocks.iter().any(Option::is_some));
    }
}

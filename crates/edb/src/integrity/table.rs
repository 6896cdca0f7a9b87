//! The table of page versions: what the storage must return for each page.
//!
//! A write is under way for a while, and so is a read; the storage may carry them out in any order.
//! So a read may return every version that was valid at any moment between its begin and its end:
//!
//! - the version of the last write that had completed when the read began;
//! - those of all writes that were under way then, or have begun since;
//! - those of writes that failed: nobody knows whether they reached the disk.
//!
//! When a write completes while reads are under way, the version that it replaces is kept until the
//! last of them has ended.

use super::finding::LastWrite;
use super::version::{DbtimeRange, Version};
use runtime::Handle;
use runtime::time::MILLISECOND_NS;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Writes whose database time and time of day are remembered in full, so that a finding can say
/// them: one for each remainder of the page number.
const RECENT_WRITES: usize = 1 << 14;

/// What a read returned, as far as the table cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// The page that was asked for, with the right checksum and of this database time.
    Whole {
        /// The database time in the page.
        dbtime: u64,
    },
    /// All bytes are zero, as in a page that was never written.
    Zero,
    /// Neither the page nor zeros.
    Damaged,
}

/// What the table says of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadCheck {
    /// It is what the storage must return.
    Right,
    /// The page is empty, and nobody has ever written it.
    NeverWritten,
    /// The bytes are damaged or zeros, but a write was under way meanwhile: read again after it.
    Disturbed,
    /// It is not what the storage must return.
    Wrong,
}

/// How much of what was written has been read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Pages written since the database was opened, each counted once.
    pub written_pages: u64,
    /// Of those, the ones that were not read back after their last write.
    pub never_read_back_pages: u64,
}

/// A version that was valid until a write completed.
struct Replaced {
    page: u32,
    version: Version,
    /// The number of the completion that replaced it.
    completion: u64,
}

/// Reads that began after the same completion.
struct Reads {
    after: u64,
    count: usize,
}

struct State {
    /// By page number less one.
    versions: Vec<u16>,
    /// One bit for each page written since the database was opened.
    written: Vec<u64>,
    /// One bit for each page that was not read back since it was written.
    not_read_back: Vec<u64>,
    range: DbtimeRange,
    /// Whether the file is that of an open database, so that empty pages are of interest, too.
    is_database: bool,
    /// The highest database time that can be on the disk.
    newest: u64,
    in_flight: FxHashMap<u32, u64>,
    /// Database times of writes that failed, until a later write completes.
    failed: FxHashMap<u32, Vec<u64>>,
    completions: u64,
    reads: VecDeque<Reads>,
    replaced: VecDeque<Replaced>,
    recent: Vec<Recent>,
}

#[derive(Clone, Copy, Default)]
struct Recent {
    page: u32,
    write: LastWrite,
}

/// The versions of all pages of one database file.
pub struct VersionTable {
    handle: Handle,
    state: RefCell<State>,
    /// The time of day when the runtime's clock was zero, in milliseconds since 1970.
    origin_unix_ms: std::cell::Cell<u64>,
}

/// A read under way: as long as it lives, versions that were valid when it began stay known.
pub struct ReadInProgress {
    table: Rc<VersionTable>,
    after: u64,
}

/// A write under way. Unless it is said to have completed, it counts as failed when it is dropped.
pub struct WriteInProgress {
    table: Rc<VersionTable>,
    first: u32,
    count: u32,
}

impl VersionTable {
    /// A table in which nothing is known yet. Every database time counts as one of this database
    /// until [`VersionTable::set_range`].
    #[must_use]
    pub fn new(handle: &Handle) -> Rc<Self> {
        Rc::new(Self {
            handle: handle.clone(),
            origin_unix_ms: std::cell::Cell::new(0),
            state: RefCell::new(State {
                versions: Vec::new(),
                written: Vec::new(),
                not_read_back: Vec::new(),
                range: DbtimeRange::ANY,
                is_database: false,
                newest: u64::MAX,
                in_flight: FxHashMap::default(),
                failed: FxHashMap::default(),
                completions: 0,
                reads: VecDeque::new(),
                replaced: VecDeque::new(),
                recent: Vec::new(),
            }),
        })
    }

    /// Says which database times this database hands out, and the highest that can be on the disk.
    pub fn set_range(&self, range: DbtimeRange, newest: u64) {
        let mut state = self.state.borrow_mut();
        state.range = range;
        state.newest = newest;
        state.is_database = true;
    }

    /// Says what the time of day was when the runtime's clock was zero.
    pub fn set_clock_origin(&self, unix_ms: u64) {
        self.origin_unix_ms.set(unix_ms);
    }

    /// The database times of this database.
    #[must_use]
    pub fn range(&self) -> DbtimeRange {
        self.state.borrow().range
    }

    /// The highest database time that can be on the disk.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.state.borrow().newest
    }

    /// Puts the versions of pages 1 and up in place of what is known.
    pub fn set_versions(&self, versions: Vec<u16>) {
        self.state.borrow_mut().versions = versions;
    }

    /// Number of the last page of which a version is known; 0 if none is.
    #[must_use]
    pub fn last_page(&self) -> u32 {
        self.state.borrow().versions.len() as u32
    }

    /// The versions of pages 1 and up.
    #[must_use]
    pub fn versions(&self) -> Vec<u16> {
        self.state.borrow().versions.clone()
    }

    /// The version of the last completed write of a page.
    #[must_use]
    pub fn version(&self, page: u32) -> Version {
        self.state.borrow().version(page)
    }

    /// The last completed write of a page, if it is remembered.
    #[must_use]
    pub fn last_write(&self, page: u32) -> Option<LastWrite> {
        let state = self.state.borrow();
        let recent = state.recent.get(page as usize % RECENT_WRITES)?;
        (recent.page == page).then_some(recent.write)
    }

    /// How much of what was written since the database was opened has been read back.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let state = self.state.borrow();
        let count = |bits: &[u64]| bits.iter().map(|word| u64::from(word.count_ones())).sum();
        Coverage {
            written_pages: count(&state.written),
            never_read_back_pages: count(&state.not_read_back),
        }
    }

    /// How many pages behind this one have been written since the database was opened.
    #[must_use]
    pub fn written_behind(&self, page: u32) -> u64 {
        let state = self.state.borrow();
        let pages = page + 1..=state.versions.len() as u32;
        pages.filter(|&page| has_bit(&state.written, page)).count() as u64
    }

    /// A read begins now.
    #[must_use]
    pub fn begin_read(self: &Rc<Self>) -> ReadInProgress {
        let mut state = self.state.borrow_mut();
        let after = state.completions;
        match state.reads.back_mut() {
            Some(reads) if reads.after == after => reads.count += 1,
            _ => state.reads.push_back(Reads { after, count: 1 }),
        }
        drop(state);
        ReadInProgress {
            table: Rc::clone(self),
            after,
        }
    }

    /// A write of pages from `first` on begins now; `dbtimes` are those that the pages carry.
    #[must_use]
    pub fn begin_write(
        self: &Rc<Self>,
        first: u32,
        dbtimes: impl Iterator<Item = u64>,
    ) -> WriteInProgress {
        let state = &mut *self.state.borrow_mut();
        let mut count = 0;
        for (page, dbtime) in (first..).zip(dbtimes) {
            if state.newest < dbtime {
                state.newest = dbtime;
            }
            if let Some(other) = state.in_flight.insert(page, dbtime) {
                state.failed.entry(page).or_default().push(other);
            }
            count += 1;
        }
        WriteInProgress {
            table: Rc::clone(self),
            first,
            count,
        }
    }

    /// Pages from `first` on have been filled with zeros, and nothing else was ever in them.
    pub fn zero_filled(&self, first: u32, count: u32) {
        let mut state = self.state.borrow_mut();
        if !state.is_database {
            return;
        }
        for page in first..first + count {
            *state.version_mut(page) = Version::NEVER_WRITTEN.code();
        }
    }

    /// Whether a write of the page is under way.
    #[must_use]
    pub fn is_writing(&self, page: u32) -> bool {
        self.state.borrow().in_flight.contains_key(&page)
    }

    /// Whether the last write of the page failed, so that nobody knows what it has left.
    #[must_use]
    pub fn has_failed_write(&self, page: u32) -> bool {
        self.state.borrow().failed.contains_key(&page)
    }

    /// Takes note of what a pass over the whole file found in a page of which nothing was known.
    pub fn learn(&self, page: u32, version: Version) {
        let mut state = self.state.borrow_mut();
        if state.version(page) == Version::UNKNOWN && !state.in_flight.contains_key(&page) {
            *state.version_mut(page) = version.code();
        }
    }

    /// Holds what a read returned against what it may return.
    #[must_use]
    #[inline]
    pub fn judge(&self, reading: &ReadInProgress, page: u32, contents: Contents) -> ReadCheck {
        let state = &mut *self.state.borrow_mut();
        let expected = state.version(page);
        match contents {
            Contents::Whole { dbtime } => {
                let found = Version::of(dbtime);
                if found == expected && state.range.contains(dbtime) {
                    clear_bit(&mut state.not_read_back, page);
                    return ReadCheck::Right;
                }
                state.judge_other(reading.after, page, dbtime)
            }
            Contents::Zero if !expected.is_written() => ReadCheck::NeverWritten,
            Contents::Zero | Contents::Damaged => {
                let is_disturbed = match contents {
                    // Written for the first time while the read was under way: the next one must show it.
                    Contents::Zero => state.was_valid(reading.after, page, Version::NEVER_WRITTEN),
                    _ => state.was_disturbed(reading.after, page),
                };
                if is_disturbed {
                    ReadCheck::Disturbed
                } else {
                    ReadCheck::Wrong
                }
            }
        }
    }

    fn now_unix_ms(&self) -> u64 {
        self.origin_unix_ms.get() + self.handle.now_ns() / MILLISECOND_NS
    }

    fn complete(&self, first: u32, count: u32) {
        let now_unix_ms = self.now_unix_ms();
        let state = &mut *self.state.borrow_mut();
        state.completions += 1;
        for page in first..first + count {
            // Another write of the page may have begun meanwhile; that one completes by itself.
            let Some(dbtime) = state.in_flight.remove(&page) else {
                continue;
            };
            if !state.failed.is_empty() {
                state.failed.remove(&page);
            }
            if !state.reads.is_empty() {
                let (version, completion) = (state.version(page), state.completions);
                state.replaced.push_back(Replaced {
                    page,
                    version,
                    completion,
                });
            }
            *state.version_mut(page) = Version::of(dbtime).code();
            set_bit(&mut state.written, page);
            set_bit(&mut state.not_read_back, page);
            state.remember(page, dbtime, now_unix_ms);
        }
    }

    fn fail(&self, first: u32, count: u32) {
        let state = &mut *self.state.borrow_mut();
        for page in first..first + count {
            if let Some(dbtime) = state.in_flight.remove(&page) {
                state.failed.entry(page).or_default().push(dbtime);
            }
        }
    }

    fn end_read(&self, after: u64) {
        let state = &mut *self.state.borrow_mut();
        if let Some(reads) = state.reads.iter_mut().find(|reads| reads.after == after) {
            reads.count -= 1;
        }
        while state.reads.front().is_some_and(|reads| reads.count == 0) {
            state.reads.pop_front();
        }
        let oldest = state.reads.front().map_or(u64::MAX, |reads| reads.after);
        while let Some(replaced) = state.replaced.front()
            && replaced.completion <= oldest
        {
            state.replaced.pop_front();
        }
    }
}

impl State {
    #[inline]
    fn version(&self, page: u32) -> Version {
        let code = self.versions.get((page as usize).wrapping_sub(1));
        code.map_or(Version::UNKNOWN, |&code| Version::from_code(code))
    }

    fn version_mut(&mut self, page: u32) -> &mut u16 {
        let index = page as usize - 1;
        if index >= self.versions.len() {
            self.versions.resize(index + 1, Version::UNKNOWN.code());
        }
        &mut self.versions[index]
    }

    /// A whole page of another version than that of the last completed write.
    #[cold]
    fn judge_other(&mut self, after: u64, page: u32, dbtime: u64) -> ReadCheck {
        let (expected, found) = (self.version(page), Version::of(dbtime));
        if !self.range.contains(dbtime) {
            return ReadCheck::Wrong;
        }
        if self.was_valid(after, page, found) {
            return ReadCheck::Right;
        }
        if expected == Version::UNKNOWN && dbtime <= self.newest {
            if !self.in_flight.contains_key(&page) {
                *self.version_mut(page) = found.code();
            }
            return ReadCheck::Right;
        }
        ReadCheck::Wrong
    }

    /// Whether the page can have been of `version` at some moment since the read began.
    fn was_valid(&self, after: u64, page: u32, version: Version) -> bool {
        let is_it = |&dbtime: &u64| Version::of(dbtime) == version;
        self.in_flight.get(&page).is_some_and(is_it)
            || self
                .failed
                .get(&page)
                .is_some_and(|all| all.iter().any(is_it))
            || self
                .replaced_since(after, page)
                .any(|replaced| replaced.version == version || replaced.version == Version::UNKNOWN)
    }

    /// Whether a write of the page was under way since the read began, or came to no known end.
    fn was_disturbed(&self, after: u64, page: u32) -> bool {
        self.in_flight.contains_key(&page) || self.replaced_since(after, page).next().is_some()
    }

    fn replaced_since(&self, after: u64, page: u32) -> impl Iterator<Item = &Replaced> {
        let is_it = move |one: &&Replaced| one.page == page && one.completion > after;
        self.replaced.iter().filter(is_it)
    }

    fn remember(&mut self, page: u32, dbtime: u64, unix_ms: u64) {
        if self.recent.is_empty() {
            self.recent = vec![Recent::default(); RECENT_WRITES];
        }
        let write = LastWrite { dbtime, unix_ms };
        self.recent[page as usize % RECENT_WRITES] = Recent { page, write };
    }
}

impl ReadInProgress {
    /// Whether a write of the page has completed since the read began.
    #[must_use]
    pub fn was_written(&self, page: u32) -> bool {
        let state = self.table.state.borrow();
        state.replaced_since(self.after, page).next().is_some()
    }
}

impl Drop for ReadInProgress {
    fn drop(&mut self) {
        self.table.end_read(self.after);
    }
}

impl WriteInProgress {
    /// The storage has said that the write is done.
    pub fn completed(mut self) {
        self.table.complete(self.first, self.count);
        self.count = 0;
    }
}

impl Drop for WriteInProgress {
    fn drop(&mut self) {
        self.table.fail(self.first, self.count);
    }
}

fn set_bit(bits: &mut Vec<u64>, page: u32) {
    let word = page as usize / 64;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (page % 64);
}

fn has_bit(bits: &[u64], page: u32) -> bool {
    let word = bits.get(page as usize / 64);
    word.is_some_and(|word| word & (1 << (page % 64)) != 0)
}

#[inline]
fn clear_bit(bits: &mut [u64], page: u32) {
    if let Some(word) = bits.get_mut(page as usize / 64) {
        *word &= !(1 << (page % 64));
    }
}

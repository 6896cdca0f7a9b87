//! What is in the files of a store: disks, pages, and which disks hold what.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use array::SECTOR_BYTES;
use array::kept::{DiskContents, KeptPool, KeptState, PageChange};
use array::payload::{Bytes, Payload as _};
use serde::{Deserialize, Serialize};

use super::checksums;
use super::description::pool_file;
use super::files::Files;

/// The number of the file that says which disks hold what; those of pools follow, and then those of disks.
pub(super) const STATE: u32 = 0;
/// Length and checksum in front of the text in that file.
const HEADER_BYTES: usize = 16;

/// The text in that file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    array: KeptState,
    pools: Vec<PoolShape>,
}

/// What the file of a pool holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PoolShape {
    name: String,
    groups: Vec<String>,
    /// Pages, four bytes each.
    pages: u64,
    /// For each disk group the words of bits behind them.
    used_words: Vec<u64>,
}

impl PoolShape {
    pub(super) fn of(pool: &KeptPool) -> Self {
        Self {
            name: pool.name.clone(),
            groups: pool.groups.clone(),
            pages: pool.pages.len() as u64,
            used_words: pool.used.iter().map(|words| words.len() as u64).collect(),
        }
    }

    /// Where the bits of a disk group begin.
    fn used_at(&self, group: usize) -> u64 {
        // The words begin at a multiple of their size.
        let words: u64 = self.used_words[..group].iter().sum();
        (self.pages * 4).next_multiple_of(8) + words * 8
    }

    pub(super) fn bytes(&self) -> u64 {
        self.used_at(self.used_words.len())
    }
}

/// Gathers a new state.
pub(super) fn write_state(
    files: &mut Files,
    array: KeptState,
    pools: &[PoolShape],
) -> io::Result<()> {
    let pools = pools.to_vec();
    let text = serde_json::to_vec(&State { array, pools })?;
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(u64::from(crc32fast::hash(&text)).to_le_bytes());
    bytes.extend(text);
    files.write(STATE, 0, &bytes);
    Ok(())
}

/// Gathers where all pages of a pool lie.
pub(super) fn write_pool(files: &mut Files, file: u32, shape: &PoolShape, pool: &KeptPool) {
    let pages: Vec<u8> = pool
        .pages
        .iter()
        .flat_map(|page| page.to_le_bytes())
        .collect();
    files.write(file, 0, &pages);
    for (group, words) in pool.used.iter().enumerate() {
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        files.write(file, shape.used_at(group), &words);
    }
}

/// Gathers a change of where pages lie.
pub(super) fn write_change(files: &mut Files, shapes: &[PoolShape], change: PageChange) {
    let first = STATE + 1;
    match change {
        PageChange::Page {
            pool,
            page,
            location,
        } => {
            let offset = u64::from(page) * 4;
            files.write(first + u32::from(pool), offset, &location.to_le_bytes());
        }
        PageChange::Used {
            pool,
            group,
            word,
            bits,
        } => {
            let begin = shapes[usize::from(pool)].used_at(usize::from(group));
            let offset = begin + u64::from(word) * 8;
            files.write(first + u32::from(pool), offset, &bits.to_le_bytes());
        }
    }
}

/// What the files of these names say of disks and pages; `None` where a checksum is wrong.
pub(super) fn read(
    files: &Files,
    names: &[String],
) -> io::Result<Option<(KeptState, Vec<KeptPool>)>> {
    if files.is_empty(STATE)? {
        // The store was begun, and nothing more.
        return Ok(Some((KeptState::default(), Vec::new())));
    }
    let mut header = [0; HEADER_BYTES];
    files.read(STATE, 0, &mut header)?;
    let (length, checksum) = header.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let (length, checksum) = (number(length), number(checksum));
    if length > 1 << 32 {
        return Ok(None);
    }
    let mut text = vec![0; length as usize];
    files.read(STATE, HEADER_BYTES as u64, &mut text)?;
    if u64::from(crc32fast::hash(&text)) != checksum {
        return Ok(None);
    }
    let Ok(State { array, pools }) = serde_json::from_slice::<State>(&text) else {
        return Ok(None);
    };
    let mut kept = Vec::new();
    for shape in pools {
        let name = pool_file(&shape.name);
        let Some(file) = names.iter().position(|one| *one == name) else {
            return Ok(None);
        };
        let file = file as u32;
        let mut bytes = vec![0; shape.bytes() as usize];
        files.read(file, 0, &mut bytes)?;
        let (pages, _) = bytes.split_at((shape.pages * 4) as usize);
        let (pages, _) = pages.as_chunks::<4>();
        let used = |group: usize| {
            let begin = shape.used_at(group) as usize;
            let (words, _) =
                bytes[begin..][..shape.used_words[group] as usize * 8].as_chunks::<8>();
            words.iter().map(|word| u64::from_le_bytes(*word)).collect()
        };
        kept.push(KeptPool {
            pages: pages.iter().map(|page| u32::from_le_bytes(*page)).collect(),
            used: (0..shape.used_words.len()).map(used).collect(),
            name: shape.name.clone(),
            groups: shape.groups.clone(),
        });
    }
    Ok(Some((array, kept)))
}

/// Files that the disks of an array share, and what has gone wrong with them.
#[derive(Debug)]
pub(super) struct SharedFiles {
    pub(super) files: Files,
    pub(super) error: Option<io::Error>,
}

/// The contents of one disk.
#[derive(Debug)]
pub(super) struct StoredDisk {
    pub(super) shared: Rc<RefCell<SharedFiles>>,
    pub(super) file: u32,
    /// The file of its checksums, if it has one.
    pub(super) checksums: Option<u32>,
    pub(super) sectors: u64,
}

impl StoredDisk {
    fn store(&self, first_sector: u64, payload: &Bytes) {
        let mut shared = self.shared.borrow_mut();
        let offset = first_sector * SECTOR_BYTES;
        shared.files.write(self.file, offset, payload.as_slice());
    }
}

impl DiskContents<Bytes> for StoredDisk {
    fn read(&self, first_sector: u64, sectors: u32) -> Bytes {
        let mut payload = Bytes::zeroed(sectors);
        let mut shared = self.shared.borrow_mut();
        let offset = first_sector * SECTOR_BYTES;
        let length = u64::from(sectors) * SECTOR_BYTES;
        if !shared.files.may_hold_data(self.file, offset, length) {
            return payload;
        }
        let read = shared.files.read(self.file, offset, payload.as_mut_slice());
        if let Err(error) = read {
            shared.error.get_or_insert(error);
        }
        payload
    }

    fn write(&mut self, first_sector: u64, sectors: u32, payload: &Bytes) {
        if payload.is_zeros() {
            return self.discard(first_sector, u64::from(sectors));
        }
        self.store(first_sector, payload);
        if let Some(file) = self.checksums {
            let sums = checksums::of(payload.as_slice());
            let mut shared = self.shared.borrow_mut();
            shared
                .files
                .write(file, first_sector * checksums::BYTES, &sums);
        }
    }

    fn wrong_sectors(&self, first_sector: u64, read: &Bytes) -> Vec<u64> {
        let Some(file) = self.checksums else {
            return Vec::new();
        };
        let found = checksums::of(read.as_slice());
        let mut kept = vec![0; found.len()];
        let mut shared = self.shared.borrow_mut();
        let done = shared
            .files
            .read(file, first_sector * checksums::BYTES, &mut kept);
        if let Err(error) = done {
            shared.error.get_or_insert(error);
        }
        let wrong = checksums::differing(&found, &kept);
        wrong.map(|sector| first_sector + sector).collect()
    }

    fn corrupt(&mut self, first_sector: u64, _sectors: u32, payload: &Bytes) {
        self.store(first_sector, payload);
    }

    fn extents(&self) -> Vec<(u64, u64)> {
        let mut shared = self.shared.borrow_mut();
        let found = shared.files.data_extents(self.file);
        let found = found.unwrap_or_else(|error| {
            shared.error.get_or_insert(error);
            Vec::new()
        });
        let in_sectors = |(from, to): (u64, u64)| (from / SECTOR_BYTES, (to - from) / SECTOR_BYTES);
        found.into_iter().map(in_sectors).collect()
    }

    fn discard(&mut self, first_sector: u64, sectors: u64) {
        let (offset, length) = (first_sector * SECTOR_BYTES, sectors * SECTOR_BYTES);
        let files = &mut self.shared.borrow_mut().files;
        files.zero(self.file, offset, length);
        if let Some(file) = self.checksums {
            let (offset, length) = (first_sector * checksums::BYTES, sectors * checksums::BYTES);
            files.zero(file, offset, length);
        }
    }

    fn clear(&mut self) {
        self.discard(0, self.sectors);
    }
}

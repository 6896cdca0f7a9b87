//! The file of one run on the witness: a header, then blocks of records, each with a checksum.
//!
//! It only grows, and a block is on stable storage before it is acknowledged. A block that a power cut of
//! the witness has torn was never acknowledged, and is cut off when the run goes on.

use crate::error::WitnessError;
use crate::message::{RECORDS_PER_MESSAGE, UnreadRecords};
use crate::record::{RECORD_BYTES, Record, RunId, decode_all};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a file; the last one is the version.
const MAGIC: &[u8; 8] = b"PLDWITN1";
/// Magic, run, and the checksum of both.
const HEADER_BYTES: usize = 8 + 16 + 4;
/// Number of the first record, number of records, and the checksum of the block.
const BLOCK_HEADER_BYTES: usize = 8 + 4 + 4;
/// Length of the longest block, bytes.
const MOST_BLOCK_BYTES: u64 = (BLOCK_HEADER_BYTES + RECORDS_PER_MESSAGE * RECORD_BYTES) as u64;

/// Name of the file of a run.
fn path_of(directory: &Path, run: RunId) -> PathBuf {
    directory.join(format!("{run}.records"))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> WitnessError + use<> {
    let path = path.to_owned();
    move |error| WitnessError::File {
        path: path.clone(),
        error,
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// A file that records are appended to.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    next: u64,
    /// A write failed, so what the file ends with is not known.
    is_broken: bool,
}

impl Journal {
    /// The file of a run, made if there is none.
    ///
    /// # Errors
    /// If it cannot be made, or is damaged in its middle.
    pub(crate) fn open(directory: &Path, run: RunId) -> Result<Self, WitnessError> {
        let path = path_of(directory, run);
        let failed = failed(&path);
        let is_new = !path.exists();
        if is_new {
            create(directory, &path, run).map_err(&failed)?;
        }
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .open(&path)
            .map_err(&failed)?;
        let mut reader = JournalReader::open(directory, run)?;
        while reader.block().map_err(&failed)?.is_some() {}
        let journal = Self {
            next: reader.next,
            file,
            path,
            is_broken: false,
        };
        let whole = || -> io::Result<()> {
            let mut file = &journal.file;
            file.set_len(reader.offset)?;
            file.seek(SeekFrom::Start(reader.offset))?;
            file.sync_all()
        };
        whole().map_err(failed)?;
        Ok(journal)
    }

    /// The number of the next record.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Appends records and waits until they are on stable storage.
    ///
    /// # Errors
    /// If the storage is full or fails; nothing more is taken then.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<(), WitnessError> {
        if records.is_empty() {
            return Ok(());
        }
        if self.is_broken {
            return Err(failed(&self.path)(damaged("an earlier write failed")));
        }
        let mut block = Vec::with_capacity(BLOCK_HEADER_BYTES + records.len() * RECORD_BYTES);
        block.extend(self.next.to_le_bytes());
        block.extend((records.len() as u32).to_le_bytes());
        block.extend([0; 4]);
        records.iter().for_each(|record| record.encode(&mut block));
        let sum = checksum(&block);
        block[12..16].copy_from_slice(&sum.to_le_bytes());
        let written = self.file.write_all(&block);
        let written = written.and_then(|()| self.file.sync_data());
        self.is_broken = written.is_err();
        written.map_err(failed(&self.path))?;
        self.next += records.len() as u64;
        Ok(())
    }
}

/// Makes the file under another name first: one with half a header would be of no run.
fn create(directory: &Path, path: &Path, run: RunId) -> io::Result<()> {
    let mut header = MAGIC.to_vec();
    header.extend(run.0);
    header.extend(crc32fast::hash(&header).to_le_bytes());
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(&header)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    File::open(directory)?.sync_all()
}

/// The checksum of a block: everything but itself.
fn checksum(block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[..12]);
    hasher.update(&block[BLOCK_HEADER_BYTES..]);
    hasher.finalize()
}

/// What a block begins with.
#[derive(Debug, Clone, Copy)]
struct BlockHead {
    /// Number of its first record.
    first: u64,
    /// Its records.
    count: usize,
    sum: u32,
}

impl BlockHead {
    /// The head in these bytes; `None` if they are too few, or say what no block says.
    fn of(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let head = Self {
            first: u64::from(number(0)?) | u64::from(number(4)?) << 32,
            count: number(8)? as usize,
            sum: number(12)?,
        };
        (1..=RECORDS_PER_MESSAGE)
            .contains(&head.count)
            .then_some(head)
    }

    fn block_bytes(self) -> usize {
        BLOCK_HEADER_BYTES + self.count * RECORD_BYTES
    }
}

/// Reads the file of a run from its beginning.
#[derive(Debug)]
pub(crate) struct JournalReader {
    reader: BufReader<File>,
    pub(crate) path: PathBuf,
    pub(crate) run: RunId,
    /// Number of the record that comes next.
    pub(crate) next: u64,
    /// Where the blocks read so far end.
    offset: u64,
    /// Records of a block of which only a part was wanted.
    kept: Vec<Record>,
}

impl JournalReader {
    /// Opens the file of a run.
    ///
    /// # Errors
    /// [`WitnessError::UnknownRun`] if there is none; otherwise if it is not what was written.
    pub(crate) fn open(directory: &Path, run: RunId) -> Result<Self, WitnessError> {
        let path = path_of(directory, run);
        let failed = failed(&path);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(WitnessError::UnknownRun(run));
            }
            opened => opened.map_err(&failed)?,
        };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header).map_err(&failed)?;
        let (facts, sum) = header.split_at(HEADER_BYTES - 4);
        let is_whole = crc32fast::hash(facts).to_le_bytes() == *sum;
        if !is_whole || facts[..8] != *MAGIC || facts[8..24] != run.0 {
            return Err(failed(damaged("its header is not valid")));
        }
        Ok(Self {
            reader,
            path,
            run,
            next: 0,
            offset: HEADER_BYTES as u64,
            kept: Vec::new(),
        })
    }

    /// Up to `most` records from the next one on; none at the end.
    ///
    /// # Errors
    /// As the storage fails, or if the file is damaged in its middle.
    pub(crate) fn records(&mut self, most: usize) -> io::Result<Vec<Record>> {
        while self.kept.len() < most {
            match self.block() {
                Ok(Some(records)) => self.kept.extend(records),
                Ok(None) => break,
                // Those before the damage come first.
                Err(_) if !self.kept.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        let later = self.kept.split_off(most.min(self.kept.len()));
        Ok(std::mem::replace(&mut self.kept, later))
    }

    /// What cannot be read behind the last whole block, whether a power cut of the witness has torn it or it is
    /// damaged: a whole block may have been acknowledged. `None` if nothing is there.
    pub(crate) fn unread(&self) -> io::Result<Option<UnreadRecords>> {
        let length = self.reader.get_ref().metadata()?.len();
        let bytes = length.saturating_sub(self.offset);
        let from = self.next;
        Ok((bytes > 0).then_some(UnreadRecords { from, bytes }))
    }

    /// The number of the record that [`JournalReader::records`] gives next.
    pub(crate) fn position(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// The next whole block; `None` at the end, also at a torn one.
    fn block(&mut self) -> io::Result<Option<Vec<Record>>> {
        match self.whole_block()? {
            Some(records) => {
                self.next += records.len() as u64;
                self.offset += (BLOCK_HEADER_BYTES + records.len() * RECORD_BYTES) as u64;
                Ok(Some(records))
            }
            None => {
                let length = self.reader.get_ref().metadata()?.len();
                let is_longer = length.saturating_sub(self.offset) > MOST_BLOCK_BYTES;
                if is_longer || self.has_later_block()? {
                    let number = self.next;
                    return Err(damaged(&format!("the block at record {number} is damaged")));
                }
                self.reader.seek(SeekFrom::Start(self.offset))?;
                Ok(None)
            }
        }
    }

    /// Whether a whole block of later records follows somewhere behind the next one, which is none. A power cut
    /// tears the last block alone.
    fn has_later_block(&mut self) -> io::Result<bool> {
        self.reader.seek(SeekFrom::Start(self.offset))?;
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest)?;
        let most = self.next + (rest.len() / RECORD_BYTES) as u64;
        let mut parts = (1..rest.len()).map(|at| &rest[at..]);
        Ok(parts.any(|part| {
            let head = BlockHead::of(part);
            head.is_some_and(|head| {
                let length = head.block_bytes();
                let is_later = head.first > self.next && head.first <= most;
                is_later && length <= part.len() && checksum(&part[..length]) == head.sum
            })
        }))
    }

    fn whole_block(&mut self) -> io::Result<Option<Vec<Record>>> {
        let mut block = vec![0; BLOCK_HEADER_BYTES];
        if !fill(&mut self.reader, &mut block)? {
            return Ok(None);
        }
        let head = BlockHead::of(&block).filter(|head| head.first == self.next);
        let Some(head) = head else {
            return Ok(None);
        };
        block.resize(head.block_bytes(), 0);
        let is_whole = fill(&mut self.reader, &mut block[BLOCK_HEADER_BYTES..])?;
        if !is_whole || checksum(&block) != head.sum {
            return Ok(None);
        }
        Ok(decode_all(&block[BLOCK_HEADER_BYTES..]))
    }
}

/// Fills a buffer; false where the file ends before.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: RunId = RunId([9; 16]);

    fn record(number: u64) -> Record {
        Record {
            kind: 1,
            position: number,
            ..Record::default()
        }
    }

    fn all(directory: &Path) -> io::Result<Vec<Record>> {
        let mut reader = JournalReader::open(directory, RUN).unwrap();
        let mut all = Vec::new();
        loop {
            assert_eq!(reader.position(), all.len() as u64);
            match reader.records(5)? {
                more if more.is_empty() => return Ok(all),
                more => all.extend(more),
            }
        }
    }

    /// What cannot be read behind the records that can.
    fn unread(directory: &Path) -> Option<UnreadRecords> {
        let mut reader = JournalReader::open(directory, RUN).unwrap();
        while reader.records(5).is_ok_and(|records| !records.is_empty()) {}
        reader.unread().unwrap()
    }

    #[test]
    fn records_are_read_back_and_a_torn_end_is_cut_off() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let missing = JournalReader::open(here, RUN).unwrap_err();
        assert!(matches!(missing, WitnessError::UnknownRun(RUN)));
        let expected: Vec<Record> = (0..23).map(record).collect();
        let mut journal = Journal::open(here, RUN).unwrap();
        for part in expected.chunks(7) {
            journal.append(part).unwrap();
        }
        assert_eq!((journal.next(), all(here).unwrap()), (23, expected.clone()));
        let path = path_of(here, RUN);
        let bytes = std::fs::read(&path).unwrap();
        for cut in 1..2 * RECORD_BYTES + BLOCK_HEADER_BYTES {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            assert_eq!(all(here).unwrap(), expected[..21], "{cut} bytes");
        }
        let mut journal = Journal::open(here, RUN).unwrap();
        assert_eq!(journal.next(), 21);
        journal.append(&expected[21..]).unwrap();
        assert_eq!(all(here).unwrap(), expected);
    }

    #[test]
    fn damage_before_a_whole_block_is_not_taken_for_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let mut journal = Journal::open(here, RUN).unwrap();
        let expected: Vec<Record> = (0..30).map(record).collect();
        for part in expected.chunks(3) {
            journal.append(part).unwrap();
        }
        let path = path_of(here, RUN);
        let bytes = std::fs::read(&path).unwrap();
        let block_bytes = BLOCK_HEADER_BYTES + 3 * RECORD_BYTES;
        for at in (HEADER_BYTES..bytes.len()).step_by(7) {
            let mut harmed = bytes.clone();
            harmed[at] ^= 1;
            std::fs::write(&path, &harmed).unwrap();
            if at < bytes.len() - block_bytes {
                assert!(all(here).is_err(), "byte {at}");
                let damaged = (at - HEADER_BYTES) / block_bytes;
                let unread = unread(here).unwrap();
                assert_eq!(unread.from, 3 * damaged as u64, "byte {at}");
                let left = bytes.len() - HEADER_BYTES - damaged * block_bytes;
                assert_eq!(unread.bytes, left as u64, "byte {at}");
                assert!(Journal::open(here, RUN).is_err(), "byte {at}");
            } else {
                // It looks like one that a power cut has torn.
                assert_eq!(all(here).unwrap(), expected[..27], "byte {at}");
                let bytes = block_bytes as u64;
                assert_eq!(unread(here), Some(UnreadRecords { from: 27, bytes }));
            }
        }
    }

    #[test]
    fn damage_in_the_middle_is_not_taken_for_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let mut journal = Journal::open(here, RUN).unwrap();
        let block: Vec<Record> = (0..RECORDS_PER_MESSAGE as u64).map(record).collect();
        for _ in 0..3 {
            journal.append(&block).unwrap();
        }
        let path = path_of(here, RUN);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[HEADER_BYTES + 100] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(all(here).is_err());
        assert!(Journal::open(here, RUN).is_err());
        bytes[3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(JournalReader::open(here, RUN).is_err());
    }
}

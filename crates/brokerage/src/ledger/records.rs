//! The file of the ledger: a header, then blocks of records of 16 bytes, each block with its number
//! and a CRC-32 over number and records. Numbers are little-endian.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

/// The first bytes of the file; the last one is the version.
const MAGIC: &[u8; 8] = b"PLDLEDG1";
const HEADER_BYTES: usize = 8 + 8 + 4;
const BLOCK_HEADER_BYTES: usize = 8 + 4 + 4;
const RECORD_BYTES: usize = 16;
/// Records of a full block: 64 KiB.
const RECORDS_PER_BLOCK: usize = 4_096;
/// A block is written no later than this after the last one, when a record is added.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Bits of the content in a record.
const CONTENT_BITS: u32 = 24;

/// What was acknowledged, or is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::FromRepr)]
#[repr(u8)]
pub enum Kind {
    /// An order was entered, and waits for its price.
    EnteredPending = 1,
    /// An order was entered and submitted to the market.
    EnteredSubmitted = 2,
    /// A pending order was submitted.
    Submitted = 3,
    /// A result was booked.
    Booked = 4,
    /// The commit of an order was not answered.
    OrderUnknown = 5,
    /// The commit of a result was not answered.
    ResultUnknown = 6,
    /// A result was found booked when it was tried again.
    FoundBooked = 7,
}

impl Kind {
    /// Whether the database has confirmed it, as opposed to a commit that was not answered.
    #[must_use]
    pub fn is_acknowledged(self) -> bool {
        !matches!(self, Self::OrderUnknown | Self::ResultUnknown)
    }
}

/// One acknowledged commit, as it stands in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What the transaction did.
    pub kind: Kind,
    /// Of a booked result: the hash of its price, 24 bits; else 0.
    pub content: u32,
    /// When, since the start of the run.
    pub time_ms: u32,
    /// Number of the trade.
    pub trade: i64,
}

/// The hash of a price, 24 bits.
#[must_use]
pub fn content(price_cents: i64) -> u32 {
    crc32fast::hash(&price_cents.to_le_bytes()) >> (u32::BITS - CONTENT_BITS)
}

/// Appends records to the file of the ledger.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    /// Header and records of the block to be written next.
    block: Vec<u8>,
    number: u64,
    written: Instant,
}

impl Writer {
    /// Writes the header: `base` is the highest trade id before the run.
    pub fn new(mut file: File, base: i64) -> io::Result<Self> {
        let mut header = MAGIC.to_vec();
        header.extend(base.to_le_bytes());
        header.extend(crc32fast::hash(&header).to_le_bytes());
        file.write_all(&header)?;
        Ok(Self {
            file,
            block: vec![0; BLOCK_HEADER_BYTES],
            number: 0,
            written: Instant::now(),
        })
    }

    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        let first = u32::from(record.kind as u8) << CONTENT_BITS | record.content;
        self.block.extend(first.to_le_bytes());
        self.block.extend(record.time_ms.to_le_bytes());
        self.block.extend(record.trade.to_le_bytes());
        let is_full = self.records() >= RECORDS_PER_BLOCK;
        if is_full || self.written.elapsed() >= LONGEST_WAIT {
            self.write_block()?;
        }
        Ok(())
    }

    /// Writes what is left and makes all of it durable.
    pub fn end(mut self) -> io::Result<File> {
        self.write_block()?;
        self.file.sync_data()?;
        Ok(self.file)
    }

    fn records(&self) -> usize {
        (self.block.len() - BLOCK_HEADER_BYTES) / RECORD_BYTES
    }

    fn write_block(&mut self) -> io::Result<()> {
        let count = self.records() as u32;
        if count > 0 {
            self.block[..8].copy_from_slice(&self.number.to_le_bytes());
            self.block[8..12].copy_from_slice(&count.to_le_bytes());
            let sum = checksum(&self.block);
            self.block[12..16].copy_from_slice(&sum.to_le_bytes());
            self.file.write_all(&self.block)?;
            self.block.truncate(BLOCK_HEADER_BYTES);
            self.number += 1;
        }
        self.written = Instant::now();
        Ok(())
    }
}

/// The checksum of a block: everything but itself.
fn checksum(block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[..12]);
    hasher.update(&block[BLOCK_HEADER_BYTES..]);
    hasher.finalize()
}

/// Reads all records, in the order in which they were added. Returns the `base` of the header.
///
/// # Errors
/// The file cannot be read, or is not what was written.
pub fn read(file: &mut File, mut each: impl FnMut(Record)) -> io::Result<i64> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut header = [0; HEADER_BYTES];
    reader.read_exact(&mut header)?;
    let (content, sum) = header.split_at(HEADER_BYTES - 4);
    if !content.starts_with(MAGIC) || crc32fast::hash(content).to_le_bytes() != *sum {
        return Err(damaged("its header is not valid"));
    }
    let base = i64::from_le_bytes(array(&content[8..]));
    for number in 0_u64.. {
        let mut block = vec![0; BLOCK_HEADER_BYTES];
        if !fill(&mut reader, &mut block)? {
            break;
        }
        let (found, count) = (u64::from_le_bytes(array(&block)), number_at(&block, 8));
        if found != number || count as usize > RECORDS_PER_BLOCK {
            return Err(damaged(&format!(
                "block {number} is not where it should be"
            )));
        }
        let sum = number_at(&block, 12);
        block.resize(BLOCK_HEADER_BYTES + count as usize * RECORD_BYTES, 0);
        reader.read_exact(&mut block[BLOCK_HEADER_BYTES..])?;
        if checksum(&block) != sum {
            return Err(damaged(&format!("the checksum of block {number} is wrong")));
        }
        for bytes in block[BLOCK_HEADER_BYTES..].chunks_exact(RECORD_BYTES) {
            let first = number_at(bytes, 0);
            let kind = Kind::from_repr((first >> CONTENT_BITS) as u8);
            each(Record {
                kind: kind.ok_or_else(|| damaged("a record has an unknown kind"))?,
                content: first & ((1 << CONTENT_BITS) - 1),
                time_ms: number_at(bytes, 4),
                trade: i64::from_le_bytes(array(&bytes[8..])),
            });
        }
    }
    Ok(base)
}

/// Fills a buffer; false at the end of the file.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 if filled == 0 => return Ok(false),
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    Ok(true)
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(&bytes[at..]))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: i64) -> Record {
        Record {
            kind: Kind::from_repr(1 + (number % 7) as u8).unwrap(),
            content: content(number),
            time_ms: number as u32,
            trade: number << 32,
        }
    }

    fn written(records: i64) -> File {
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), 77).unwrap();
        (0..records).for_each(|number| writer.add(&record(number)).unwrap());
        writer.end().unwrap()
    }

    fn read_all(file: &mut File) -> io::Result<Vec<Record>> {
        let mut all = Vec::new();
        assert_eq!(read(file, |record| all.push(record))?, 77);
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read_back() {
        for records in [0, 1, 4_096, 10_000] {
            let expected: Vec<Record> = (0..records).map(record).collect();
            assert_eq!(read_all(&mut written(records)).unwrap(), expected);
        }
    }

    #[test]
    fn a_changed_bit_anywhere_and_a_missing_end_are_found() {
        let bytes = written(5).metadata().unwrap().len();
        for place in 0..bytes {
            let mut file = written(5);
            let mut byte = [0];
            file.seek(SeekFrom::Start(place)).unwrap();
            file.read_exact(&mut byte).unwrap();
            file.seek(SeekFrom::Start(place)).unwrap();
            file.write_all(&[byte[0] ^ 4]).unwrap();
            let read = read(&mut file, |_| {});
            assert!(read.is_err(), "byte {place}");
        }
        let mut file = written(5);
        file.set_len(bytes - 1).unwrap();
        read(&mut file, |_| {}).unwrap_err();
    }
}

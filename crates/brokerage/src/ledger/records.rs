//! The file of the ledger: a header, then blocks of records of 16 bytes, each block with its number
//! and a CRC-32 over number and records. Numbers are little-endian.

use crate::transactions::trade_update::Column;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};
use witness::RunId;

/// The first bytes of the file; the last one is the version.
const MAGIC: &[u8; 8] = b"PLDLEDG2";
const HEADER_BYTES: usize = 8 + 16 + 8 + 4;
const BLOCK_HEADER_BYTES: usize = 8 + 4 + 4;
const RECORD_BYTES: usize = 16;
/// Records of a full block: 64 KiB.
const RECORDS_PER_BLOCK: usize = 4_096;
/// A block that is not full is written no later than this after the last one.
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
    /// A trade update has changed the rows that follow; the time is that of its beginning.
    Updated = 8,
    /// The commit of a trade update was not answered, which has changed the rows that follow or not.
    UpdateUnknown = 9,
    /// The name of the executor of a trade.
    ExecutorRow = 10,
    /// The cash type of the settlement of a trade.
    CashTypeRow = 11,
    /// The name of the cash transaction of a trade.
    CashNameRow = 12,
}

impl Kind {
    /// Whether it stands for an order, a submission or a result that the database has confirmed.
    #[must_use]
    pub fn is_acknowledged(self) -> bool {
        self.is_of_trade() && !matches!(self, Self::OrderUnknown | Self::ResultUnknown)
    }

    /// Whether it says what became of a trade of the run, as opposed to a part of a trade update.
    #[must_use]
    pub fn is_of_trade(self) -> bool {
        (self as u8) < Self::Updated as u8
    }

    /// The kind of the rows of which a trade update has changed a column.
    #[must_use]
    pub fn row_of(column: Column) -> Self {
        match column {
            Column::Executor => Self::ExecutorRow,
            Column::CashType => Self::CashTypeRow,
            Column::CashName => Self::CashNameRow,
        }
    }

    /// The column of a row that a trade update has changed.
    #[must_use]
    pub fn column(self) -> Option<Column> {
        match self {
            Self::ExecutorRow => Some(Column::Executor),
            Self::CashTypeRow => Some(Column::CashType),
            Self::CashNameRow => Some(Column::CashName),
            _ => None,
        }
    }
}

/// One acknowledged commit, as it stands in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What the transaction did.
    pub kind: Kind,
    /// Of a booked result: the hash of its price, 24 bits; of a row of an update: that of what was written;
    /// else 0.
    pub content: u32,
    /// When, since the start of the run.
    pub time_ms: u32,
    /// Number of the trade; 0 before the rows of an update.
    pub trade: i64,
}

/// The hash of a price, 24 bits.
#[must_use]
pub fn content(price_cents: i64) -> u32 {
    hash(&price_cents.to_le_bytes())
}

/// The hash of a text, 24 bits.
#[must_use]
pub fn text_content(text: &str) -> u32 {
    hash(text.as_bytes())
}

fn hash(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes) >> (u32::BITS - CONTENT_BITS)
}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The number by which the run is known.
    pub run: RunId,
    /// The highest trade id before the run.
    pub base: i64,
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
    /// Begins the file of a ledger: writes its header, and leaves the records to blocks after it.
    pub fn new(mut file: File, header: Header) -> io::Result<Self> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(header.run.0);
        bytes.extend(header.base.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        file.write_all(&bytes)?;
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
        match self.records() >= RECORDS_PER_BLOCK {
            true => self.write_block(),
            false => self.write_if_due(),
        }
    }

    /// Writes the records that are left, if the last ones were written a second ago or longer.
    pub fn write_if_due(&mut self) -> io::Result<()> {
        match self.written.elapsed() >= LONGEST_WAIT {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    /// Writes what is left and makes all of it durable.
    pub fn end(mut self) -> io::Result<RecordFile> {
        self.write_block()?;
        self.file.sync_data()?;
        let bytes = self.file.metadata()?.len();
        let file = self.file;
        Ok(RecordFile { file, bytes })
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

/// The file of a ledger that is written no more, as far as its blocks are valid.
#[derive(Debug)]
pub struct RecordFile {
    file: File,
    /// Bytes from the start of the file to the end of the last valid block.
    bytes: u64,
}

impl RecordFile {
    /// Takes a file whose writer may have ended at any moment: `each` gets the records of the blocks
    /// from the first one to the last one before an invalid one, in the order in which they were added.
    ///
    /// # Errors
    /// The file cannot be read, or its header is not valid.
    pub fn recover(file: File, mut each: impl FnMut(Header, Record)) -> io::Result<(Header, Self)> {
        let mut found = Self { file, bytes: 0 };
        let (header, mut blocks) = found.blocks(u64::MAX)?;
        let mut bytes = HEADER_BYTES;
        loop {
            match blocks.next_block() {
                Ok(Some(records)) => {
                    bytes += BLOCK_HEADER_BYTES + records.len() * RECORD_BYTES;
                    records.into_iter().for_each(|record| each(header, record));
                }
                Ok(None) => break,
                Err(error) if is_damage(&error) => break,
                Err(error) => return Err(error),
            }
        }
        drop(blocks);
        found.bytes = bytes as u64;
        Ok((header, found))
    }

    /// Bytes from the start of the file to the end of the last valid block.
    #[must_use]
    pub fn valid_bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that follow the last valid block.
    ///
    /// # Errors
    /// The file cannot be examined.
    pub fn invalid_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len().saturating_sub(self.bytes))
    }

    /// Reads all records, in the order in which they were added.
    ///
    /// # Errors
    /// The file cannot be read, or is not what was written.
    pub fn read(&mut self, mut each: impl FnMut(Record)) -> io::Result<()> {
        let (_, mut blocks) = self.blocks(self.bytes)?;
        while let Some(records) = blocks.next_block()? {
            records.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// The header, and the blocks that follow in the first `bytes` of the file.
    fn blocks(&mut self, bytes: u64) -> io::Result<(Header, Blocks<impl Read>)> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(1 << 16, (&mut self.file).take(bytes));
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header)?;
        let (content, sum) = header.split_at(HEADER_BYTES - 4);
        if !content.starts_with(MAGIC) || crc32fast::hash(content).to_le_bytes() != *sum {
            return Err(damaged("its header is not valid"));
        }
        let header = Header {
            run: RunId(array(&content[8..])),
            base: i64::from_le_bytes(array(&content[24..])),
        };
        Ok((header, Blocks { reader, number: 0 }))
    }
}

/// Whether a file could be read and is not what was written.
pub(super) fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

/// Blocks that are read one after the other.
struct Blocks<R> {
    reader: R,
    /// The number of the next one.
    number: u64,
}

impl<R: Read> Blocks<R> {
    /// The records of the next block; `None` at the end.
    fn next_block(&mut self) -> io::Result<Option<Vec<Record>>> {
        let number = self.number;
        let mut block = vec![0; BLOCK_HEADER_BYTES];
        if !fill(&mut self.reader, &mut block)? {
            return Ok(None);
        }
        let (found, count) = (u64::from_le_bytes(array(&block)), number_at(&block, 8));
        if found != number || count as usize > RECORDS_PER_BLOCK {
            return Err(damaged(&format!(
                "block {number} is not where it should be"
            )));
        }
        let sum = number_at(&block, 12);
        block.resize(BLOCK_HEADER_BYTES + count as usize * RECORD_BYTES, 0);
        self.reader.read_exact(&mut block[BLOCK_HEADER_BYTES..])?;
        if checksum(&block) != sum {
            return Err(damaged(&format!("the checksum of block {number} is wrong")));
        }
        self.number += 1;
        let records = block[BLOCK_HEADER_BYTES..].chunks_exact(RECORD_BYTES);
        records.map(record_of).collect::<io::Result<_>>().map(Some)
    }
}

fn record_of(bytes: &[u8]) -> io::Result<Record> {
    let first = number_at(bytes, 0);
    let kind = Kind::from_repr((first >> CONTENT_BITS) as u8);
    Ok(Record {
        kind: kind.ok_or_else(|| damaged("a record has an unknown kind"))?,
        content: first & ((1 << CONTENT_BITS) - 1),
        time_ms: number_at(bytes, 4),
        trade: i64::from_le_bytes(array(&bytes[8..])),
    })
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

    const HEADER: Header = Header {
        run: RunId([5; 16]),
        base: 77,
    };

    fn written(records: i64) -> File {
        let mut writer = Writer::new(tempfile::tempfile().unwrap(), HEADER).unwrap();
        (0..records).for_each(|number| writer.add(&record(number)).unwrap());
        writer.end().unwrap().file
    }

    /// All of a file, as the run itself reads it.
    fn read_all(file: File) -> io::Result<Vec<Record>> {
        let bytes = file.metadata()?.len();
        let mut all = Vec::new();
        RecordFile { file, bytes }.read(|record| all.push(record))?;
        Ok(all)
    }

    /// What an audit makes of a file, once at first sight and once again.
    fn recovered(file: File) -> io::Result<(Vec<Record>, u64)> {
        let (mut first, mut again) = (Vec::new(), Vec::new());
        let (header, mut found) = RecordFile::recover(file, |_, record| first.push(record))?;
        assert_eq!(header, HEADER);
        found.read(|record| again.push(record))?;
        assert_eq!(first, again);
        let all = found.valid_bytes() + found.invalid_bytes()?;
        assert_eq!(all, found.file.metadata()?.len());
        Ok((first, found.invalid_bytes()?))
    }

    #[test]
    fn what_is_written_is_read_back() {
        for records in [0, 1, 4_096, 10_000] {
            let expected: Vec<Record> = (0..records).map(record).collect();
            assert_eq!(read_all(written(records)).unwrap(), expected);
            assert_eq!(recovered(written(records)).unwrap(), (expected, 0));
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
            let (again, is_header) = (file.try_clone().unwrap(), place < HEADER_BYTES as u64);
            assert!(read_all(file).is_err(), "byte {place}");
            match recovered(again) {
                Ok(found) => assert_eq!(found, (Vec::new(), bytes - HEADER_BYTES as u64)),
                Err(error) => assert!(is_header && is_damage(&error), "byte {place}: {error}"),
            }
        }
        let file = written(5);
        file.set_len(bytes - 1).unwrap();
        read_all(file).unwrap_err();
    }

    #[test]
    fn a_file_that_lacks_its_end_is_used_up_to_its_last_whole_block() {
        let whole = written(10_000).metadata().unwrap().len();
        let block = (BLOCK_HEADER_BYTES + RECORDS_PER_BLOCK * RECORD_BYTES) as u64;
        let header = HEADER_BYTES as u64;
        let cases = [
            (header, 0),
            (header + 1, 0),
            (header + block - 16, 0),
            (header + block, 4_096),
            (header + 2 * block + 100, 8_192),
            (whole, 10_000),
        ];
        for (bytes, records) in cases {
            let file = written(10_000);
            file.set_len(bytes).unwrap();
            // As a file system leaves it whose size was stored before its contents.
            for end in [bytes, bytes + 5_000] {
                file.set_len(end).unwrap();
                let (found, _) = recovered(file.try_clone().unwrap()).unwrap();
                assert_eq!(found.len(), records, "{bytes} {end}");
            }
        }
        let file = written(5);
        file.set_len(header - 1).unwrap();
        assert!(is_damage(&recovered(file).unwrap_err()));
    }

    #[test]
    fn records_are_written_when_a_second_has_passed_and_none_is_added() {
        let file = tempfile::tempfile().unwrap();
        let mut writer = Writer::new(file.try_clone().unwrap(), HEADER).unwrap();
        writer.add(&record(1)).unwrap();
        writer.written = Instant::now() - LONGEST_WAIT;
        writer.write_if_due().unwrap();
        assert_eq!(recovered(file).unwrap(), (vec![record(1)], 0));
    }
}

//! The ledger of acknowledged transactions: what the database has confirmed to the driver, kept
//! outside of the database, and compared with it after the load.
//!
//! Consistency checks find a database that contradicts itself. A database that was put back as a
//! whole to an earlier state, as by a write cache that lost its newest contents, does not. So each
//! commit that enters an order, submits one to the market or records a result is noted with the
//! trade's id when it is acknowledged, and market feeds add up the shares traded per security.
//! Commits whose answer was lost are noted as unknown, and may or may not be there.
//!
//! - [`records`]: the file, in blocks with a checksum each.
//! - [`compare`]: compares it with the database, in bounded memory.
//! - [`kept`]: the ledger of a run that has ended, however it did.
//!
//! Trade updates and data maintenance change rows that are there, and what they write says nothing of who
//! wrote it. So they read back what they have written, and the last acknowledged contents of each row are
//! compared ([`changes`]). This needs all updates of the run: a ledger that lacks the last ones cannot say
//! whether a row was changed once more.

mod changes;
pub mod compare;
pub mod compare_error;
mod difference;
pub mod kept;
mod parts;
pub mod records;

use crate::parallel::lock;
use crate::session::Call;
use crate::transactions::trade_update::Column;
use changes::Maintained;
use records::{Header, Kind, Record, RecordFile, Writer};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;
use witness::{RunId, Sender};

/// Name of the file in the results directory.
pub const LEDGER_FILE: &str = "acknowledged.bin";

/// Trade ids of one user: the ledger keeps the highest one in use for each range of this size.
const RANGE_BITS: u32 = 32;

/// The ledger of a run. It is shared by all clients.
pub struct Ledger(Mutex<Inner>);

struct Inner {
    /// `None` while the run has not begun.
    writer: Option<Writer>,
    file: Option<File>,
    started: Instant,
    /// The highest trade id before the run.
    base: i64,
    ranges: IdRanges,
    /// Shares traded per security: acknowledged, and of commits whose outcome is unknown.
    shares: BTreeMap<u32, Shares>,
    /// Records of rows that trade updates have changed.
    updated_rows: u64,
    /// What data maintenance has changed.
    maintained: Maintained,
    /// The first error of the file; later transactions are not in it.
    error: Option<String>,
    /// The number by which the run is known.
    run: RunId,
    /// Takes what is acknowledged, on another machine.
    witness: Option<Sender>,
}

/// Trade ids of a run in use: for each range above the highest one before the run, the highest number
/// from the start of the range.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct IdRanges(BTreeMap<u64, u64>);

impl IdRanges {
    /// Takes in a trade; `base` is the highest id before the run.
    fn add(&mut self, base: i64, trade: i64) {
        let above = trade.saturating_sub(base + 1).max(0).unsigned_abs();
        let (range, number) = (above >> RANGE_BITS, above & ((1 << RANGE_BITS) - 1));
        let highest = self.0.entry(range).or_default();
        *highest = (*highest).max(number);
    }
}

/// Shares of a security traded by market feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shares {
    /// Shares of acknowledged commits.
    pub acknowledged: i64,
    /// Of commits that may have succeeded.
    pub uncertain: i64,
}

/// The ledger after the load.
#[derive(Debug)]
pub struct Closed {
    pub(crate) file: RecordFile,
    pub(crate) base: i64,
    pub(crate) ranges: IdRanges,
    pub(crate) shares: BTreeMap<u32, Shares>,
    /// Records of rows that trade updates have changed.
    pub(crate) updated_rows: u64,
    pub(crate) maintained: Maintained,
}

impl Ledger {
    /// A ledger in a new file in this directory.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true);
        Self::in_file(options.open(directory.join(LEDGER_FILE))?)
    }

    /// A ledger in a file without a name, for runs that keep no results.
    ///
    /// # Errors
    /// The directory for temporary files takes no file.
    pub fn unnamed() -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags, open};
        let directory = std::env::temp_dir();
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match open(&directory, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Self::in_file(File::from(file)),
            // File systems without unnamed files: one that is removed at once.
            Err(_) => {
                let name = format!("proofload-ledger-{}", std::process::id());
                let path = directory.join(name);
                let mut options = File::options();
                let options = options.read(true).write(true).create_new(true);
                let file = options.open(&path)?;
                std::fs::remove_file(&path)?;
                Self::in_file(file)
            }
        }
    }

    fn in_file(file: File) -> io::Result<Self> {
        Ok(Self(Mutex::new(Inner {
            writer: None,
            file: Some(file),
            started: Instant::now(),
            base: 0,
            ranges: IdRanges::default(),
            shares: BTreeMap::new(),
            updated_rows: 0,
            maintained: Maintained::default(),
            error: None,
            run: RunId::random().map_err(io::Error::other)?,
            witness: None,
        })))
    }

    /// The same, which reports what is acknowledged to a witness, too, which knows the run by a number.
    #[must_use]
    pub fn reporting_to(self, witness: Option<(Sender, RunId)>) -> Self {
        if let Some((sender, run)) = witness {
            let mut inner = lock(&self.0);
            (inner.witness, inner.run) = (Some(sender), run);
        }
        self
    }

    /// The number by which the run is known.
    #[must_use]
    pub fn run(&self) -> RunId {
        lock(&self.0).run
    }

    /// The ledger that a witness has kept.
    ///
    /// # Errors
    /// The directory for temporary files takes no file, or a record is none of a ledger.
    pub fn of_witness(kept: &[witness::Record]) -> io::Result<Closed> {
        let ledger = Self::unnamed()?;
        let base = kept.iter().find(|record| !record.is_transaction());
        let base = base.map_or(0, |record| record.position as i64);
        ledger.begin(base, Instant::now());
        for record in kept.iter().filter(|record| record.is_transaction()) {
            let kind = Kind::from_repr(record.kind);
            let kind = kind.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
            lock(&ledger.0).insert(Record {
                kind,
                content: record.hash as u32,
                time_ms: record.time_ms,
                trade: record.position as i64,
            });
        }
        ledger.close().map_err(io::Error::other)
    }

    /// Begins the run: its trades have higher ids than `last_trade`, and times count from `started`.
    pub fn begin(&self, last_trade: i64, started: Instant) {
        let mut inner = lock(&self.0);
        (inner.base, inner.started) = (last_trade, started);
        if let Some(witness) = &inner.witness {
            witness.send(witness::Record::fact(0, 0, last_trade as u64, 0));
        }
        if let Some(file) = inner.file.take() {
            let header = Header {
                run: inner.run,
                base: last_trade,
            };
            match Writer::new(file, header) {
                Ok(writer) => inner.writer = Some(writer),
                Err(error) => inner.error = Some(error.to_string()),
            }
        }
    }

    /// An order was entered, and waits for its price or was submitted.
    pub fn entered(&self, trade: i64, is_submitted: bool) {
        let kind = match is_submitted {
            true => Kind::EnteredSubmitted,
            false => Kind::EnteredPending,
        };
        lock(&self.0).add(kind, trade, 0);
    }

    /// A pending order was submitted by a market feed.
    pub fn submitted(&self, trade: i64) {
        lock(&self.0).add(Kind::Submitted, trade, 0);
    }

    /// A result was booked, at this price.
    pub fn booked(&self, trade: i64, price_cents: i64) {
        lock(&self.0).add(Kind::Booked, trade, records::content(price_cents));
    }

    /// A result was found booked: the commit of an earlier attempt was not answered.
    pub fn found_booked(&self, trade: i64) {
        lock(&self.0).add(Kind::FoundBooked, trade, 0);
    }

    /// It is unknown whether an order was entered.
    pub fn order_unknown(&self, trade: i64) {
        lock(&self.0).add(Kind::OrderUnknown, trade, 0);
    }

    /// It is unknown whether a result was booked.
    pub fn result_unknown(&self, trade: i64) {
        lock(&self.0).add(Kind::ResultUnknown, trade, 0);
    }

    /// A market feed has added shares traded.
    pub fn traded(&self, security: u32, shares: i64) {
        let mut inner = lock(&self.0);
        inner.shares.entry(security).or_default().acknowledged += shares;
    }

    /// It is unknown whether a market feed has added shares traded.
    pub fn traded_unknown(&self, security: u32, shares: i64) {
        let mut inner = lock(&self.0);
        inner.shares.entry(security).or_default().uncertain += shares;
    }

    /// A trade update that began at `begun` has changed a column: the trades and what it now holds.
    pub fn updated(&self, begun: Instant, column: Column, rows: &[(i64, String)]) {
        let mut inner = lock(&self.0);
        let begun_ms = inner.time_ms(begun);
        let rows = rows.iter();
        let rows = rows.map(|(trade, text)| (column, *trade, records::text_content(text)));
        inner.add_rows(Kind::Updated, begun_ms, rows);
    }

    /// It is unknown whether a trade update has changed these rows.
    pub fn update_unknown(&self, rows: &[(Column, i64)]) {
        let rows = rows.iter().map(|(column, trade)| (*column, *trade, 0));
        lock(&self.0).add_rows(Kind::UpdateUnknown, 0, rows);
    }

    /// A round of data maintenance that began at `begun` was acknowledged: what it has changed is found by
    /// this query, and has this hash.
    pub fn maintained(&self, begun: Instant, query: Call, content: u32) {
        let mut inner = lock(&self.0);
        let (begun_ms, now_ms) = (inner.time_ms(begun), inner.time_ms(Instant::now()));
        inner.maintained.add(query, content, begun_ms, now_ms);
    }

    /// It is unknown whether a round of data maintenance was committed.
    pub fn maintenance_unknown(&self, query: Call) {
        lock(&self.0).maintained.add_unknown(query);
    }

    /// Writes to the file what was acknowledged a second ago or longer, so that little is missing there
    /// if this process is killed. To be called often.
    pub fn write_if_due(&self) {
        let mut inner = lock(&self.0);
        let written = inner.writer.as_mut().map(Writer::write_if_due);
        inner.after(written);
    }

    /// Ends the ledger, to be compared.
    ///
    /// # Errors
    /// The file could not be written, as a sentence. What is in it is incomplete.
    pub fn close(&self) -> Result<Closed, String> {
        let mut inner = lock(&self.0);
        if let Some(error) = inner.error.take() {
            return Err(error);
        }
        let Some(writer) = inner.writer.take() else {
            return Err("it was not begun".to_owned());
        };
        let file = writer.end().map_err(|error| error.to_string())?;
        Ok(Closed {
            file,
            base: inner.base,
            ranges: std::mem::take(&mut inner.ranges),
            shares: std::mem::take(&mut inner.shares),
            updated_rows: inner.updated_rows,
            maintained: std::mem::take(&mut inner.maintained),
        })
    }
}

impl Inner {
    fn add(&mut self, kind: Kind, trade: i64, content: u32) {
        if let Some(witness) = self.witness.as_ref().filter(|_| kind.is_acknowledged()) {
            witness.send(witness::Record {
                kind: kind as u8,
                database: 0,
                time_ms: 0,
                position: trade as u64,
                hash: u64::from(content),
            });
        }
        let time_ms = self.time_ms(Instant::now());
        self.insert(Record {
            kind,
            content,
            time_ms,
            trade,
        });
    }

    fn insert(&mut self, record: Record) {
        self.ranges.add(self.base, record.trade);
        self.append(&record);
    }

    /// Adds the rows of a trade update, one behind the other.
    fn add_rows(
        &mut self,
        kind: Kind,
        begun_ms: u32,
        rows: impl ExactSizeIterator<Item = (Column, i64, u32)>,
    ) {
        self.updated_rows += rows.len() as u64;
        self.append(&Record {
            kind,
            content: 0,
            time_ms: begun_ms,
            trade: 0,
        });
        let time_ms = self.time_ms(Instant::now());
        for (column, trade, content) in rows {
            self.append(&Record {
                kind: Kind::row_of(column),
                content,
                time_ms,
                trade,
            });
        }
    }

    /// Milliseconds from the start of the run to this time.
    fn time_ms(&self, at: Instant) -> u32 {
        at.saturating_duration_since(self.started).as_millis() as u32
    }

    fn append(&mut self, record: &Record) {
        let written = self.writer.as_mut().map(|writer| writer.add(record));
        self.after(written);
    }

    /// Ends the file if it could not be written.
    fn after(&mut self, written: Option<io::Result<()>>) {
        if let Some(Err(error)) = written {
            self.error = Some(error.to_string());
            self.writer = None;
        }
    }
}

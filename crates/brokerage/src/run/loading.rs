//! Builds the database: rows by several threads, then keys, indexes and statistics.

use super::shard_link::ShardLink;
use crate::database::{Build, Database, Finished, Loader, finish};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::generator::Generator;
use crate::parallel::work_through;
use crate::row::RowSink;
use crate::schema::{TABLES, TableName};
use crate::statement::Dialect;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use workload::controller::link::ShardMessage;

/// Share of the estimated size that counts as built once all rows are loaded: about their share of
/// the time. The rest stands for indexes and statistics.
const ROWS_SHARE: f64 = 2.0 / 3.0;
/// Rows between two checks for a stop request.
const ROWS_PER_CHECK: u64 = 4_096;
/// Interval of such checks while indexes are created.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Builds the data set in an empty database. `is_created` is called when its tables are there.
///
/// # Errors
/// The database failed, or the run was stopped: see [`is_stop`].
pub fn build(
    database: &dyn Database,
    data_set: &DataSet,
    seed: u64,
    threads: usize,
    link: &ShardLink,
    is_created: &mut dyn FnMut() -> Result<(), DatabaseError>,
) -> Result<(), DatabaseError> {
    database.create(&Build::new(
        data_set.customers(),
        data_set.trade_days(),
        seed,
    ))?;
    is_created()?;
    let threads = threads.min(database.max_parallel_steps()).max(1);
    let generator = Generator::for_workers(*data_set, threads);
    let parts = parts(&generator, database.dialect());
    let total_bytes = data_set.estimated_bytes_of_all(database.dialect());
    let rows_bytes = (total_bytes as f64 * ROWS_SHARE) as u64;
    link.report(ShardMessage::ToHandle(total_bytes));
    let progress = Progress {
        link,
        done_bytes: AtomicU64::new(0),
    };
    load(database, &generator, &parts, threads, &progress)?;
    link.report(ShardMessage::OnStep("creating keys and indexes".to_owned()));
    let sink = |finished: &Finished<'_>| {
        let share = finished.done as f64 / finished.of.max(1) as f64;
        progress.set(rows_bytes + ((total_bytes - rows_bytes) as f64 * share) as u64);
        !link.orders().is_abandoned()
    };
    let finished = until_abandoned(database, &progress, || finish(database, threads, &sink));
    if link.orders().is_abandoned() {
        return Err(stopped());
    }
    finished?;
    database.mark_ready()
}

/// Runs `work` while a second thread checks for a stop request, which cancels the steps that are
/// running. Steps take long and report nothing before they end, so the progress is repeated
/// meanwhile.
fn until_abandoned<T>(
    database: &dyn Database,
    progress: &Progress<'_>,
    work: impl FnOnce() -> T,
) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                progress.add(0);
                if progress.link.orders().is_abandoned() {
                    // If this does not reach the server, the next check tries again.
                    let _ = database.cancel_steps();
                }
                std::thread::park_timeout(CHECK_INTERVAL);
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        looking.thread().unpark();
        done
    })
}

/// Whether the error is a stop request.
#[must_use]
pub fn is_stop(error: &DatabaseError) -> bool {
    *error == stopped()
}

pub(super) fn stopped() -> DatabaseError {
    DatabaseError::failed("loading", "the run was stopped")
}

/// Part of a table, with its share of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The table it belongs to.
    pub table: TableName,
    /// Number of the part, from 0.
    pub number: u32,
    /// Estimated bytes in the database, without indexes.
    bytes: u64,
    /// Estimated number of rows.
    rows: u64,
}

/// All parts, load unit by load unit: threads then work on different tables, and the tables of one
/// unit come one after the other. The first is one that needs the unit's trades executed, and while
/// one thread does that the others have the tables that do not need them.
#[must_use]
pub fn parts(generator: &Generator, dialect: Dialect) -> Vec<Part> {
    let data_set = generator.data_set();
    let units = TABLES.iter().map(|table| generator.parts(table.name)).max();
    let (mut following, mut names): (Vec<_>, Vec<_>) = TABLES
        .iter()
        .map(|table| table.name)
        .partition(|&table| Generator::follows_from_trades(table));
    names.splice(0..0, following.drain(..1));
    names.extend(following);
    let mut parts = Vec::new();
    for number in 0..units.unwrap_or(0) {
        for &table in &names {
            let of = generator.parts(table);
            if number < of {
                let whole_bytes = data_set.estimated_bytes(dialect, table) / u64::from(of);
                parts.push(Part {
                    table,
                    number,
                    bytes: (whole_bytes as f64 * ROWS_SHARE) as u64,
                    rows: (data_set.rows(table) / u64::from(of)).max(1),
                });
            }
        }
    }
    parts
}

struct Progress<'a> {
    link: &'a ShardLink,
    done_bytes: AtomicU64,
}

fn load(
    database: &dyn Database,
    generator: &Generator,
    parts: &[Part],
    threads: usize,
    progress: &Progress<'_>,
) -> Result<(), DatabaseError> {
    work_through(parts, threads, |parts| {
        let mut loader = database.loader()?;
        while let Some(part) = parts.take() {
            load_part(&mut *loader, generator, part, progress)?;
        }
        Ok(())
    })
}

fn load_part(
    loader: &mut dyn Loader,
    generator: &Generator,
    part: &Part,
    progress: &Progress<'_>,
) -> Result<(), DatabaseError> {
    loader.begin(part.table)?;
    let mut sink = ReportingSink {
        loader: &mut *loader,
        part,
        progress,
        rows: 0,
        reported_bytes: 0,
    };
    generator.write(part.table, part.number, &mut sink)?;
    let reported_bytes = sink.reported_bytes;
    progress.add(part.bytes.saturating_sub(reported_bytes));
    loader.end().map(drop)
}

impl Progress<'_> {
    /// Adds to the bytes done.
    fn add(&self, bytes: u64) {
        let done = self.done_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.link.report(ShardMessage::Progress(done));
    }

    /// Raises the bytes done to this.
    fn set(&self, bytes: u64) {
        let before = self.done_bytes.fetch_max(bytes, Ordering::Relaxed);
        self.link.report(ShardMessage::Progress(before.max(bytes)));
    }
}

/// A loader that reports progress.
struct ReportingSink<'a> {
    loader: &'a mut dyn Loader,
    part: &'a Part,
    progress: &'a Progress<'a>,
    rows: u64,
    reported_bytes: u64,
}

impl RowSink for ReportingSink<'_> {
    fn null(&mut self) {
        self.loader.null();
    }

    fn integer(&mut self, number: i64) {
        self.loader.integer(number);
    }

    fn text(&mut self, text: &str) {
        self.loader.text(text);
    }

    fn end_row(&mut self) -> Result<(), DatabaseError> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_PER_CHECK) {
            if self.progress.link.orders().is_abandoned() {
                return Err(stopped());
            }
            let share = self.rows as f64 / self.part.rows as f64;
            let due_bytes = (self.part.bytes as f64 * share.min(1.0)) as u64;
            let more = due_bytes.saturating_sub(self.reported_bytes);
            self.reported_bytes += more;
            self.progress.add(more);
        }
        self.loader.end_row()
    }
}

//! Building the house: rows by several threads, then keys, references and statistics.

use super::line::{Line, lock};
use crate::data::Generator;
use crate::database::{Build, Database, Finished, Loader, finish};
use crate::error::DatabaseError;
use crate::house::House;
use crate::row::RowSink;
use crate::schema::{TABLES, TableName};
use crate::statement::Dialect;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use workload::controller::link::News;

/// The part of the house that counts as built once all rows are in it: about their share of the
/// time. The rest stands for keys, references and statistics.
const ROWS_SHARE: f64 = 2.0 / 3.0;
/// Rows between two looks at whether to go on.
const LOOK_ROWS: u64 = 4_096;
/// How often somebody looks whether to go on while indexes are made.
const LOOK: Duration = Duration::from_millis(200);

/// Builds the house in a database where nothing of ours is.
///
/// # Errors
/// The database failed, or the run was stopped: [`is_stop`] tells.
pub fn build(
    database: &dyn Database,
    house: &House,
    seed: u64,
    threads: usize,
    line: &Line,
) -> Result<(), DatabaseError> {
    database.create(&Build::new(house.customers(), house.trade_days(), seed))?;
    let threads = threads.min(database.hands()).max(1);
    let generator = Generator::for_workers(*house, threads);
    let parts = parts(&generator, database.dialect());
    let house_bytes = house.estimated_bytes_of_all(database.dialect());
    let rows_bytes = (house_bytes as f64 * ROWS_SHARE) as u64;
    line.report(News::ToHandle(house_bytes));
    let progress = Progress {
        line,
        done_bytes: AtomicU64::new(0),
    };
    load(database, &generator, &parts, threads, &progress)?;
    line.report(News::Doing("making keys and indexes".to_owned()));
    let told = |finished: &Finished<'_>| {
        let share = finished.done as f64 / finished.of.max(1) as f64;
        progress.reach(rows_bytes + ((house_bytes - rows_bytes) as f64 * share) as u64);
        !line.orders().is_abandoned()
    };
    let finished = until_abandoned(database, &progress, || finish(database, threads, &told));
    if line.orders().is_abandoned() {
        return Err(stopped());
    }
    finished?;
    database.mark_ready()
}

/// Does this while somebody looks whether the build is to end: then the steps under way are ended,
/// and what comes of them does not matter. Steps take long and tell nothing before they end, so what
/// is left is told anew meanwhile.
fn until_abandoned<T>(
    database: &dyn Database,
    progress: &Progress<'_>,
    work: impl FnOnce() -> T,
) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                progress.tell(0);
                if progress.line.orders().is_abandoned() {
                    // If this does not reach the server, the next look asks again.
                    let _ = database.end_steps();
                }
                std::thread::park_timeout(LOOK);
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        looking.thread().unpark();
        done
    })
}

/// Whether an error says that the run was stopped.
#[must_use]
pub fn is_stop(error: &DatabaseError) -> bool {
    *error == stopped()
}

fn stopped() -> DatabaseError {
    DatabaseError::Failed {
        statement: "loading".to_owned(),
        message: "the run was stopped".to_owned(),
    }
}

/// Part of a table, with what it adds to the house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The table.
    pub table: TableName,
    /// Which of its parts, from 0.
    pub number: u32,
    /// About what it takes in the database, as far as it is there without its indexes.
    bytes: u64,
    /// About how many rows it has.
    rows: u64,
}

/// All parts, unit by unit: threads then work on different tables, and the tables of one unit of
/// customers come one after the other. The first is one for which the unit's trades are carried out,
/// and while one thread does that the others have the tables that do not need it.
#[must_use]
pub fn parts(generator: &Generator, dialect: Dialect) -> Vec<Part> {
    let house = generator.house();
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
                let whole_bytes = house.estimated_bytes(dialect, table) / u64::from(of);
                parts.push(Part {
                    table,
                    number,
                    bytes: (whole_bytes as f64 * ROWS_SHARE) as u64,
                    rows: (house.rows(table) / u64::from(of)).max(1),
                });
            }
        }
    }
    parts
}

struct Progress<'a> {
    line: &'a Line,
    done_bytes: AtomicU64,
}

fn load(
    database: &dyn Database,
    generator: &Generator,
    parts: &[Part],
    threads: usize,
    progress: &Progress<'_>,
) -> Result<(), DatabaseError> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        let loaded = database.loader().and_then(|mut loader| {
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                load_part(&mut *loader, generator, part, progress)?;
            }
            Ok(())
        });
        if let Err(error) = loaded {
            next.store(parts.len(), Ordering::Relaxed);
            lock(&failure).get_or_insert(error);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let failure = lock(&failure).take();
    failure.map_or(Ok(()), Err)
}

fn load_part(
    loader: &mut dyn Loader,
    generator: &Generator,
    part: &Part,
    progress: &Progress<'_>,
) -> Result<(), DatabaseError> {
    loader.begin(part.table)?;
    let mut told = Told {
        loader: &mut *loader,
        part,
        progress,
        rows: 0,
        told_bytes: 0,
    };
    generator.write(part.table, part.number, &mut told)?;
    let told_bytes = told.told_bytes;
    progress.tell(part.bytes.saturating_sub(told_bytes));
    loader.end().map(drop)
}

impl Progress<'_> {
    /// So many bytes more are done.
    fn tell(&self, bytes: u64) {
        let done = self.done_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.line.report(News::Progress(done));
    }

    /// So many bytes are done in all.
    fn reach(&self, bytes: u64) {
        let before = self.done_bytes.fetch_max(bytes, Ordering::Relaxed);
        self.line.report(News::Progress(before.max(bytes)));
    }
}

/// A loader that tells how far it has come.
struct Told<'a> {
    loader: &'a mut dyn Loader,
    part: &'a Part,
    progress: &'a Progress<'a>,
    rows: u64,
    told_bytes: u64,
}

impl RowSink for Told<'_> {
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
        if self.rows.is_multiple_of(LOOK_ROWS) {
            if self.progress.line.orders().is_abandoned() {
                return Err(stopped());
            }
            let share = self.rows as f64 / self.part.rows as f64;
            let due_bytes = (self.part.bytes as f64 * share.min(1.0)) as u64;
            let more = due_bytes.saturating_sub(self.told_bytes);
            self.told_bytes += more;
            self.progress.tell(more);
        }
        self.loader.end_row()
    }
}

//! The sampler: a thread with a session of its own.

use super::mariadb;
use super::other_databases::{self, DatabaseWork, OtherDatabases};
use super::settings;
use super::statistics::{self, CounterDeltas, Counters, Unsupported};
use super::tables;
use super::waits::Waits;
use crate::error::DatabaseError;
use crate::guarantees::AlteredTable;
use crate::parallel::lock;
use crate::run::context::RunContext;
use crate::session::Session;
use crate::statement::Dialect;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Sample interval of wait events.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which the database size is queried, which costs some servers time.
const SIZE_EVERY: Duration = Duration::from_secs(15);
/// Interval at which tables are examined, which takes more than a sample of wait events and changes slowly.
const TABLES_EVERY: Duration = Duration::from_secs(1);

/// Samples the server until the run ends.
pub struct ServerSampler {
    context: Arc<RunContext>,
    revive: Arc<dyn Fn() + Send + Sync>,
    is_measuring: AtomicBool,
    samples: Mutex<Samples>,
}

/// What was sampled during the measurement.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Wait events sampled during the measurement.
    pub waits: Waits,
    /// Differences of the server's counters.
    pub counted: CounterDeltas,
    /// Database size at the last query.
    pub size_bytes: Option<u64>,
    /// What the server did not guarantee at some moment of the load.
    pub not_guaranteed: BTreeSet<String>,
    /// Tables whose rows would not have survived a crash at some moment of the load.
    pub altered_tables: BTreeSet<AlteredTable>,
    /// What other databases of the server did.
    pub other_databases: Option<OtherDatabases>,
}

/// The counters at one time.
#[derive(Default, Clone)]
struct Reading {
    counters: Counters,
    databases: DatabaseWork,
}

impl ServerSampler {
    /// A sampler that has not started. It calls `revive` while the server is down.
    #[must_use]
    pub fn new(context: Arc<RunContext>, revive: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            context,
            revive,
            is_measuring: AtomicBool::new(false),
            samples: Mutex::default(),
        }
    }

    /// Starts or ends the measurement.
    pub fn set_measuring(&self, is_measuring: bool) {
        self.is_measuring.store(is_measuring, Ordering::Relaxed);
    }

    /// What was sampled so far.
    #[must_use]
    pub fn samples(&self) -> Samples {
        lock(&self.samples).clone()
    }

    /// Samples until the run ends.
    pub fn work(&self) {
        let has_server = self.context.database.dialect() != Dialect::Sqlite;
        let mut session: Option<Box<dyn Session>> = None;
        let mut first = None;
        let mut unsupported = Unsupported::default();
        let (mut sized, mut examined) = (None, None);
        while self.context.is_open() {
            thread::sleep(SAMPLE_INTERVAL);
            if lock(&self.context.outages).is_down() {
                (self.revive)();
            }
            let is_due = |at: &Instant| at.elapsed() >= SIZE_EVERY;
            if sized.as_ref().is_none_or(is_due) {
                sized = Some(Instant::now());
                if let Ok(size_bytes) = self.context.database.size_bytes() {
                    lock(&self.samples).size_bytes = Some(size_bytes);
                }
            }
            if has_server {
                let is_due = |at: &Instant| at.elapsed() >= TABLES_EVERY;
                let examines = examined.as_ref().is_none_or(is_due);
                // Without a server there is nothing to sample until it is back.
                match self.sample(&mut session, &mut first, &mut unsupported, examines) {
                    Ok(()) if examines => examined = Some(Instant::now()),
                    Ok(()) => {}
                    Err(_) => session = None,
                }
            } else if self.is_measuring.load(Ordering::Relaxed) {
                let reading = Reading {
                    counters: Counters::of_files(self.context.database.file_counters()),
                    ..Reading::default()
                };
                self.count(&mut first, &reading);
            }
        }
        if let Ok(size_bytes) = self.context.database.size_bytes() {
            lock(&self.samples).size_bytes = Some(size_bytes);
        }
    }

    fn sample(
        &self,
        session: &mut Option<Box<dyn Session>>,
        first: &mut Option<Reading>,
        unsupported: &mut Unsupported,
        examines_tables: bool,
    ) -> Result<(), DatabaseError> {
        if session.is_none() {
            *session = Some(self.context.database.connect()?);
        }
        let Some(session) = session else {
            return Ok(());
        };
        let session = &mut **session;
        let dialect = self.context.database.dialect();
        let mut missing = lock(&self.samples).not_guaranteed.clone();
        settings::sample(session, dialect, unsupported, &mut missing)?;
        lock(&self.samples).not_guaranteed = missing;
        if examines_tables {
            let mut altered = lock(&self.samples).altered_tables.clone();
            tables::sample(session, dialect, unsupported, &mut altered)?;
            lock(&self.samples).altered_tables = altered;
        }
        if !self.is_measuring.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut waits = lock(&self.samples).waits.clone();
        let databases = match dialect {
            Dialect::PostgreSql => other_databases::read(session, unsupported)?,
            Dialect::MariaDb | Dialect::Sqlite => DatabaseWork::default(),
        };
        let counters = match dialect {
            Dialect::MariaDb => mariadb::sample(session, &mut waits, unsupported)?,
            Dialect::PostgreSql | Dialect::Sqlite => {
                statistics::sample(session, &mut waits, unsupported)?;
                statistics::read(session, unsupported)?
            }
        };
        lock(&self.samples).waits = waits;
        let reading = Reading {
            counters,
            databases,
        };
        self.count(first, &reading);
        Ok(())
    }

    /// Notes what was counted since the first reading of the measurement.
    fn count(&self, first: &mut Option<Reading>, last: &Reading) {
        let first = first.get_or_insert_with(|| last.clone());
        let mut samples = lock(&self.samples);
        samples.counted = statistics::between(&first.counters, &last.counters);
        samples.other_databases = other_databases::between(&first.databases, &last.databases);
    }
}

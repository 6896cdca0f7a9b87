//! The watcher: a thread with a session of its own that asks the server now and then.

use super::mariadb;
use super::statistics::{self, Counted, Reading};
use super::waits::Waits;
use crate::error::DatabaseError;
use crate::run::floor::Floor;
use crate::run::line::lock;
use crate::session::Session;
use crate::statement::Dialect;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How often sessions are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How often the database is asked for its size, which some must work out.
const SIZE_EVERY: Duration = Duration::from_secs(15);

/// Watches the server while the floor is open.
pub struct Watcher {
    floor: Arc<Floor>,
    revive: Arc<dyn Fn() + Send + Sync>,
    is_measuring: AtomicBool,
    seen: Mutex<Seen>,
}

/// What was seen during what is measured.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// What sessions were found doing.
    pub waits: Waits,
    /// What the server counted.
    pub counted: Counted,
    /// Bytes of the database when it was last asked.
    pub size_bytes: Option<u64>,
}

impl Watcher {
    /// A watcher that has not begun. It calls `revive` while the server does not serve.
    #[must_use]
    pub fn new(floor: Arc<Floor>, revive: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            floor,
            revive,
            is_measuring: AtomicBool::new(false),
            seen: Mutex::default(),
        }
    }

    /// Begins or ends what is measured.
    pub fn set_measuring(&self, is_measuring: bool) {
        self.is_measuring.store(is_measuring, Ordering::Relaxed);
    }

    /// What was seen so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }

    /// Watches until the floor closes.
    pub fn work(&self) {
        let asks = self.floor.database.dialect() != Dialect::Sqlite;
        let mut session: Option<Box<dyn Session>> = None;
        let mut first: Option<Reading> = None;
        let mut sized = None;
        while self.floor.is_open() {
            thread::sleep(LOOK);
            if lock(&self.floor.outages).is_down() {
                (self.revive)();
            }
            let is_due = |at: &Instant| at.elapsed() >= SIZE_EVERY;
            if sized.as_ref().is_none_or(is_due) {
                sized = Some(Instant::now());
                if let Ok(size_bytes) = self.floor.database.size_bytes() {
                    lock(&self.seen).size_bytes = Some(size_bytes);
                }
            }
            if asks && self.is_measuring.load(Ordering::Relaxed) {
                // Without a server there is nothing to see until it returns.
                if self.look(&mut session, &mut first).is_err() {
                    session = None;
                }
            }
        }
        if let Ok(size_bytes) = self.floor.database.size_bytes() {
            lock(&self.seen).size_bytes = Some(size_bytes);
        }
    }

    fn look(
        &self,
        session: &mut Option<Box<dyn Session>>,
        first: &mut Option<Reading>,
    ) -> Result<(), DatabaseError> {
        if session.is_none() {
            *session = Some(self.floor.database.connect()?);
        }
        let Some(session) = session else {
            return Ok(());
        };
        let mut waits = lock(&self.seen).waits.clone();
        let session = &mut **session;
        let reading = match self.floor.database.dialect() {
            Dialect::MariaDb => mariadb::look(session, &mut waits)?,
            Dialect::PostgreSql | Dialect::Sqlite => {
                statistics::look(session, &mut waits)?;
                statistics::read(session)?
            }
        };
        let begun = first.get_or_insert_with(|| reading.clone());
        let mut seen = lock(&self.seen);
        seen.waits = waits;
        seen.counted = statistics::between(begun, &reading);
        Ok(())
    }
}

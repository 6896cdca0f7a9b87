//! Passive copies of a database, kept up to date by its log, as Exchange keeps them.
//!
//! A copy is seeded from the open database, page by page (`seed`). From then on every log file that is full is read,
//! verified, written to the copy's directory (`ship`) and replayed there by the code of recovery
//! (`replay`). Both are tasks beside the database, which never waits for them. When the database has been
//! closed, the copy is brought to the same position of the log and compared with it, page by page
//! (`compare`).
//!
//! A copy whose database is gone is recovered up to the end of the log that was shipped ([`activate()`]).
//!
//! If anything fails, at the copy or where the log is read, replication ends and says why
//! ([`PassiveCopy::suspension`]); the database goes on.

mod activate;
mod compare;
mod progress;
mod replay;
mod seed;
mod ship;

pub use activate::{activate, is_passive_copy};
pub use compare::Comparison;
pub use progress::CopyState;

use crate::error::EngineError;
use crate::format::database_header::DatabaseHeader;
use crate::log::FullFiles;
use crate::position::LogPosition;
use crate::settings::EngineSettings;
use progress::Progress;
use replay::Replay;
use runtime::{Directory, Handle, IoObserver, JoinHandle};
use std::rc::Rc;

/// Where a passive copy lies and how it is replayed.
pub struct CopyPlace<'a, D: Directory> {
    /// The directory of its database file.
    pub directory: &'a D,
    /// The directory of its log files; may be the same.
    pub log_directory: &'a D,
    /// The name of its database file.
    pub name: &'a str,
    /// The settings of its replay: a cache and a checkpoint depth of its own.
    pub settings: EngineSettings,
    /// Is notified of the requests to its files.
    pub observer: Rc<dyn IoObserver>,
}

/// What is known of a database when a copy of it has been seeded.
pub(crate) struct Seeded<D: Directory> {
    /// The header of the copy.
    pub(crate) header: DatabaseHeader,
    /// Replay begins here.
    pub(crate) checkpoint: LogPosition,
    /// The full log files of the database from there on.
    pub(crate) files: FullFiles<D>,
    /// What no transaction or cleanup of the database needs any more, if it is still open.
    pub(crate) not_needed: NotNeeded,
}

/// Gives a position of the log, and one before it that nothing begun before the first needs to go back
/// beyond; `None` when the database is gone.
pub(crate) type NotNeeded = Box<dyn Fn() -> Option<(LogPosition, LogPosition)>>;

/// A passive copy of an open database. Dropping it ends its replication.
pub struct PassiveCopy<D: Directory> {
    handle: Handle,
    directory: D,
    name: String,
    progress: Rc<Progress>,
    shipping: JoinHandle<FullFiles<D>>,
    replay: JoinHandle<Replay<D>>,
}

impl<D: Directory> PassiveCopy<D> {
    /// Starts shipping and replay.
    pub(crate) async fn start(
        handle: &Handle,
        place: &CopyPlace<'_, D>,
        seeded: Seeded<D>,
    ) -> Result<Self, EngineError> {
        let Seeded { files, .. } = &seeded;
        let progress = Progress::new(files.next_generation(), Rc::clone(files.log()));
        let replay = Replay::new(handle, place, &seeded).await?;
        let to = ship::ShipTo {
            handle: handle.clone(),
            directory: place.log_directory.clone(),
            observer: Rc::clone(&place.observer),
        };
        let shipped = ship::ship(seeded.files, to, seeded.not_needed, Rc::clone(&progress));
        Ok(Self {
            handle: handle.clone(),
            directory: place.directory.clone(),
            name: place.name.to_owned(),
            shipping: handle.spawn(shipped),
            replay: handle.spawn(replay::replay(replay, Rc::clone(&progress))),
            progress,
        })
    }

    /// How far it has come.
    #[must_use]
    pub fn state(&self) -> CopyState {
        self.progress.state()
    }

    /// Why replication has ended before its time, as a sentence; `None` when it has not.
    #[must_use]
    pub fn suspension(&self) -> Option<String> {
        self.progress.suspension()
    }

    /// Brings the copy of a database that has been closed to the end of its log, and compares both. `active`
    /// is the directory of the database and the name of its file. `progress` hears the bytes read of either,
    /// and says whether to go on.
    ///
    /// # Errors
    /// Why the copy could not be brought to the end of the log, or one of the two could not be read.
    pub async fn catch_up(
        mut self,
        active: (&D, &str),
        progress: impl Fn(u64) -> bool,
    ) -> Result<Comparison, EngineError> {
        let begun_ns = self.handle.now_ns();
        let files = (&mut self.shipping).await;
        let mut replay = (&mut self.replay).await;
        if let Some(error) = self.progress.failure() {
            return Err(error);
        }
        let last = files.last().await?;
        let generation = last.generation;
        replay.ship_last(&last).await?;
        replay.verify_log(files.log().durable()).await?;
        let end = replay.replay_last(generation).await?;
        let caught_up_s = (self.handle.now_ns() - begun_ns) as f64 / 1e9;
        let same_position = (end.generation, end.next_segment) == files.end();
        let copy = (&self.directory, self.name.as_str());
        let page_bytes = replay.page_bytes();
        let found = replay.verify_copies().await?;
        drop(replay);
        let compared = compare::compare(active, copy, page_bytes, progress).await?;
        Ok(Comparison {
            caught_up_s,
            same_position,
            files: found,
            ..compared
        })
    }
}

impl<D: Directory> Drop for PassiveCopy<D> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

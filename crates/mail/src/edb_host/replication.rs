//! Passive copies of the databases of a shard.

use super::{EdbHost, engine_settings, file_name};
use crate::edb_store::{EdbStore, failure_of};
use crate::session::MailDatabase;
use crate::state_file::DatabaseState;
use config::ByteSize;
use edb::database::BackupReads;
use edb::passive::{Comparison, CopyPlace, CopyState, PassiveCopy};
use edb::{Damage, EngineSettings};
use measure::result::IntegrityClass;
use measure::sample::CopyQueues;
use measure::units::end_sentence;
use runtime::Directory;
use workload::controller::host::{ComparisonReport, CopyObservers, Progress, SeedReport};
use workload::failure::Failure;

/// What is being done, for messages.
const COMPARING: &str = "comparing the passive copy";
/// The same of making one.
const SEEDING: &str = "seeding the passive copy";
/// The same of keeping one up to date.
const FOLLOWING: &str = "keeping the passive copy up to date";

/// Fewer pages leave the cache of a copy nothing to evict.
const FEWEST_CACHE_PAGES: u64 = 64;

/// A passive copy, and what became of it.
pub(super) struct Passive<D: Directory> {
    /// `None`: there is none, or it was compared.
    copy: Option<PassiveCopy<D>>,
    /// How far it had come when the load ended.
    at_end: Option<CopyState>,
    /// Whether it was said that it does not follow any more.
    is_said: bool,
    /// Why it could not be made.
    failure: Option<Failure>,
}

/// A database as sessions use it.
type Open<D> = MailDatabase<EdbStore<D>>;

impl<D: Directory> EdbHost<D> {
    /// As [`workload::controller::host::DatabaseHost::seed`]. The copy gets the state of the database, too, so
    /// that a run can go on it.
    pub(super) async fn seed_copy(
        &self,
        database: usize,
        open: &Open<D>,
        observers: CopyObservers,
        progress: Progress,
    ) -> Result<SeedReport, Failure> {
        if !self.passive_places.contains_key(&database) {
            return Err(Failure::unsupported("replicating a database"));
        }
        let begun_ns = self.handle.now_ns();
        let mut report = SeedReport {
            path: self.path_of_copy(database),
            ..SeedReport::default()
        };
        let seeded = self.try_seed(database, open, observers, progress).await;
        report.seconds = (self.handle.now_ns() - begun_ns) as f64 / 1e9;
        let (copy, failure) = match seeded {
            Ok((bytes, copy)) => {
                report.bytes = bytes;
                if copy.is_none() {
                    report.problem = "Seeding was stopped before its end.".to_owned();
                }
                (copy, None)
            }
            Err(failure) => {
                report.problem = not_seeded(&failure);
                (None, Some(failure))
            }
        };
        let passive = Passive {
            copy,
            at_end: None,
            is_said: false,
            failure,
        };
        self.passive.borrow_mut().insert(database, passive);
        Ok(report)
    }

    /// Bytes of pages, and the copy unless seeding was stopped; or what went wrong.
    async fn try_seed(
        &self,
        database: usize,
        open: &Open<D>,
        observers: CopyObservers,
        progress: Progress,
    ) -> Result<(u64, Option<PassiveCopy<D>>), Failure> {
        let place = &self.passive_places[&database];
        let reads = &self.plan.profile.backup;
        let reads = BackupReads {
            pages: reads.pages_per_read,
            outstanding: reads.reads_outstanding,
        };
        let name = file_name(database);
        let to = CopyPlace {
            directory: &place.data,
            log_directory: &place.log,
            name: &name,
            settings: self.settings_of_copy(),
            observer: observers.copy,
        };
        let seeded = open
            .store()
            .database()
            .seed(&to, reads, observers.active, |bytes| progress(bytes));
        let seeded = seeded.await;
        let file = self.path_of_copy(database);
        let (pass, copy) = seeded.map_err(|error| Failure::of_engine(&error, &file, SEEDING))?;
        if let Some(state) = DatabaseState::read(&self.place(database).data).await? {
            let state = DatabaseState {
                is_passive_copy: true,
                ..state
            };
            state.write(&place.data).await?;
        }
        Ok((pass.bytes, copy))
    }

    fn path_of_copy(&self, database: usize) -> String {
        let place = &self.passive_places[&database];
        format!("{}/{}", place.data.describe(), file_name(database))
    }

    fn settings_of_copy(&self) -> EngineSettings {
        let profile = &self.plan.profile;
        let mut settings = engine_settings(profile);
        settings.log_replication_readers = 0;
        let (copies, engine) = (&profile.passive_copies, &mut settings.engine);
        engine.checkpoint_depth = copies.checkpoint_depth.max(engine.log_file_size);
        let cache = engine.cache_size_per_database.bytes() as f64 * copies.cache_percent / 100.0;
        let least = FEWEST_CACHE_PAGES * engine.page_size.bytes();
        engine.cache_size_per_database = ByteSize((cache as u64).max(least));
        engine.cache_minimum_per_database = None;
        settings
    }

    /// As [`workload::controller::host::DatabaseHost::take_suspension`].
    pub(super) fn suspension(&self, database: usize) -> Option<String> {
        let mut passive = self.passive.borrow_mut();
        let passive = passive.get_mut(&database).filter(|one| !one.is_said)?;
        let why = passive.copy.as_ref()?.suspension()?;
        passive.is_said = true;
        Some(end_sentence(format!("{}: {why}", file_name(database))))
    }

    /// As [`workload::controller::host::DatabaseHost::copy_queues`].
    pub(super) fn queues_of_copy(&self, database: usize) -> Option<CopyQueues> {
        let passive = self.passive.borrow();
        let state = passive.get(&database)?.copy.as_ref()?.state();
        Some(CopyQueues {
            copy: u64::from(state.copy_queue),
            replay: u64::from(state.replay_queue),
        })
    }

    /// Takes note of how far the copy has come.
    pub(super) fn note_end_of_load(&self, database: usize) {
        if let Some(passive) = self.passive.borrow_mut().get_mut(&database) {
            passive.at_end = passive.copy.as_ref().map(PassiveCopy::state);
        }
    }

    /// As [`workload::controller::host::DatabaseHost::compare_copy`].
    pub(super) async fn compare_with_copy(
        &self,
        database: usize,
        progress: Progress,
    ) -> Option<ComparisonReport> {
        let (copy, at_end, failure) = {
            let mut passive = self.passive.borrow_mut();
            let passive = passive.get_mut(&database)?;
            let at_end = passive.at_end.unwrap_or_default();
            (passive.copy.take(), at_end, passive.failure.take())
        };
        if let Some(failure) = failure {
            return Some(ComparisonReport {
                problem: not_seeded(&failure),
                failure: Some(failure),
                ..ComparisonReport::default()
            });
        }
        let copy = copy?;
        let mut report = ComparisonReport {
            shipped_log_files: u64::from(at_end.shipped),
            replayed_log_files: u64::from(at_end.replayed),
            copy_queue: queue(at_end.copy_queue, at_end.longest_copy_queue),
            replay_queue: queue(at_end.replay_queue, at_end.longest_replay_queue),
            ..ComparisonReport::default()
        };
        let suspended = copy.suspension();
        let (place, name) = (self.place(database), file_name(database));
        let compared = copy.catch_up((&place.data, &name), |bytes| progress(bytes));
        match (compared.await, suspended) {
            (Ok(found), _) => self.enter(database, &found, &mut report),
            (Err(error), suspended) => {
                let why = suspended.unwrap_or_else(|| {
                    format!("The copy could not be brought to the end of the log: {error}")
                });
                report.problem = end_sentence(why);
                let file = self.path_of_copy(database);
                report.failure = Some(Failure::of_engine(&error, &file, FOLLOWING));
            }
        }
        Some(report)
    }

    fn enter(&self, database: usize, found: &Comparison, report: &mut ComparisonReport) {
        report.caught_up_s = Some(found.caught_up_s);
        report.wrong_pages = found.wrong_pages;
        report.different_pages = found.different_pages;
        report.same_log_position = Some(found.same_position);
        if found.stopped {
            report.problem = "The comparison was stopped before its end.".to_owned();
        } else {
            report.compared_pages = Some(found.pages);
        }
        report.failure = self.difference(database, found);
    }

    /// The data error that a difference is.
    fn difference(&self, database: usize, found: &Comparison) -> Option<Failure> {
        let file = self.path_of_copy(database);
        let failure = |class, error: &str| Failure::of_data(class, &file, COMPARING, error);
        if let Some(page) = found.first_different {
            let error = format!(
                "{} of {} pages of the passive copy differ from those of its database, {} of them with a \
                 wrong checksum",
                found.different_pages, found.pages, found.wrong_pages
            );
            return Some(Failure {
                page: Some(u64::from(page)),
                ..failure(IntegrityClass::Contents, &error)
            });
        }
        if !found.same_position {
            let error =
                "the log of the passive copy ends at another position than that of its database";
            return Some(failure(IntegrityClass::Log, error));
        }
        let first = found.files.first()?.clone();
        let mut failure = failure_of(Damage::File(first), COMPARING);
        if found.files.len() > 1 {
            failure.error = format!(
                "{}; there are {} findings in header, checkpoint and log of the passive copy",
                failure.error,
                found.files.len()
            );
        }
        Some(failure)
    }
}

fn not_seeded(failure: &Failure) -> String {
    end_sentence(format!("The copy could not be seeded: {failure}"))
}

/// A queue at the end, and at its longest.
fn queue(end: u32, longest: u32) -> (u64, u64) {
    (u64::from(end), u64::from(longest))
}

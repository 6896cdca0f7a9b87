//! Opening an existing database, with recovery if it was not closed properly.

use super::parts::{LateLog, Parts};
use super::{Database, LOG_PREFIX};
use crate::cache::Cache;
use crate::checkpoint::CheckpointFile;
use crate::damage::Damage;
use crate::engine::{Core, SharedState};
use crate::error::EngineError;
use crate::format::database_header::{
    DatabaseHeader, DatabaseState, HeaderLogPosition, TimeAndPosition,
};
use crate::format::layout::DATABASE_ROOT;
use crate::integrity::{
    DamageClass, DbtimeRange, FileClass, FileFinding, FilePart, Persistence, VersionTable,
};
use crate::log::{
    KnownLog, Log, LogError, LogReader, end_with_last_committed, rebuild_first_header,
};
use crate::position::LogPosition;
use crate::recovery::{Recovery, RecoveryReport};
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::settings::{EngineSettings, TornPages};
use crate::space::{self, SpaceKind};
use crate::store::FileStore;
use crate::verification::{StoredVersions, half_written, versions_file};
use runtime::{Directory, File, Handle, IoCause, IoObserver};
use std::rc::Rc;

impl<D: Directory> Database<D> {
    /// Opens a database. If it was not closed properly, the log is redone from the checkpoint on and
    /// transactions without a commit are taken back.
    ///
    /// # Errors
    /// If the files are no database with its log, are damaged beyond what the log can repair, or the
    /// storage fails.
    pub async fn open(
        handle: &Handle,
        database_directory: &D,
        name: &str,
        log_directory: &D,
        settings: EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Result<(Self, RecoveryReport), EngineError> {
        let file = (database_directory, name);
        let parts = Parts::new(handle, file, log_directory, &settings, observer)?;
        parts.open().await
    }

    /// The same of a passive copy that is activated ([`crate::passive::activate`]). Its file may end before the
    /// last page that the log has registered: it has the pages that were written by then.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_passive_copy(
        handle: &Handle,
        database_directory: &D,
        name: &str,
        log_directory: &D,
        settings: EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Result<(Self, RecoveryReport), EngineError> {
        let file = (database_directory, name);
        let mut parts = Parts::new(handle, file, log_directory, &settings, observer)?;
        parts.is_passive_copy = true;
        parts.open().await
    }
}

/// When a database was not closed properly, a page that is later than everything that was read of the
/// log shows that the storage lost the end of it.
fn of_lost_end(error: EngineError) -> EngineError {
    let EngineError::Page(page) = &error else {
        return error;
    };
    match page.finding() {
        Some(finding) if finding.class == DamageClass::FromTheFuture => EngineError::LogEndLost {
            file: page.file.clone(),
            evidence: format!(
                "page {} is later than the last change in the log",
                page.page
            ),
        },
        _ => error,
    }
}

/// What is known of the log before it is read.
struct LogStart<D: Directory> {
    reader: LogReader<D>,
    /// Pages are redone from here on.
    checkpoint: LogPosition,
    /// What is wrong with the checkpoint file.
    damaged_checkpoint: Option<FileFinding>,
    /// What was wrong with the header of the file that was written last, which was written again.
    damaged_log: Option<FileFinding>,
}

impl<D: Directory> Parts<'_, D> {
    async fn open(&self) -> Result<(Database<D>, RecoveryReport), EngineError> {
        let started_ns = self.handle.now_ns();
        let file = self.database_directory.open(self.name).await?;
        let (header, damaged_header) = self.read_header(&file, &file.name()).await?;
        let was_dirty = header.state != DatabaseState::Clean;
        let opened = self.open_with(file, header).await;
        let (database, mut report) = match opened {
            Err(error) if was_dirty => {
                let (directory, error) = (self.database_directory, of_lost_end(error));
                return Err(half_written::explain(directory, self.name, error).await);
            }
            Err(EngineError::Log(error)) => return Err(self.of_closed(error).into()),
            opened => opened?,
        };
        report.damaged_header = damaged_header;
        report.was_clean = !was_dirty;
        report.seconds = (self.handle.now_ns() - started_ns) as f64 / 1e9;
        Ok((database, report))
    }

    /// A closed database needs none of its log, so what is wrong with it only stands in the way.
    fn of_closed(&self, error: LogError) -> LogError {
        match error {
            LogError::MissingGeneration { .. }
            | LogError::Damaged { .. }
            | LogError::Foreign { .. } => LogError::OfClosed {
                error: Box::new(error),
                prefix: LOG_PREFIX.to_owned(),
                directory: self.log_directory.describe(),
            },
            error => error,
        }
    }

    async fn open_with(
        &self,
        file: D::File,
        header: DatabaseHeader,
    ) -> Result<(Database<D>, RecoveryReport), EngineError> {
        let file_name = file.name();
        let was_dirty = header.state != DatabaseState::Clean;
        let range = DbtimeRange::of_existing(header.signature, header.dbtime);
        // Only a closed database has nothing later on the disk than its header says.
        let newest = match header.state {
            DatabaseState::Clean => header.dbtime,
            _ => u64::MAX,
        };
        let store = self.store(file, range, newest);
        let versions = Rc::clone(store.versions());
        let (missing_versions, damaged_versions) =
            self.load_versions(&versions, &header, &file_name).await?;
        let pages_at_close = versions.last_page();
        let write_ahead = Rc::new(LateLog::default());
        let shared = SharedState::new(header.dbtime, header.last_object_id);
        let cache = Cache::new(self.handle, self.settings, store, write_ahead.clone());
        let start = self.find_log(&header, &file_name).await?;
        let of_start = start.as_ref();
        let damaged_checkpoint = of_start.and_then(|start| start.damaged_checkpoint.clone());
        let damaged_log = of_start.and_then(|start| start.damaged_log.clone());
        let checkpoint = start
            .as_ref()
            .map_or(LogPosition::START, |start| start.checkpoint);
        let with_images = self.settings.engine.torn_pages == TornPages::LogImages;
        let known = (checkpoint, header.dbtime);
        let mut recovery = Recovery::new(&cache, &file_name, known, with_images);
        if self.is_passive_copy {
            recovery.set_extension_pages(self.settings.engine.extension_pages);
        }
        cache.store().set_reads_once(with_images);
        let log = match start {
            None => self.new_log().await?,
            Some(start) => {
                self.redo(start, &header, &mut recovery, &cache, &write_ahead)
                    .await?
            }
        };
        write_ahead.set(log.clone());
        self.log_images(&cache, &log);
        recovery.redo_kept().await?;
        let mut outcome = recovery.finish()?;
        shared.dbtime.set(header.dbtime.max(outcome.dbtime));
        cache.store().set_reads_once(false);
        versions.set_range(range, shared.dbtime.get());
        let open = outcome.hold(&mut shared.transactions.borrow_mut());
        let checkpoint_parts = self
            .checkpoint_parts(&cache, &log, &shared, header, checkpoint)
            .await?;
        let attach = TimeAndPosition {
            time: log.time(),
            position: HeaderLogPosition::from_stream(log.end().0, log.file_size_bytes()),
        };
        // From here on what is stored of the versions may be out of date.
        StoredVersions::remove(self.database_directory, self.name).await?;
        let dirty = checkpoint_parts.headers.update(|header| {
            let generation = match checkpoint {
                LogPosition::START => log.generation(),
                position => position.generation(log.file_size_bytes()),
            };
            header.state = DatabaseState::Dirty;
            header.log_signature = log.signature();
            header.attach = attach;
            header.detach = TimeAndPosition::default();
            header.dbtime = shared.dbtime.get();
            header.lowest_log_needed = generation;
            header.highest_log_needed = log.generation();
            header.highest_log_committed = log.generation();
        });
        dirty.await?;
        let core = Core::new(self.handle, self.settings, cache, log, shared);
        core.measure_file(pages_at_close, self.is_passive_copy)
            .await?;
        let mut report = outcome.report;
        report.undone_transactions = open.len() as u64;
        let skipped = usize::from(is_seeded(SeededBug::RecoveryUndoesAllButOne));
        for transaction in open.into_iter().skip(skipped) {
            core.roll_back(transaction).await?;
        }
        core.log.make_durable(core.log.end()).await?;
        if was_dirty {
            // Pages that the power cut has torn lie repaired in the cache. Whoever reads the disk from
            // here on must not find them torn.
            core.cache.flush_all().await?;
            core.cache.sync().await?;
            half_written::remove_note(self.database_directory, self.name).await?;
        }
        core.load_catalog().await?;
        let database = Database::start(core, checkpoint_parts, self.place());
        report.missing_versions = missing_versions;
        report.damaged_versions = damaged_versions;
        report.damaged_checkpoint = damaged_checkpoint;
        // No power cut leaves it so: it is durable before the file is used.
        if let Some(damage) = &damaged_log {
            database.add_damage(Damage::File(damage.clone()));
        }
        report.damaged_log = damaged_log;
        Ok((database, report))
    }

    /// Takes over the page versions that were stored when the database was closed; says why there
    /// are none, if so, and what is wrong with them.
    async fn load_versions(
        &self,
        versions: &VersionTable,
        header: &DatabaseHeader,
        file_name: &str,
    ) -> Result<(Option<String>, Option<FileFinding>), EngineError> {
        if header.state != DatabaseState::Clean {
            return Ok((
                Some("the database had not been closed properly".to_owned()),
                None,
            ));
        }
        let stored = StoredVersions::read(self.database_directory, self.name, header).await?;
        let missing = stored.missing_because(self.name);
        let damage = stored.damage(&self.database_directory.describe(), self.name);
        match stored {
            StoredVersions::OfAnotherState {
                dbtime,
                is_same: true,
            } if dbtime > header.dbtime => {
                let stored_in = versions_file(self.name);
                return Err(EngineError::NotADatabase {
                    file: file_name.to_owned(),
                    reason: format!(
                        "its header is of database time {}, but {stored_in}, which was written when \
                         it was closed, of the later time {dbtime}: the storage lost the write of \
                         the header, or the file was replaced by an older copy; if you put an older \
                         copy there on purpose, remove {stored_in}",
                        header.dbtime
                    ),
                });
            }
            StoredVersions::Found(found) => versions.set_versions(found),
            _ => {}
        }
        Ok((missing, damage))
    }

    /// Finds the log of the database; `None` if there is none and none is needed.
    async fn find_log(
        &self,
        header: &DatabaseHeader,
        file_name: &str,
    ) -> Result<Option<LogStart<D>>, EngineError> {
        let refuse = |reason: String| EngineError::Recovery {
            file: file_name.to_owned(),
            reason,
        };
        let observer = || Rc::clone(&self.observer);
        let checkpoint =
            CheckpointFile::open(self.handle, self.log_directory, LOG_PREFIX, observer());
        let copies = checkpoint.await?.read_copies().await?;
        let is_ours = |signature| signature == header.log_signature;
        let checkpoint = copies.latest();
        let checkpoint = checkpoint.filter(|checkpoint| is_ours(checkpoint.signature));
        let mut position = checkpoint.map_or(LogPosition::START, |checkpoint| checkpoint.position);
        let end = header.detach.position;
        let was_closed =
            header.state == DatabaseState::Clean && end != HeaderLogPosition::default();
        let mut damaged_checkpoint = match header.state {
            DatabaseState::Clean if was_closed => {
                copies.compare_with_close(header.log_signature, end)
            }
            _ => None,
        };
        if let (true, Some(_), Some(checkpoint)) = (was_closed, &damaged_checkpoint, checkpoint) {
            // The files from an older checkpoint on may have been used again since.
            position = LogPosition(end.to_stream(checkpoint.log_file_size_bytes));
        }
        // From the beginning of the file the checkpoint is in: the header states the database time
        // as of some moment when the checkpoint was in that file.
        let from = checkpoint.map_or(LogPosition::START, |checkpoint| {
            let bytes = checkpoint.log_file_size_bytes;
            LogPosition::new(position.generation(bytes), 0, bytes)
        });
        if header.state == DatabaseState::Dirty {
            let known = (header.log_signature, header.highest_log_committed);
            end_with_last_committed(self.log_directory, LOG_PREFIX, known).await?;
        }
        let known = KnownLog {
            signature: header.log_signature,
            page_size_bytes: header.page_size_bytes as usize,
            database: self.name.to_owned(),
        };
        let rebuilt = rebuild_first_header(self.log_directory, LOG_PREFIX, known).await?;
        let reader = LogReader::open(
            self.handle,
            self.log_directory,
            LOG_PREFIX,
            from,
            observer(),
        );
        let mut reader = reader.await?;
        let damaged_log = |reader: &LogReader<D>| rebuilt.or(reader.damaged_header().cloned());
        // Log files are removed only when a checkpoint has been written.
        let begin = reader.as_ref().map_or(0, LogReader::oldest_generation);
        // Replication makes the checkpoint file of a passive copy, and may not have come to it.
        if header.state == DatabaseState::Dirty && !self.is_passive_copy {
            damaged_checkpoint = copies.unusable(header.log_signature, begin > 1);
        }
        let mut is_unused = false;
        if let Some(reader) = &mut reader
            && !is_ours(reader.signature())
            && header.state == DatabaseState::Clean
        {
            // Made when the database was to be opened for the first time, and no more.
            is_unused = reader.current_generation() == 1 && reader.next().await?.is_none();
        }
        match (reader, header.state) {
            (Some(reader), _) if is_unused || is_ours(reader.signature()) => Ok(Some(LogStart {
                damaged_log: damaged_log(&reader),
                reader,
                checkpoint: position,
                damaged_checkpoint: damaged_checkpoint.filter(|_| !is_unused),
            })),
            (None, DatabaseState::Clean) => Ok(None),
            (None, _) => Err(refuse(format!(
                "it was not closed properly and its log is missing in {}; restore the log files",
                self.log_directory.describe()
            ))),
            (Some(_), _) => Err(refuse(format!(
                "the log in {} belongs to another database; name the directory of this database's log",
                self.log_directory.describe()
            ))),
        }
    }

    async fn new_log(&self) -> Result<Log, EngineError> {
        let settings = self.log_settings(self.signature("log"));
        let observer = Rc::clone(&self.observer);
        Ok(Log::create(self.handle, self.log_directory, &settings, observer).await?)
    }

    /// Reads the log to its end, redoing what it says, and opens it for what comes.
    async fn redo(
        &self,
        mut start: LogStart<D>,
        header: &DatabaseHeader,
        recovery: &mut Recovery<D>,
        cache: &Cache<crate::tree::Page, FileStore<D::File>>,
        write_ahead: &LateLog,
    ) -> Result<Log, EngineError> {
        while let Some((span, record)) = start.reader.next().await? {
            if header.state == DatabaseState::Clean {
                recovery.note_clean(&record)?;
                continue;
            }
            write_ahead.set_redone(span.end);
            recovery.read(span, record).await?;
            cache.check()?;
        }
        let Some(end) = start.reader.end() else {
            panic!("a reader that is done knows where the log ends");
        };
        if header.state != DatabaseState::Clean
            && let Some(evidence) = end.missing_before(start.checkpoint)
        {
            return Err(EngineError::LogEndLost {
                file: cache.store().file().name(),
                evidence,
            });
        }
        recovery.set_generations(end.generation, end.file_size_bytes);
        let mut settings = self.log_settings(end.signature);
        settings.needed_from_generation = start.checkpoint.generation(end.file_size_bytes);
        let observer = Rc::clone(&self.observer);
        Ok(Log::open(self.handle, self.log_directory, &settings, end, observer).await?)
    }
}

impl<D: Directory> Core<D> {
    /// Reads how large the database is, and makes the file as long as it must be. It is long enough,
    /// unless the storage has lost its end: pages are registered only after the file has them, and
    /// `pages_at_close` are those that it is known to have had, 0 if that is not known. The file of a passive
    /// copy only becomes as long as it must be here.
    async fn measure_file(
        &self,
        pages_at_close: u32,
        is_passive_copy: bool,
    ) -> Result<(), EngineError> {
        let owned = self.read(|step| {
            let header = space::space_header(step, DATABASE_ROOT.root)?;
            let SpaceKind::Multiple { owned_root } = header.kind else {
                let reason = "the database root has no space trees";
                return Err(EngineError::damaged(DATABASE_ROOT.name, reason).into());
            };
            Ok(space::last_owned(step, owned_root)?.last)
        });
        let owned = owned.await?;
        let store = self.cache.store();
        let (pages, least) = (store.pages().await?, owned.max(pages_at_close));
        if pages < least && !is_passive_copy {
            self.note(Damage::File(FileFinding {
                file: store.file().name(),
                part: FilePart::DatabaseEnd,
                class: FileClass::Missing,
                problem: format!(
                    "the database file is cut short: it has {pages} whole pages and had {least}; the others \
                     were added again, empty"
                ),
                persistence: Persistence::ReadOnce,
            }));
        }
        if pages < least {
            store.extend_to(least, IoCause::Build).await?;
        }
        self.growth.owned_pages.set(owned);
        self.growth.file_pages.set(pages.max(least));
        Ok(())
    }
}

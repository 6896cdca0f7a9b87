//! Bringing a database back that was not closed properly.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use config::ByteSize;
use edb::format::database_header::{DatabaseState, Writer};
use edb::log::LOG_PREFIX;
use edb::settings::{Engine, Maintenance, TornPages};
use edb::{Database, EngineSettings, RecoveryReport};
use mail::state_file::{self, STATE_FILE};
use runtime::HostDirectory;
use runtime::host::{DirectoryHandle, LockKind};
use runtime::trace::NoObserver;

use super::log::directory_of_log;
use super::open::directory_of;
use super::{DatabaseFile, DatabaseFileError, lock};

/// What a recovery has done.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The file of the database that was recovered.
    pub path: PathBuf,
    /// The log that was applied; `None` where the database had been closed properly, and nothing was done.
    pub applied: Option<AppliedLog>,
}

/// A log that was applied to a database.
#[derive(Clone, Debug)]
pub struct AppliedLog {
    /// The directory of its files.
    pub directory: PathBuf,
    /// What was done with it.
    pub report: RecoveryReport,
}

/// Applies the log of the database in the file at `path` and closes it. The log is in the directory `log`
/// or, without one, where a run keeps it. `doing` is called with what is waited for, where that takes a
/// while.
///
/// # Errors
/// The file is in use, is none of ours or was never finished, there is no log or not all of it, or the
/// storage fails.
pub fn recover(
    path: &Path,
    log: Option<&Path>,
    doing: &mut dyn FnMut(&str),
) -> Result<Recovery, DatabaseFileError> {
    if !path.exists() {
        return Err(DatabaseFileError::Missing(path.to_owned()));
    }
    if !path.is_file() {
        return Err(DatabaseFileError::NotAFile(path.to_owned()));
    }
    let locked = lock(path, LockKind::Exclusive)?;
    let log = log.map(Path::to_owned).or_else(|| directory_of_log(path));
    let directories = [Some(directory_of(path)), log.as_deref()];
    for directory in directories.into_iter().flatten() {
        wait_for_requests(directory, doing)?;
    }
    let database = DatabaseFile::open_locked(path, locked)?;
    let header = database.header()?;
    if header.writer == Writer::Other {
        return Err(DatabaseFileError::OtherWriter(path.to_owned()));
    }
    let applied = match header.state {
        DatabaseState::Clean => None,
        DatabaseState::JustCreated => {
            return Err(DatabaseFileError::Unfinished(path.to_owned()));
        }
        DatabaseState::Dirty if is_passive_copy(path, &database, log.as_deref()) => {
            return Err(DatabaseFileError::PassiveCopy(path.to_owned()));
        }
        DatabaseState::Dirty => {
            let log = log.ok_or_else(|| DatabaseFileError::NoLog(path.to_owned()))?;
            Some(database.apply(log, settings(header.page_size_bytes))?)
        }
    };
    Ok(Recovery {
        path: path.to_owned(),
        applied,
    })
}

/// Whether the database was seeded as a passive copy and not opened since. Where no state says so, a log without
/// the file that was written last does, if it was shipped.
fn is_passive_copy(path: &Path, database: &DatabaseFile, log: Option<&Path>) -> bool {
    let state = std::fs::read(directory_of(path).join(STATE_FILE));
    let state = state
        .ok()
        .and_then(|text| state_file::DatabaseState::parse(&text));
    if let Some(state) = state {
        return state.is_passive_copy;
    }
    let Some(log) = log.filter(|log| !log.join(format!("{LOG_PREFIX}.log")).exists()) else {
        return false;
    };
    let Ok(log) = HostDirectory::open(&database.runtime.handle(), log) else {
        return false;
    };
    let file = database.file.clone();
    let is_copy = async move { edb::passive::is_passive_copy(&file, &log).await };
    database.runtime.block_on(is_copy).unwrap_or(false)
}

/// Waits for what a killed run has under way on the files of a directory.
fn wait_for_requests(
    directory: &Path,
    doing: &mut dyn FnMut(&str),
) -> Result<(), DatabaseFileError> {
    // One that cannot be opened is refused when it is used.
    let Ok(directory) = DirectoryHandle::open(directory) else {
        return Ok(());
    };
    storage::wait_for_requests(&directory, doing).map_err(DatabaseFileError::InUse)
}

/// A recovery keeps every log file and takes page images where there are some.
fn settings(page_size_bytes: u32) -> EngineSettings {
    EngineSettings {
        engine: Engine {
            page_size: ByteSize(u64::from(page_size_bytes)),
            circular_logging: false,
            torn_pages: TornPages::LogImages,
            ..Engine::default()
        },
        maintenance: Maintenance {
            enabled: false,
            ..Maintenance::default()
        },
        ..EngineSettings::default()
    }
}

impl DatabaseFile {
    /// Applies the log in a directory. The file is opened again, for writing.
    fn apply(
        self,
        log: PathBuf,
        settings: EngineSettings,
    ) -> Result<AppliedLog, DatabaseFileError> {
        let Self {
            path,
            file,
            runtime,
            _lock,
        } = self;
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.map(str::to_owned) else {
            return Err(DatabaseFileError::NotAFile(path));
        };
        // The engine locks the file for itself alone.
        drop(file);
        let handle = runtime.handle();
        let data = HostDirectory::open(&handle, directory_of(&path));
        let data = data.map_err(|error| DatabaseFileError::Directory { path, error })?;
        let opened = HostDirectory::open(&handle, &log);
        let opened = opened.map_err(|error| DatabaseFileError::LogDirectory {
            path: log.clone(),
            error,
        })?;
        let recovered = runtime.block_on(async move {
            let observer = Rc::new(NoObserver);
            let (database, report) =
                Database::open(&handle, &data, &name, &opened, settings, observer).await?;
            database.close().await?;
            Ok(report)
        });
        Ok(AppliedLog {
            directory: log,
            report: recovered.map_err(DatabaseFileError::Recovery)?,
        })
    }
}

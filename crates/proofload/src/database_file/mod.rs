//! Database files from outside: examined, printed and recovered, while no run uses them.
//!
//! - [`DatabaseFile`] is one that is open for reading: [`DatabaseFile::info`], [`DatabaseFile::check`],
//!   [`DatabaseFile::dump`]. [`recover`] applies the log of one that was not closed properly.
//! - What comes out has its text as [`std::fmt::Display`] and its JSON document as `json`.
//!
//! Inside: `open` opens files and block devices, `log` finds the log of a database, `words` and
//! `documents` write what was found, `remedies` say what to do about what went wrong.

mod documents;
mod error;
mod log;
mod open;
mod recovery;
mod remedies;
mod words;

use std::io::Write;
use std::path::{Path, PathBuf};

use edb::check::{CheckReport, DatabaseInfo};
use edb::dump::{DatabaseReader, RowFormat};
use edb::format::database_header::{DatabaseHeader, DatabaseState, Writer};
use edb::integrity::FileFinding;
use edb::verification::compare_beside;
use measure::units;
use runtime::host::{FileLock, LockKind};
use runtime::{AnyFile, HostDirectory, Runtime, WallClockOptions};

pub use error::DatabaseFileError;
pub use log::LogFiles;
pub use recovery::{AppliedLog, Recovery, recover};

/// A database file, or the database on a block device of ours, open for reading. Its target is locked:
/// no run begins on it.
pub struct DatabaseFile {
    path: PathBuf,
    file: AnyFile,
    runtime: Runtime,
    _lock: Option<FileLock>,
}

/// What a database file says of itself.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// The file or device.
    pub path: PathBuf,
    /// Header, tables and space.
    pub database: DatabaseInfo,
    /// Its log, if there is one where a run keeps it.
    pub log: Option<LogFiles>,
}

/// What the check of a database file has found.
#[derive(Clone, Debug)]
pub struct FileCheck {
    /// The file or device.
    pub path: PathBuf,
    /// What is damaged, and what was counted.
    pub report: CheckReport,
    /// What of the files beside it contradicts it.
    pub beside: Vec<FileFinding>,
}

impl FileCheck {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.report.is_sound() && self.beside.is_empty()
    }
}

/// What is printed of a database file.
#[derive(Clone, Debug)]
pub struct DumpRequest {
    /// Name of the table; `None` for the only one besides those of the system.
    pub table: Option<String>,
    /// How rows are written.
    pub format: RowFormat,
    /// Whether a file is read, too, that was not closed properly: without the changes that are only in its
    /// log, so that rows may contradict each other.
    pub as_is: bool,
}

impl DatabaseFile {
    /// Opens the file or block device at `path`.
    ///
    /// # Errors
    /// It is in use, cannot be opened, or is no file; a device holds no database of this program.
    pub fn open(path: &Path) -> Result<Self, DatabaseFileError> {
        Self::open_locked(path, lock(path, LockKind::Shared)?)
    }

    fn open_locked(path: &Path, lock: Option<FileLock>) -> Result<Self, DatabaseFileError> {
        let runtime = Runtime::wall_clock(&WallClockOptions::default())?;
        Ok(Self {
            path: path.to_owned(),
            file: open::open(&runtime, path)?,
            runtime,
            _lock: lock,
        })
    }

    /// What header, catalog and log say. With `count` every page is read, to count the rows of each table
    /// and the pages of each kind.
    ///
    /// # Errors
    /// The file is no database, or the storage fails.
    pub fn info(&self, count: bool) -> Result<FileInfo, DatabaseFileError> {
        let database = self.database_info(count)?;
        let log = log::files_of(&self.runtime, &self.path, &database.header);
        Ok(FileInfo {
            path: self.path.clone(),
            database,
            log,
        })
    }

    fn header(&self) -> Result<DatabaseHeader, DatabaseFileError> {
        Ok(self.database_info(false)?.header)
    }

    fn database_info(&self, count: bool) -> Result<DatabaseInfo, DatabaseFileError> {
        let file = self.file.clone();
        let info = async move { edb::check::info(&file, count).await };
        Ok(self.runtime.block_on(info)?)
    }

    /// Verifies every page, and the trees they form. `progress` is called with the pages read so far and
    /// their expected number.
    ///
    /// # Errors
    /// The file is no database that was closed properly, or the storage fails.
    pub fn check(
        &self,
        progress: impl FnMut(u64, u64) + 'static,
    ) -> Result<FileCheck, DatabaseFileError> {
        let file = self.file.clone();
        let check = async move { edb::check::check(&file, progress).await };
        Ok(FileCheck {
            path: self.path.clone(),
            report: self.runtime.block_on(check)?,
            beside: self.compare_beside()?,
        })
    }

    /// What of the files beside it contradicts it. Nothing is known of those on a block device.
    fn compare_beside(&self) -> Result<Vec<FileFinding>, DatabaseFileError> {
        let name = self.path.file_name().and_then(|name| name.to_str());
        let (Some(name), AnyFile::Host(_)) = (name.map(str::to_owned), &self.file) else {
            return Ok(Vec::new());
        };
        let header = self.header()?;
        if header.writer == Writer::Other {
            return Ok(Vec::new());
        }
        let handle = self.runtime.handle();
        let open = |path: &Path| HostDirectory::open_for_reading(&handle, path);
        let directory = open(open::directory_of(&self.path));
        let directory = directory.map_err(|error| DatabaseFileError::Directory {
            path: self.path.clone(),
            error,
        })?;
        // A log that cannot be opened is compared with nothing.
        let log = log::directory_of_log(&self.path).and_then(|path| open(&path).ok());
        let compared = self.runtime.block_on(async move {
            compare_beside(&header, (&directory, &name), log.as_ref()).await
        });
        compared.map_err(DatabaseFileError::Storage)
    }

    /// Writes the rows of a table to `out`, in the order of its primary index. Rows before a damaged one
    /// are written. Gives what to say of values that are not in a file that is read as it is.
    ///
    /// # Errors
    /// The file is no database that was closed properly (unless it is read as it is), has no such table or
    /// is damaged, or `out` cannot be written.
    pub fn dump(
        &self,
        request: &DumpRequest,
        mut out: impl Write + 'static,
    ) -> Result<Option<String>, DatabaseFileError> {
        let (file, path, request) = (self.file.clone(), self.path.clone(), request.clone());
        self.runtime.block_on(async move {
            let database = match request.as_is {
                true => DatabaseReader::open_as_is(&file).await?,
                false => DatabaseReader::open(&file).await?,
            };
            let name = match request.table {
                Some(name) => name,
                None => only_table(&database, &path)?,
            };
            let Some(table) = database.table(&name) else {
                let tables = database.tables().iter();
                let tables = tables.map(|table| table.name.clone()).collect();
                return Err(DatabaseFileError::NoSuchTable { name, tables });
            };
            let is_closed = database.header().state == DatabaseState::Clean;
            let written = match database.write_rows(table, request.format, &mut out).await {
                Err(error) if !is_closed && error.may_be_only_in_log() => {
                    return Err(DatabaseFileError::OnlyInLog(error));
                }
                written => written?,
            };
            let incomplete = Some(written.incomplete_values).filter(|&count| count > 0);
            Ok(incomplete.map(|values| {
                format!(
                    "warning: {} not wholly in the file, which was not closed properly: the rest is only in the \
                     log. As much of each was printed as is there.",
                    match values {
                        1 => "One long value is".to_owned(),
                        values => format!("{} long values are", units::count_of(values)),
                    }
                )
            }))
        })
    }
}

/// The only table of a database besides those of the system.
fn only_table(
    database: &DatabaseReader<AnyFile>,
    path: &Path,
) -> Result<String, DatabaseFileError> {
    let tables = database.tables().iter().filter(|table| !table.is_system());
    let tables: Vec<String> = tables.map(|table| table.name.clone()).collect();
    match tables.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(DatabaseFileError::NoTables(path.to_owned())),
        _ => Err(DatabaseFileError::SeveralTables {
            path: path.to_owned(),
            tables,
        }),
    }
}

/// Keeps runs off the target that a file lies on.
fn lock(path: &Path, kind: LockKind) -> Result<Option<FileLock>, DatabaseFileError> {
    storage::lock_target_of(path, kind).map_err(DatabaseFileError::InUse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_by_its_kind() {
        let scratch = tempfile::tempdir().unwrap();
        let absent = scratch.path().join("absent/mail-001.edb");
        let missing = |error| matches!(error, DatabaseFileError::Missing(path) if path == absent);
        assert!(DatabaseFile::open(&absent).is_err_and(missing));
        assert!(recover(&absent, None, &mut |_| ()).is_err_and(missing));
        let directory = |error| matches!(error, DatabaseFileError::NotAFile(_));
        assert!(DatabaseFile::open(scratch.path()).is_err_and(directory));
        assert!(recover(scratch.path(), None, &mut |_| ()).is_err_and(directory));
    }
}

//! Where the log of a database is.

use std::path::{Path, PathBuf};

use edb::database::LOG_PREFIX;
use edb::format::database_header::DatabaseHeader;
use edb::log::{LogFileFacts, log_files};
use runtime::{HostDirectory, Runtime};

use super::open::directory_of;

/// The log files of a database.
#[derive(Clone, Debug)]
pub struct LogFiles {
    /// The directory that they are in.
    pub directory: PathBuf,
    /// What each says of itself.
    pub files: Vec<LogFileFacts>,
}

/// The log of the database at `path`, if it is where a run keeps it.
pub(super) fn files_of(
    runtime: &Runtime,
    path: &Path,
    header: &DatabaseHeader,
) -> Option<LogFiles> {
    let directory = directory_of_log(path)?;
    let opened = HostDirectory::open_for_reading(&runtime.handle(), &directory).ok()?;
    let found = runtime.block_on(async move { log_files(&opened, LOG_PREFIX).await });
    let mut files = found.ok()?;
    files.retain(|file| file.signature == header.log_signature);
    (!files.is_empty()).then_some(LogFiles { directory, files })
}

/// Where a run keeps the log of the database at `path`: beside it, or in the directory that goes with the
/// database's, such as `log-001` with `mail-001`.
pub(super) fn directory_of_log(path: &Path) -> Option<PathBuf> {
    let own = directory_of(path);
    if has_log(own) {
        return Some(own.to_owned());
    }
    let number = path.file_stem()?.to_str()?.rsplit_once('-')?.1;
    let above = own.canonicalize().ok()?.parent()?.to_owned();
    Some(above.join(format!("log-{number}"))).filter(|beside| has_log(beside))
}

fn has_log(directory: &Path) -> bool {
    let is_log = |name: &str| name.starts_with(LOG_PREFIX) && name.ends_with(".log");
    let Ok(entries) = directory.read_dir() else {
        return false;
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_str().is_some_and(is_log))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_found_beside_its_database_or_in_the_directory_of_its_number() {
        let scratch = tempfile::tempdir().unwrap();
        let [database, log] = ["mail-001", "log-001"].map(|name| scratch.path().join(name));
        fs::create_dir(&database).unwrap();
        fs::create_dir(&log).unwrap();
        let path = database.join("mail-001.edb");
        assert_eq!(directory_of_log(&path), None);
        fs::write(log.join(format!("{LOG_PREFIX}00001.log")), "").unwrap();
        let found = directory_of_log(&path).unwrap();
        assert_eq!(found, log.canonicalize().unwrap());
        assert_eq!(directory_of_log(&database.join("other.edb")), None);
        fs::write(database.join(format!("{LOG_PREFIX}.log")), "").unwrap();
        assert_eq!(directory_of_log(&path), Some(database));
    }
}

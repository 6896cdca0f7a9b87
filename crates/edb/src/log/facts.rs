//! Which log files there are.

use super::error::LogError;
use super::names::Names;
use super::set::read_header;
use crate::format::database_header::{LogTime, Signature};
use runtime::Directory;

/// What a log file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFileFacts {
    /// Name of the file in the log directory.
    pub name: String,
    /// Its place among the files of the log.
    pub generation: u32,
    /// The same in all files of one log.
    pub signature: Signature,
    /// When it was created.
    pub created: LogTime,
}

/// The log files of this prefix in a directory whose headers are whole, by generation. Nothing is changed.
///
/// # Errors
/// If the storage fails.
pub async fn log_files<D: Directory>(
    directory: &D,
    prefix: &str,
) -> Result<Vec<LogFileFacts>, LogError> {
    let names = Names::new(prefix);
    let mut files = Vec::new();
    for name in directory.list().await? {
        // The file that comes next may hold what is left of an older one.
        if !names.is_log(&name) || name == names.next() {
            continue;
        }
        if let Ok(header) = read_header(directory, &name).await? {
            files.push(LogFileFacts {
                name,
                generation: header.generation,
                signature: header.signature,
                created: header.created,
            });
        }
    }
    files.sort_by_key(|file| file.generation);
    Ok(files)
}

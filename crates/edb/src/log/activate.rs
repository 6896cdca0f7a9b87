//! The log of a copy whose database is gone: its full files are all there will ever be.

use super::error::LogError;
use super::facts::{LogFileFacts, log_files};
use super::names::Names;
use runtime::Directory;

/// Makes the last full file the one that was written last, so that recovery takes its end for the end of the log.
/// A file behind it whose header was not written yet is removed. `None`: there is a file that was being written,
/// and nothing was changed.
///
/// # Errors
/// If there is no file, or the storage fails.
pub(crate) async fn end_with_last_full<D: Directory>(
    directory: &D,
    prefix: &str,
) -> Result<Option<LogFileFacts>, LogError> {
    let names = Names::new(prefix);
    let present = directory.list().await?;
    if present.contains(&names.current()) {
        return Ok(None);
    }
    let mut files = log_files(directory, prefix).await?;
    files.retain(|file| names.generation_of(&file.name) == Some(file.generation));
    let last = files.pop().ok_or_else(|| LogError::MissingGeneration {
        generation: 1,
        directory: directory.describe(),
    })?;
    for name in present {
        let generation = names.generation_of(&name);
        if generation.is_some_and(|generation| generation > last.generation) {
            directory.remove(&name).await?;
        }
    }
    directory.rename(&last.name, &names.current()).await?;
    directory.sync().await?;
    Ok(Some(last))
}

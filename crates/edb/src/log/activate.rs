//! A log without a file that was being written: its full files are all that there is.

use super::error::LogError;
use super::facts::{LogFileFacts, log_files};
use super::names::Names;
use super::set::read_header;
use crate::format::database_header::Signature;
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

/// Whether the log in `directory` is one that was shipped: there are log files, and none of those that a database makes
/// ready for itself, the file that comes next and the reserve for a full disk.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) async fn is_shipped<D: Directory>(
    directory: &D,
    prefix: &str,
) -> Result<bool, runtime::IoError> {
    let names = Names::new(prefix);
    let present = directory.list().await?;
    let is_ready = |name: &String| *name == names.next() || names.is_reserve(name);
    let has_log = present.iter().any(|name| names.is_log(name));
    Ok(has_log && !present.iter().any(is_ready))
}

/// Makes the last full file the one that was written last, where a kill between two files has left neither the file
/// that was being written nor one that was made ready in its place. Nothing of the log with this signature is missing
/// then, if nothing was committed in files later than that of generation `committed`.
///
/// # Errors
/// As the storage fails.
pub(crate) async fn end_with_last_committed<D: Directory>(
    directory: &D,
    prefix: &str,
    (signature, committed): (Signature, u32),
) -> Result<(), LogError> {
    let names = Names::new(prefix);
    let present = directory.list().await?;
    if present.contains(&names.current()) || read_header(directory, &names.next()).await?.is_ok() {
        return Ok(());
    }
    let full = present.iter().filter_map(|name| names.generation_of(name));
    let Some(last) = full.max().filter(|&last| last >= committed) else {
        return Ok(());
    };
    let name = names.full(last);
    let header = read_header(directory, &name).await?;
    if header.is_ok_and(|header| (header.signature, header.generation) == (signature, last)) {
        directory.rename(&name, &names.current()).await?;
        directory.sync().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::database_header::LogTime;
    use crate::log::header::LogFileHeader;
    use crate::log::layout::SEGMENT;
    use runtime::{File, Persistence, Runtime, SimulatedDisk, SimulatedOptions};

    async fn put<D: Directory>(directory: &D, name: &str, generation: u32) {
        let header = LogFileHeader {
            generation,
            file_segments: 4,
            page_size_bytes: 4096,
            created: LogTime::default(),
            previous_created: LogTime::default(),
            signature: Signature::default(),
            attached: Vec::new(),
        };
        let file = directory.create(name).await.unwrap();
        file.set_size_bytes(4 * SEGMENT as u64).await.unwrap();
        let header = header.encode().into();
        file.write(0, header, Persistence::Durable).await.unwrap();
    }

    #[test]
    fn a_log_between_two_files_ends_with_the_last_that_is_full() {
        let runtime = Runtime::virtual_clock();
        let disk = SimulatedDisk::new(&runtime.handle(), SimulatedOptions::default());
        runtime.block_on(async move {
            // What was committed behind the last full file is missing; a file made ready takes its place.
            for (committed, others, ends) in [
                (2, &[][..], true),
                (3, &[][..], false),
                (2, &["E00tmp.log"][..], false),
                (2, &["E00.log"][..], false),
            ] {
                let directory = disk.directory(&format!("{committed}{}", others.concat()));
                for generation in 1..=2 {
                    put(&directory, &Names::new("E00").full(generation), generation).await;
                }
                for name in others {
                    put(&directory, name, 3).await;
                }
                let known = (Signature::default(), committed);
                end_with_last_committed(&directory, "E00", known)
                    .await
                    .unwrap();
                let left = directory.list().await.unwrap();
                let has_ended = !left.contains(&"E0000000002.log".to_owned());
                assert_eq!(has_ended, ends, "{committed} {others:?}: {left:?}");
            }
        });
    }
}

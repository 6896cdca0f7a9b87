//! The files beside a closed database, compared with its header from outside.

use super::stored_versions::StoredVersions;
use crate::checkpoint::copies_in;
use crate::format::database_header::{DatabaseHeader, DatabaseState, HeaderLogPosition};
use crate::format::layout::last_page;
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence};
use crate::log::LOG_PREFIX;
use runtime::{Directory, File, IoError};

/// Compares the database `name`, which has been closed with this header, with the page versions and the checkpoint
/// that the closing has written: what contradicts it. Files that are not there are none: a database may have been
/// copied without them.
///
/// # Errors
/// If the storage fails.
pub async fn compare_beside<D: Directory, L: Directory>(
    header: &DatabaseHeader,
    (directory, name): (&D, &str),
    log_directory: Option<&L>,
) -> Result<Vec<FileFinding>, IoError> {
    if header.state != DatabaseState::Clean {
        return Ok(Vec::new());
    }
    let file = directory.open(name).await?;
    let stored = StoredVersions::read(directory, name, header).await?;
    let mut findings: Vec<FileFinding> = stored
        .damage(&directory.describe(), name)
        .into_iter()
        .collect();
    if let StoredVersions::Found(versions) = stored {
        let page_bytes = header.page_size_bytes as usize;
        let pages = last_page(file.size_bytes().await?, page_bytes);
        let had = versions.len() as u32;
        findings.extend((pages < had).then(|| FileFinding {
            file: file.name(),
            part: FilePart::DatabaseEnd,
            class: FileClass::Missing,
            problem: format!(
                "the database file is cut short: it has {pages} whole pages and had {had} when it was closed"
            ),
            persistence: Persistence::ReadOnce,
        }));
    }
    let end = header.detach.position;
    if let (Some(directory), true) = (log_directory, end != HeaderLogPosition::default()) {
        let copies = copies_in(directory, LOG_PREFIX).await?;
        let compared = copies.compare_with_close(header.log_signature, end);
        findings.extend(compared.filter(|finding| finding.class != FileClass::Missing));
    }
    Ok(findings)
}

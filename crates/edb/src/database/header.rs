//! Reading the header of a database that is to be opened.

use super::parts::Parts;
use crate::error::EngineError;
use crate::format::database_header::{DatabaseHeader, DatabaseState, PEEK_BYTES, Writer};
use crate::integrity::{FileClass, FileFinding, compare_headers, foreign_copy};
use crate::reading::root_dbtime;
use config::ByteSize;
use runtime::{Buffer, Directory, File, IoError};

impl<D: Directory> Parts<'_, D> {
    /// Reads both copies of the header; says also which of them is damaged, if one is.
    pub(super) async fn read_header(
        &self,
        file: &D::File,
        file_name: &str,
    ) -> Result<(DatabaseHeader, Option<FileFinding>), EngineError> {
        let refuse = |reason: String| EngineError::NotADatabase {
            file: file_name.to_owned(),
            reason,
        };
        let page_bytes = self.settings.engine.page_bytes();
        if file.size_bytes().await? < 2 * page_bytes as u64 {
            return Err(refuse(
                "it is too short to hold a database header".to_owned(),
            ));
        }
        let (peek, result) = file.read(0, Buffer::zeroed(PEEK_BYTES)).await;
        result?;
        // Only a torn first copy hides the page size; the second copy then says.
        if let Ok(found) = DatabaseHeader::peek_page_size(&peek)
            && found != page_bytes
        {
            return Err(refuse(format!(
                "its pages have {found} bytes, the settings say {page_bytes}; set \
                 engine.page_size = \"{}\"",
                ByteSize(found as u64)
            )));
        }
        let [first, second] = read_headers(file, page_bytes).await?;
        let header = DatabaseHeader::choose(&first, &second);
        let mut header = header.map_err(|damage| refuse(damage.to_string()))?;
        let mut finding = compare_headers(file_name, &first, &second);
        let is_foreign = |finding: &FileFinding| finding.class == FileClass::Foreign;
        if finding.as_ref().is_some_and(is_foreign) {
            let dbtime = root_dbtime(file, page_bytes).await;
            let foreign =
                dbtime.and_then(|dbtime| foreign_copy(file_name, &first, &second, dbtime));
            let foreign = foreign.ok_or_else(|| {
                refuse(
                    "its two headers are of different databases, and its first page does not show which is its own"
                        .to_owned(),
                )
            })?;
            (header, finding) = (foreign.own, Some(foreign.finding));
        }
        if header.page_size_bytes as usize != page_bytes {
            return Err(refuse(format!(
                "its pages have {} bytes",
                header.page_size_bytes
            )));
        }
        if header.writer == Writer::Other {
            return Err(refuse(
                "it was written by another program; open it with that program".to_owned(),
            ));
        }
        if header.state == DatabaseState::JustCreated {
            return Err(refuse(
                "it was never completely created or built; remove it and create it again"
                    .to_owned(),
            ));
        }
        Ok((header, finding))
    }
}

/// Both copies of the header of a file with pages of this size, as they are.
///
/// # Errors
/// If the storage fails.
pub(super) async fn read_headers<F: File>(
    file: &F,
    page_bytes: usize,
) -> Result<[Buffer; 2], IoError> {
    let (first, result) = file.read(0, Buffer::zeroed(page_bytes)).await;
    result?;
    let (second, result) = file
        .read(page_bytes as u64, Buffer::zeroed(page_bytes))
        .await;
    result?;
    Ok([first, second])
}

//! Compares a copy with its database, page by page.

use crate::error::EngineError;
use crate::format::layout::{last_page, page_offset};
use crate::format::page;
use crate::integrity::FileFinding;
use runtime::{Buffer, Directory, File, IoError};

/// What bringing a copy to the end of the log and comparing it with its database has found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// From the end of the database until the copy had replayed and written everything, in seconds.
    pub caught_up_s: f64,
    /// Whether the log of the copy ends where that of the database does.
    pub same_position: bool,
    /// What is wrong with the files of the copy beside its pages: the copies of its header and of its
    /// checkpoint, also those that were written over, and its log files.
    pub files: Vec<FileFinding>,
    /// Pages compared.
    pub pages: u64,
    /// Pages of the copy whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages that are not the same in both.
    pub different_pages: u64,
    /// The first of them.
    pub first_different: Option<u32>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// Bytes of one read.
const READ_BYTES: usize = 1 << 20;

pub(super) async fn compare<D: Directory>(
    (directory, name): (&D, &str),
    (copy_directory, copy_name): (&D, &str),
    page_bytes: usize,
    progress: impl Fn(u64) -> bool,
) -> Result<Comparison, EngineError> {
    let active = directory.open(name).await?;
    let copy = copy_directory.open(copy_name).await?;
    let size_bytes = [active.size_bytes().await?, copy.size_bytes().await?];
    let [pages, pages_of_copy] = size_bytes.map(|bytes| last_page(bytes, page_bytes));
    let last = pages.max(pages_of_copy);
    let pages_at_once = (READ_BYTES / page_bytes) as u32;
    let mut found = Comparison::default();
    let mut first = 1;
    while first <= last {
        let count = pages_at_once.min(last - first + 1);
        let ours = read(&active, first, (count, pages), page_bytes).await?;
        let theirs = read(&copy, first, (count, pages_of_copy), page_bytes).await?;
        let pairs = ours
            .chunks_exact(page_bytes)
            .zip(theirs.chunks_exact(page_bytes));
        for (number, (ours, theirs)) in (first..).zip(pairs) {
            // A page that nobody has written is all zeros, or the file ends before it.
            let is_empty = theirs.iter().all(|&byte| byte == 0);
            found.wrong_pages += u64::from(!is_empty && page::verify(theirs, number).is_err());
            if ours != theirs {
                found.different_pages += 1;
                found.first_different.get_or_insert(number);
            }
        }
        found.pages += u64::from(count);
        first += count;
        if !progress(found.pages * page_bytes as u64) {
            found.stopped = true;
            break;
        }
    }
    Ok(found)
}

/// Pages from `first` on; all zeros behind the last page of the file.
async fn read<F: File>(
    file: &F,
    first: u32,
    (count, last): (u32, u32),
    page_bytes: usize,
) -> Result<Buffer, IoError> {
    let mut pages = Buffer::zeroed(count as usize * page_bytes);
    let there = count.min((last + 1).saturating_sub(first)) as usize;
    if there > 0 {
        let offset = page_offset(first, page_bytes);
        let (read, result) = file.read(offset, Buffer::zeroed(there * page_bytes)).await;
        result?;
        pages[..there * page_bytes].copy_from_slice(&read);
    }
    Ok(pages)
}

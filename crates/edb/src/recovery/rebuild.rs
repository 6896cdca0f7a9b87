//! A page that the storage lost or damaged, rebuilt from the log while the database is in use.

use super::redo::operations_of;
use crate::format::database_header::Signature;
use crate::format::page::PageView;
use crate::log::{LOG_PREFIX, LogError, LogReader};
use crate::log_record::LogRecord;
use crate::position::LogPosition;
use crate::store::{PageSource, Rebuilding};
use runtime::{Buffer, Directory, Handle, IoObserver};
use std::rc::Rc;

/// How often the log is read from its beginning: files are used again while they are read.
const ATTEMPTS: u32 = 3;

/// The log of an open database, as a source of page contents.
pub(crate) struct LoggedContents<D: Directory> {
    pub(crate) handle: Handle,
    pub(crate) directory: D,
    pub(crate) signature: Signature,
    pub(crate) observer: Rc<dyn IoObserver>,
}

impl<D: Directory> PageSource for LoggedContents<D> {
    fn rebuild<'a>(
        &'a self,
        page: u32,
        until: Option<u64>,
        older: Option<Buffer>,
        blank: Buffer,
    ) -> Rebuilding<'a> {
        Box::pin(async move {
            for _ in 0..ATTEMPTS {
                let start = older.as_ref().map(Buffer::copied);
                match self.read_log(page, until, start, &blank).await {
                    Ok(rebuilt) => return rebuilt,
                    // A file was used again meanwhile, or the end was being written.
                    Err(_) => self.handle.yield_now().await,
                }
            }
            None
        })
    }
}

impl<D: Directory> LoggedContents<D> {
    /// Goes through the log from its oldest file on. `start` is an older state of the page, if one is
    /// known; changes that do not follow on what is known so far make it unknown.
    async fn read_log(
        &self,
        page: u32,
        until: Option<u64>,
        start: Option<Buffer>,
        blank: &Buffer,
    ) -> Result<Option<Buffer>, LogError> {
        let observer = Rc::clone(&self.observer);
        let from = LogPosition::START;
        let reader = LogReader::open(&self.handle, &self.directory, LOG_PREFIX, from, observer);
        let Some(mut reader) = reader.await? else {
            return Ok(None);
        };
        if reader.signature() != self.signature {
            return Ok(None);
        }
        let is_wanted = |dbtime| until.is_none_or(|until| dbtime <= until);
        let mut known = start;
        while let Some((_, record)) = reader.next().await? {
            let Some(record) = LogRecord::decode(&record) else {
                return Ok(None);
            };
            if let LogRecord::Image { page: of, bytes } = record {
                let dbtime = PageView::new(bytes).dbtime();
                if of == page && is_wanted(dbtime) && is_older(&known, dbtime) {
                    let mut image = blank.copied();
                    image.copy_from_slice(bytes);
                    known = Some(image);
                }
                continue;
            }
            let Some(mut operations) = operations_of(record) else {
                continue;
            };
            while let Some(one) = operations.next() {
                let Some(one) = one else {
                    return Ok(None);
                };
                let is_new = is_wanted(one.after) && is_older(&known, one.after);
                if one.page != page || !is_new {
                    continue;
                }
                if one.operation.formats() {
                    known = Some(blank.copied());
                } else if known.as_ref().map(dbtime_of) != Some(one.before) {
                    known = None;
                }
                if let Some(bytes) = &mut known {
                    one.operation.apply(bytes, page, one.after);
                }
            }
        }
        Ok(known)
    }
}

fn dbtime_of(page: &Buffer) -> u64 {
    PageView::new(page).dbtime()
}

/// Whether what is known of the page is from before `dbtime`.
fn is_older(known: &Option<Buffer>, dbtime: u64) -> bool {
    known.as_ref().is_none_or(|page| dbtime_of(page) < dbtime)
}

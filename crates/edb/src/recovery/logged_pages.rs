//! What a log record says of pages, for those who read a log from outside.

use super::redo::operations_of;
use crate::format::page::PageView;
use crate::log_record::LogRecord;

/// What a log record does to one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedPage {
    /// An operation that is made on the page as it was at a certain database time.
    Changed {
        /// Number of the page.
        page: u32,
        /// Its database time before.
        before: u64,
        /// Its database time afterwards.
        after: u64,
    },
    /// The page gets new contents, whatever it held.
    Formatted {
        /// Number of the page.
        page: u32,
        /// Its database time afterwards.
        after: u64,
    },
    /// The whole page as it was about to be written.
    Image {
        /// Number of the page.
        page: u32,
        /// Database time of the page in the image.
        dbtime: u64,
    },
}

/// What a record of the log does to pages, in order; `None` if its bytes are not those of a record.
#[must_use]
pub fn logged_pages(record: &[u8]) -> Option<Vec<LoggedPage>> {
    let record = LogRecord::decode(record)?;
    if let LogRecord::Image { page, bytes } = record {
        let is_page = bytes.len().is_power_of_two() && bytes.len() >= 4096;
        let dbtime = is_page.then(|| PageView::new(bytes).dbtime())?;
        return Some(vec![LoggedPage::Image { page, dbtime }]);
    }
    let mut pages = Vec::new();
    if let Some(mut operations) = operations_of(record) {
        while let Some(one) = operations.next() {
            let one = one?;
            let (page, after) = (one.page, one.after);
            pages.push(if one.operation.formats() {
                LoggedPage::Formatted { page, after }
            } else {
                let before = one.before;
                LoggedPage::Changed {
                    page,
                    before,
                    after,
                }
            });
        }
    }
    Some(pages)
}

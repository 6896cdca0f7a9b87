//! A step: the synchronous piece of work that changes pages, all of them or none.
//!
//! While a step is prepared it reads pages of the cache and changes private copies. A page that is
//! not in the cache ends the attempt with [`Need::Page`]; nothing has happened then, and the caller
//! fetches the page and tries again. When everything fits, the operations become **one** log
//! record, and the same operations are carried out on the cached pages. So a step is atomic for
//! everybody on the thread (there is no await in it) and atomic in redo (one record), however many
//! pages it splits, merges, takes and gives back.

use super::bytes::{PutBytes, TakeBytes};
use super::operation::PageOperation;
use crate::error::EngineError;
use crate::format::page::PageView;
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::tree::Page;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a step still needs.
#[derive(Debug)]
pub(crate) enum Need {
    /// This page in the cache.
    Page(u32),
    /// So many more pages in the file.
    Space {
        /// The least number that helps.
        pages: u32,
    },
    /// Nothing helps: the operation is refused.
    Refused(EngineError),
}

impl From<EngineError> for Need {
    fn from(error: EngineError) -> Self {
        Self::Refused(error)
    }
}

/// How far a descent came before it missed a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Missed {
    root: u32,
    key: ShortKey,
    /// The page above the one missed, and its database time.
    parent: u32,
    dbtime: u64,
    child: u32,
}

/// A key of at most so many bytes, padded with zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShortKey {
    length: u8,
    bytes: [u8; 31],
}

impl ShortKey {
    fn new(key: &[u8]) -> Option<Self> {
        let mut bytes = [0; 31];
        bytes.get_mut(..key.len())?.copy_from_slice(key);
        let length = key.len() as u8; // At most 31.
        Some(Self { length, bytes })
    }
}

/// Where a step reads pages.
pub(crate) trait Pages {
    /// The page, if it is in the cache.
    fn cached(&self, page: u32) -> Option<Rc<Page>>;
    /// A zeroed page, not yet in the cache.
    fn blank(&self) -> Page;
    /// The database time of the newest change.
    fn dbtime(&self) -> u64;
    /// Pages of one extension of the file.
    fn extension_pages(&self) -> u32;
}

/// A page this step has changed.
struct ChangedPage {
    number: u32,
    /// Database time of its newest operation.
    dbtime: u64,
    /// The page with all operations so far; made when somebody reads it, so that the common step
    /// of one operation copies nothing.
    private: Option<Rc<Page>>,
}

/// A step being prepared.
pub(crate) struct Step<'p> {
    pages: &'p dyn Pages,
    first_dbtime: u64,
    changed: RefCell<Vec<ChangedPage>>,
    operations: Vec<u8>,
    count: u32,
    /// Where the descent of the attempt before ended, and where that of this one does.
    resumes: Option<Missed>,
    missed: Cell<Option<Missed>>,
    /// Whether the step may use the pages kept back for rollback.
    pub(crate) may_use_reserve: bool,
}

/// The operations of a finished step, encoded.
pub(crate) struct StepOperations {
    /// Database time of the first operation; each further one is later by one.
    pub(crate) first_dbtime: u64,
    pub(crate) count: u32,
    bytes: Vec<u8>,
}

impl<'p> Step<'p> {
    /// A step that has done nothing yet.
    pub(crate) fn new(pages: &'p dyn Pages) -> Self {
        Self {
            pages,
            first_dbtime: pages.dbtime() + 1,
            changed: RefCell::new(Vec::new()),
            operations: Vec::new(),
            count: 0,
            resumes: None,
            missed: Cell::new(None),
            may_use_reserve: false,
        }
    }

    /// A step that tries again what missed a page, which has been fetched since.
    pub(crate) fn again(pages: &'p dyn Pages, missed: Option<Missed>) -> Self {
        Self {
            resumes: missed,
            ..Self::new(pages)
        }
    }

    /// Where the last descent ended, if it missed a page.
    pub(crate) fn missed(&self) -> Option<Missed> {
        self.missed.get()
    }

    /// A page on the way to `key` is not in the cache; `parent` with its database time is the one above.
    pub(super) fn note_missed(&self, root: u32, key: &[u8], parent: (u32, u64), child: u32) {
        let missed = ShortKey::new(key).map(|key| Missed {
            root,
            key,
            parent: parent.0,
            dbtime: parent.1,
            child,
        });
        self.missed.set(missed);
    }

    /// The page on the way to `key` that the attempt before missed, if it found the number on a page
    /// that is still the same. Such a page is still part of the tree, as a page that is given back is formatted, and
    /// its range of keys can only have grown: nothing takes keys from a page but a change of it.
    pub(super) fn resumed(&self, root: u32, key: &[u8]) -> Option<u32> {
        let missed = self.resumes.filter(|missed| missed.root == root)?;
        if ShortKey::new(key) != Some(missed.key) {
            return None;
        }
        let parent = self.page(missed.parent).ok()?;
        (PageView::new(&parent).dbtime() == missed.dbtime).then_some(missed.child)
    }

    /// Pages of one extension of the file.
    pub(crate) fn extension_pages(&self) -> u32 {
        self.pages.extension_pages()
    }

    /// The page as this step sees it.
    #[inline]
    pub(crate) fn page(&self, number: u32) -> Result<Rc<Page>, Need> {
        for changed in self.changed.borrow_mut().iter_mut() {
            if changed.number == number {
                return self.private_copy(changed);
            }
        }
        self.pages.cached(number).ok_or(Need::Page(number))
    }

    fn private_copy(&self, changed: &mut ChangedPage) -> Result<Rc<Page>, Need> {
        if let Some(page) = &changed.private {
            return Ok(Rc::clone(page));
        }
        let mut page: Option<Page> = None;
        let mut operations = self.logged();
        while let Some(logged) = operations.next() {
            let logged = logged.unwrap_or_else(|| panic!("a step reads what it has encoded"));
            if logged.page != changed.number {
                continue;
            }
            let page = match &mut page {
                Some(page) => page,
                None if logged.operation.formats() => page.insert(self.pages.blank()),
                None => {
                    let cached = self.pages.cached(changed.number);
                    page.insert(cached.ok_or(Need::Page(changed.number))?.copied())
                }
            };
            logged.operation.apply(page, logged.page, logged.after);
        }
        let page = page.unwrap_or_else(|| panic!("a changed page has operations"));
        Ok(Rc::clone(changed.private.insert(Rc::new(page))))
    }

    fn logged(&self) -> LoggedOperations<'_> {
        LoggedOperations {
            from: TakeBytes(&self.operations),
            next_dbtime: self.first_dbtime,
            left: self.count,
        }
    }

    /// Changes a page; the step sees the change.
    pub(crate) fn change(
        &mut self,
        number: u32,
        operation: &PageOperation<'_>,
    ) -> Result<(), Need> {
        let dbtime = self.first_dbtime + u64::from(self.count);
        let mut changed = self.changed.borrow_mut();
        let before = match changed.iter_mut().find(|changed| changed.number == number) {
            Some(changed) => {
                if let Some(page) = &mut changed.private {
                    let page = match Rc::get_mut(page) {
                        Some(page) => page,
                        None => {
                            *page = Rc::new(page.copied());
                            Rc::get_mut(page).unwrap_or_else(|| panic!("a copy has one owner"))
                        }
                    };
                    operation.apply(page, number, dbtime);
                }
                std::mem::replace(&mut changed.dbtime, dbtime)
            }
            None => {
                let before = if operation.formats() {
                    0
                } else {
                    let page = self.pages.cached(number).ok_or(Need::Page(number))?;
                    PageView::new(&page).dbtime()
                };
                changed.push(ChangedPage {
                    number,
                    dbtime,
                    private: None,
                });
                before
            }
        };
        assert!(
            before < dbtime,
            "page {number} is of {before}, the database only of {dbtime}"
        );
        self.operations.put_u32(number);
        self.operations
            .put_u64(if operation.formats() { 0 } else { before });
        operation.encode(&mut self.operations);
        self.count += 1;
        Ok(())
    }

    /// The operations, for the log record.
    pub(crate) fn finish(self) -> StepOperations {
        let Self {
            first_dbtime,
            count,
            operations: bytes,
            ..
        } = self;
        StepOperations {
            first_dbtime,
            count,
            bytes,
        }
    }
}

impl StepOperations {
    /// Length of what [`Self::encode`] appends.
    pub(crate) fn encoded_bytes(&self) -> usize {
        12 + self.bytes.len()
    }

    /// The operations, to be carried out on the cached pages.
    pub(crate) fn iter(&self) -> LoggedOperations<'_> {
        let (from, left) = (TakeBytes(&self.bytes), self.count);
        LoggedOperations {
            from,
            next_dbtime: self.first_dbtime,
            left,
        }
    }

    /// Appends the operations to a log record.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.first_dbtime);
        if self.count > 3 && is_seeded(SeededBug::SplitLoggedInPart) {
            let mut last = self.iter();
            for _ in 1..self.count {
                let _ = last.next();
            }
            out.put_u32(self.count - 1);
            out.extend_from_slice(&self.bytes[..self.bytes.len() - last.from.0.len()]);
            return;
        }
        out.put_u32(self.count);
        out.extend_from_slice(&self.bytes);
    }
}

/// One page operation of a log record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoggedOperation<'a> {
    pub(crate) page: u32,
    /// Its database time before; 0 for an operation that formats the page.
    pub(crate) before: u64,
    /// Its database time afterwards.
    pub(crate) after: u64,
    pub(crate) operation: PageOperation<'a>,
}

/// The operations in the rest of a log record.
pub(crate) struct LoggedOperations<'a> {
    from: TakeBytes<'a>,
    next_dbtime: u64,
    left: u32,
}

impl<'a> LoggedOperations<'a> {
    /// Reads what [`StepOperations::encode`] wrote; `None` if the bytes make no sense.
    pub(crate) fn decode(mut from: TakeBytes<'a>) -> Option<Self> {
        let (next_dbtime, left) = (from.u64()?, from.u32()?);
        Some(Self {
            from,
            next_dbtime,
            left,
        })
    }

    /// The next operation; `Some(None)` if the bytes make no sense.
    pub(crate) fn next(&mut self) -> Option<Option<LoggedOperation<'a>>> {
        if self.left == 0 {
            return (!self.from.is_empty()).then_some(None);
        }
        self.left -= 1;
        Some(self.one())
    }

    fn one(&mut self) -> Option<LoggedOperation<'a>> {
        let page = self.from.u32()?;
        let before = self.from.u64()?;
        let operation = PageOperation::decode(&mut self.from)?;
        let after = self.next_dbtime;
        self.next_dbtime = after.checked_add(1)?;
        Some(LoggedOperation {
            page,
            before,
            after,
            operation,
        })
    }
}

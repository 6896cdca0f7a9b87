//! Reading the log forwards.

use super::RecoveryReport;
use crate::cache::{Cache, CacheError, PageProblem, PageRef};
use crate::error::EngineError;
use crate::format::page::PageView;
use crate::log_record::{LogRecord, NodeUndo, UndoState};
use crate::position::{LogPosition, LogSpan, PageNumber};
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::store::FileStore;
use crate::tree::step::LoggedOperation;
use crate::tree::{LoggedOperations, Page};
use crate::versions::{FormerState, OpenTransaction, Transactions, Update};
use runtime::{Directory, IoCause, IoError, IoFailure};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A transaction as far as the log shows it.
struct Found {
    begin: LogPosition,
    updates: Vec<Update>,
}

/// What is known of a file that becomes longer during recovery.
struct Growth {
    /// Pages by which it becomes longer.
    extension_pages: u32,
    /// Pages that it is known to have.
    file_pages: u32,
}

/// A deleted node that may wait to be removed.
type Deleted = (u32, Rc<[u8]>, LogPosition);

/// The state of recovery while it reads the log record by record.
pub(crate) struct Recovery<D: Directory> {
    cache: Cache<Page, FileStore<D::File>>,
    file_name: String,
    /// Pages hold everything logged before this position.
    checkpoint: LogPosition,
    with_images: bool,
    /// How the file of a passive copy becomes longer; the file of another database is long enough.
    growth: Option<Growth>,
    /// Records waiting until the log can take page images.
    kept: Vec<(LogSpan, Vec<u8>)>,
    /// Where the first record read begins.
    first: Option<LogPosition>,
    /// The database time that the header states: pages hold nothing later if the log has no change.
    header_dbtime: u64,
    /// The newest database time in the log; 0 if it has no change.
    dbtime: u64,
    /// The newest page that was read: its database time and its number.
    newest_page: Option<(u64, u32)>,
    transactions: BTreeMap<u64, Found>,
    deleted: Vec<Deleted>,
    /// Pages that cannot be what the log says, and have not been created again by it yet.
    torn: BTreeMap<u32, EngineError>,
    report: RecoveryReport,
}

/// What recovery found out.
pub(crate) struct Outcome {
    /// The newest database time in the log.
    pub(crate) dbtime: u64,
    /// What was done so far.
    pub(crate) report: RecoveryReport,
    transactions: BTreeMap<u64, Found>,
    deleted: Vec<Deleted>,
}

impl Outcome {
    /// Hands the open transactions and the deleted nodes over, so that the checkpoint cannot pass
    /// them; returns the transactions to be taken back.
    pub(crate) fn hold(&mut self, into: &mut Transactions) -> Vec<OpenTransaction> {
        let mut known = BTreeSet::new();
        for (tree, key, begin) in &self.deleted {
            if known.insert((*tree, Rc::clone(key))) {
                into.push_cleanup(*tree, Rc::clone(key), *begin);
            }
        }
        let open = std::mem::take(&mut self.transactions).into_iter();
        open.map(|(id, found)| into.resume(id, found.begin, found.updates))
            .collect()
    }
}

impl<D: Directory> Recovery<D> {
    pub(crate) fn new(
        cache: &Cache<Page, FileStore<D::File>>,
        file_name: &str,
        (checkpoint, header_dbtime): (LogPosition, u64),
        with_images: bool,
    ) -> Self {
        Self {
            cache: cache.clone(),
            file_name: file_name.to_owned(),
            checkpoint,
            with_images,
            growth: None,
            kept: Vec::new(),
            first: None,
            header_dbtime,
            dbtime: 0,
            newest_page: None,
            transactions: BTreeMap::new(),
            deleted: Vec::new(),
            torn: BTreeMap::new(),
            report: RecoveryReport::default(),
        }
    }

    /// Makes the file longer by this many pages when the log has a page behind its end, as in a passive copy:
    /// its database has registered pages since, and its growth is not in the log.
    pub(crate) fn set_extension_pages(&mut self, pages: u32) {
        self.growth = Some(Growth {
            extension_pages: pages,
            file_pages: 0,
        });
    }

    fn refuse(&self, reason: String) -> EngineError {
        EngineError::Recovery {
            file: self.file_name.clone(),
            reason,
        }
    }

    fn invalid_record(&self, span: LogSpan) -> EngineError {
        self.refuse(format!("the log record at {} is not valid", span.begin))
    }

    /// Takes note of a record that a properly closed database has no need of.
    pub(crate) fn note_clean(&mut self, record: &[u8]) -> Result<(), EngineError> {
        let decoded = LogRecord::decode(record);
        let record = decoded.ok_or_else(|| self.refuse("a log record is not valid".into()))?;
        if let Some(mut operations) = operations_of(record) {
            while let Some(one) = operations.next() {
                self.dbtime = self.dbtime.max(one.map_or(0, |one| one.after));
            }
        }
        Ok(())
    }

    /// The last log file read.
    pub(crate) fn set_generations(&mut self, last: u32, file_size_bytes: u64) {
        if let Some(first) = self.first {
            self.report.generations = last + 1 - first.generation(file_size_bytes).min(last);
        }
    }

    /// Takes the next record: redoes it at once, or keeps it if pages must be logged before they are
    /// written, which needs the end of the log first.
    pub(crate) async fn read(&mut self, span: LogSpan, record: Vec<u8>) -> Result<(), EngineError> {
        self.first.get_or_insert(span.begin);
        if self.with_images {
            self.kept.push((span, record));
            return Ok(());
        }
        self.redo(span, &record).await
    }

    /// Redoes the records that were kept, beginning with the pages that have images.
    ///
    /// A page is logged before it is written in place, so its last image is the newest state that
    /// can be on the disk, and what the disk holds is that or may be torn in a way that escapes the
    /// checksum, which is weak for data with regular patterns. Such a page is taken from its last
    /// image, whatever the disk holds, and before anything else: an earlier recovery may have
    /// logged the image behind changes that came after the state it shows.
    pub(crate) async fn redo_kept(&mut self) -> Result<(), EngineError> {
        let kept = std::mem::take(&mut self.kept);
        self.note_newest_change(&kept)?;
        let mut restored = BTreeSet::new();
        for (span, record) in kept.iter().rev() {
            if span.begin < self.checkpoint {
                break;
            }
            if let Some(LogRecord::Image { page, bytes }) = LogRecord::decode(record)
                && restored.insert(page)
            {
                self.restore(*span, page, bytes).await?;
                self.cache.check()?;
            }
        }
        for (span, record) in kept {
            self.redo(span, &record).await?;
            self.cache.check()?;
        }
        Ok(())
    }

    /// Takes note of the newest change in records that were kept, before any page is overwritten.
    fn note_newest_change(&mut self, kept: &[(LogSpan, Vec<u8>)]) -> Result<(), EngineError> {
        for (span, record) in kept {
            let Some(decoded) = LogRecord::decode(record) else {
                return Err(self.invalid_record(*span));
            };
            if let Some(mut operations) = operations_of(decoded) {
                while let Some(Some(one)) = operations.next() {
                    self.dbtime = self.dbtime.max(one.after);
                }
            }
        }
        Ok(())
    }

    /// A page is written only when the log has its last change, so none is newer than a whole log.
    fn check_end(&self) -> Result<(), EngineError> {
        let newest_logged = match self.dbtime {
            0 => self.header_dbtime,
            dbtime => dbtime,
        };
        match self.newest_page {
            Some((dbtime, page)) if dbtime > newest_logged => Err(EngineError::LogEndLost {
                file: self.file_name.clone(),
                evidence: format!(
                    "page {page} is of database time {dbtime}, and the last change in the log of \
                     {newest_logged}"
                ),
            }),
            _ => Ok(()),
        }
    }

    /// The newest database time in what was read of the log.
    pub(crate) fn dbtime(&self) -> u64 {
        self.header_dbtime.max(self.dbtime)
    }

    /// Forgets deleted nodes of transactions that began before `position`: the database has removed them.
    pub(crate) fn forget_deleted_before(&mut self, position: LogPosition) {
        self.deleted.retain(|(_, _, begin)| *begin >= position);
    }

    /// Says what was found.
    ///
    /// # Errors
    /// If the log lost its end, or a torn page had no image.
    pub(crate) fn finish(self) -> Result<Outcome, EngineError> {
        self.check_end()?;
        if let Some((_, error)) = self.torn.into_iter().next() {
            return Err(error);
        }
        Ok(Outcome {
            dbtime: self.dbtime,
            report: self.report,
            transactions: self.transactions,
            deleted: self.deleted,
        })
    }

    async fn redo(&mut self, span: LogSpan, record: &[u8]) -> Result<(), EngineError> {
        self.report.records += 1;
        let decoded = LogRecord::decode(record);
        let Some(decoded) = decoded else {
            return Err(self.invalid_record(span));
        };
        if let LogRecord::Image { .. } = decoded {
            return Ok(()); // The last image of each page has been restored before.
        }
        self.follow(span, &decoded)?;
        if let Some(mut operations) = operations_of(decoded) {
            while let Some(one) = operations.next() {
                let Some(one) = one else {
                    let reason = format!("the log record at {} is damaged", span.begin);
                    return Err(self.refuse(reason));
                };
                self.dbtime = self.dbtime.max(one.after);
                if span.begin >= self.checkpoint {
                    self.redo_operation(span, one).await?;
                }
            }
        }
        Ok(())
    }

    /// Keeps account of transactions. One whose beginning lies before the part of the log that is
    /// read has ended: open ones hold the checkpoint back.
    fn follow(&mut self, span: LogSpan, record: &LogRecord<'_>) -> Result<(), EngineError> {
        match record {
            LogRecord::Begin { transaction } => {
                let found = Found {
                    begin: span.begin,
                    updates: Vec::new(),
                };
                if self.transactions.insert(*transaction, found).is_some() {
                    let reason = format!("transaction {transaction} begins twice in the log");
                    return Err(self.refuse(reason));
                }
            }
            LogRecord::Update {
                transaction,
                deletes,
                undo,
                ..
            } => {
                if let Some(found) = self.transactions.get_mut(transaction) {
                    found.updates.push(update_of(undo, *deletes));
                }
            }
            LogRecord::Undo {
                transaction,
                remaining,
                ..
            } => {
                if let Some(found) = self.transactions.get_mut(transaction) {
                    let keep = (*remaining as usize).min(found.updates.len());
                    for update in found.updates.drain(keep..) {
                        if update.before.was_absent() {
                            self.deleted.push((update.tree, update.key, found.begin));
                        }
                    }
                }
            }
            LogRecord::Commit { transaction } => {
                if let Some(found) = self.transactions.remove(transaction) {
                    let deleted = found.updates.into_iter().filter(|update| update.deletes);
                    let deleted = deleted.map(|update| (update.tree, update.key, found.begin));
                    self.deleted.extend(deleted);
                }
            }
            LogRecord::RolledBack { transaction } => {
                self.transactions.remove(transaction);
            }
            LogRecord::System { .. } | LogRecord::Image { .. } => {}
        }
        Ok(())
    }

    async fn redo_operation(
        &mut self,
        span: LogSpan,
        one: LoggedOperation<'_>,
    ) -> Result<(), EngineError> {
        let number = PageNumber(one.page);
        let formats = one.operation.formats();
        self.lengthen_for(one.page).await?;
        if self.torn.contains_key(&one.page) && !formats {
            return Ok(()); // It has to be created again later in the log, or is lost.
        }
        let page = match self.page(number).await {
            Ok(page) => page,
            Err(_) if formats => self.cache.create(number),
            Err(error) if self.with_images && is_damage(&error) => {
                self.torn.insert(one.page, error.into());
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if formats {
            self.torn.remove(&one.page);
        }
        let dbtime = self.note_page(&page);
        if dbtime >= one.after {
            self.report.skipped += 1;
            return Ok(());
        }
        if !formats && dbtime != one.before && !is_seeded(SeededBug::RecoveryIgnoresDatabaseTime) {
            let lost = EngineError::LostWrite {
                file: self.file_name.clone(),
                page: one.page,
                found: dbtime,
                expected: one.before,
            };
            if !self.with_images {
                return Err(lost);
            }
            // A page that is created again later in the log may have been anything before.
            self.torn.insert(one.page, lost);
            return Ok(());
        }
        page.change(span.begin, span.end, |bytes| {
            one.operation.apply(bytes, one.page, one.after);
        });
        self.report.redone += 1;
        Ok(())
    }

    /// Takes note of the database time of a page as it was read.
    fn note_page(&mut self, page: &PageRef<Page>) -> u64 {
        let dbtime = PageView::new(&page.payload()).dbtime();
        self.newest_page = self.newest_page.max(Some((dbtime, page.page().0)));
        dbtime
    }

    async fn page(&self, number: PageNumber) -> Result<PageRef<Page>, CacheError> {
        match self.cache.get(number) {
            Some(page) => Ok(page),
            None => self.cache.fetch(number).await,
        }
    }

    /// Makes the file of a passive copy long enough for this page. None of its pages behind the end is in the
    /// cache yet, so no write of one can be under way.
    async fn lengthen_for(&mut self, page: u32) -> Result<(), IoError> {
        let Some(growth) = &mut self.growth else {
            return Ok(());
        };
        if growth.file_pages < page {
            let store = self.cache.store();
            growth.file_pages = store.pages().await?;
            if growth.file_pages < page {
                let extended = growth.file_pages.saturating_add(growth.extension_pages);
                growth.file_pages = page.max(extended);
                store.extend_to(growth.file_pages, IoCause::Build).await?;
            }
        }
        Ok(())
    }

    /// Gives a page the state that its last image shows.
    async fn restore(&mut self, span: LogSpan, page: u32, bytes: &[u8]) -> Result<(), EngineError> {
        self.lengthen_for(page).await?;
        let target = match self.page(PageNumber(page)).await {
            Ok(target) => {
                self.note_page(&target);
                self.check_end()?;
                target
            }
            Err(error) if is_damage(&error) => self.cache.create(PageNumber(page)),
            Err(error) => return Err(error.into()),
        };
        if target.payload()[..] != *bytes {
            target.change(span.begin, span.end, |target| target.copy_from_slice(bytes));
            self.report.restored_pages += 1;
        }
        Ok(())
    }
}

/// Whether the bytes of the page are not what was written, as opposed to storage that fails.
fn is_damage(error: &CacheError) -> bool {
    match error {
        CacheError::Page(error) => match &error.problem {
            PageProblem::Damaged(_) => true,
            PageProblem::Io(error) => error.failure == IoFailure::PastEnd,
        },
        _ => false,
    }
}

pub(super) fn operations_of(record: LogRecord<'_>) -> Option<LoggedOperations<'_>> {
    match record {
        LogRecord::Update { operations, .. }
        | LogRecord::Undo { operations, .. }
        | LogRecord::System { operations } => Some(operations),
        _ => None,
    }
}

fn update_of(undo: &NodeUndo<'_>, deletes: bool) -> Update {
    let before = match undo.before {
        UndoState::Nothing => FormerState::Nothing,
        UndoState::Node { deleted, change } => FormerState::of_change(deleted, change),
    };
    Update {
        tree: undo.tree,
        key: Rc::from(undo.key),
        deletes,
        is_first: true, // There are no versions yet; forgetting them twice is no harm.
        before,
    }
}

//! The closed database read back by the engine, and what it has to find then.
//!
//! The disk knows which pages are not what the engine wrote last. Each of them must be reported by the
//! end of the verification, and none that has always been right:
//!
//! - a page that is wrong now: by the verification, which reads every page;
//! - a page that one read returned wrong: by whoever read it, since the engine compares every page
//!   that it reads with the version that it wrote.
//!
//! Not reported, and rightly so, are pages that the engine wrote over before it read them, reads beside
//! which the page was being written (either state is right then), reads of a restart that takes the
//! page from its image in the log whatever the disk holds, and a page whose version of 16 bits is the
//! expected one by chance.

use crate::fault::FaultKind;
use crate::judge::{Judge, Problem, Slot, Verdict};
use crate::lifetime::LifetimeContext;
use crate::table::{DATABASE_DIRECTORY, DATABASE_FILE, Db, LOG_DIRECTORY};
use edb::format::page::PageView;
use edb::integrity::Version;
use edb::verification::Verification;
use edb::{Damage, EngineError};
use runtime::simulated::WrongBlock;
use runtime::time::SECOND_NS;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Reads that nobody waits for any more have been repeated after this time.
const READS_SETTLE_NS: u64 = 2 * SECOND_NS;

impl LifetimeContext {
    /// Closes the database, reads everything back, and judges what was found and what was not. `rows`
    /// is how many there must be, if that is known.
    pub(crate) async fn close_and_read_back(
        &self,
        db: &Db,
        rows: Option<usize>,
    ) -> Result<(), Verdict> {
        let judge = &self.judge;
        let failed = |error: EngineError| judge.error(&error);
        db.close().await.map_err(failed)?;
        self.handle.sleep_ns(READS_SETTLE_NS).await;
        let mut damage = db.take_damage();
        let (database, log) = (
            self.disk.directory(DATABASE_DIRECTORY),
            self.disk.directory(LOG_DIRECTORY),
        );
        let reads = Rc::new(RefCell::new(vec![(0, self.disk.wrong_reads().len())]));
        let progress = self.watch_reads(&reads);
        let injected_before = self.disk.faults_injected();
        let closed = db.closed_state();
        let file = (&database, DATABASE_FILE);
        let verification = closed.verify(&self.handle, file, &log, progress).await;
        let verification = verification.map_err(|error| failed(error.into()))?;
        if !self.disk.has_power() {
            return Err(Verdict::LifetimeEnds);
        }
        // The check of the trees, which comes last, knows no versions.
        let until_pages = |(bytes, _): &&(u64, usize)| *bytes <= verification.pages.bytes;
        let reads_seen = reads
            .borrow()
            .iter()
            .rfind(until_pages)
            .map_or(0, |last| last.1);
        let was_reported = judge.state.reported.borrow().is_some() || !damage.is_empty();
        let pages = verification.pages.findings.iter().cloned();
        damage.extend(pages.map(Damage::Page));
        let files = verification.copies.iter().chain(&verification.log.findings);
        damage.extend(files.cloned().map(Damage::File));
        for one in &damage {
            judge.damage(one)?;
        }
        self.require_reports(&damage, reads_seen)?;
        let reported = judge.state.reported.borrow().clone();
        if !was_reported && reported.is_some() {
            judge.state.found_at_the_end.set(true);
        }
        let is_transient = judge.fault.kind == FaultKind::TransientError;
        if is_transient && self.disk.faults_injected() > injected_before {
            return Err(Verdict::LifetimeEnds); // The check has met the error that was planned.
        }
        judge_trees(judge, &verification, rows)?;
        match reported {
            // The database is not to be trusted any more.
            Some(reported) if !self.wrong_on_disk().is_empty() => Err(Verdict::Reported(reported)),
            _ => Ok(()),
        }
    }

    /// What verification is to call: notes the bytes read and the number of wrong reads by then.
    fn watch_reads(&self, reads: &Rc<RefCell<Vec<(u64, usize)>>>) -> Rc<dyn Fn(u64) -> bool> {
        let (disk, reads) = (self.disk.clone(), Rc::clone(reads));
        Rc::new(move |bytes| {
            let seen = disk.wrong_reads().len();
            reads.borrow_mut().push((bytes, seen));
            true
        })
    }

    fn wrong_on_disk(&self) -> Vec<WrongBlock> {
        let file = format!("{DATABASE_DIRECTORY}/{DATABASE_FILE}");
        self.disk.wrong_blocks(&file)
    }

    /// Requires that all pages were reported that had to be.
    fn require_reports(&self, damage: &[Damage], reads_seen: usize) -> Result<(), Verdict> {
        if !self.judge.must_report() || self.judge.state.process_ended.get() {
            return Ok(());
        }
        let page_of = |damage: &Damage| match damage {
            Damage::Page(error) => Some(u64::from(error.page.0) + 1),
            Damage::File(_) => None,
        };
        let reported: BTreeSet<Slot> = damage.iter().filter_map(page_of).collect();
        let has_file = damage.iter().any(|one| matches!(one, Damage::File(_)));
        for (slot, blocks) in self.owed_pages(reads_seen) {
            let is_header = slot < 2;
            if reported.contains(&slot) || is_header && has_file {
                continue;
            }
            if has_expected_version(slot, &blocks) {
                self.judge.state.by_chance.set(true);
                continue;
            }
            let what = match slot.checked_sub(1) {
                None | Some(0) => "a copy of the header".to_owned(),
                Some(page) => format!("page {page}"),
            };
            let problem = format!("{what} is not what was written last, and nothing reports it");
            return Err(Verdict::Wrong(Problem::new(problem)));
        }
        self.judge.state.read_back.set(true);
        Ok(())
    }

    /// The pages that have to be reported, with the blocks that make them wrong.
    fn owed_pages(&self, reads_seen: usize) -> Vec<(Slot, Vec<WrongBlock>)> {
        let file = format!("{DATABASE_DIRECTORY}/{DATABASE_FILE}");
        let from_images = !self.judge.only_detects;
        let first = if from_images {
            self.reads_at_opening.get()
        } else {
            0
        };
        let mut blocks = self.wrong_on_disk();
        let reads = self.disk.wrong_reads();
        let reads = reads.iter().take(reads_seen).skip(first);
        let reads = reads.filter(|read| read.file == file);
        // The copies of the header are compared when they are read back only.
        let is_page = |block: &&WrongBlock| block.offset_bytes >= 2 * self.judge.page_bytes;
        blocks.extend(reads.flat_map(|read| read.blocks.iter().filter(is_page).cloned()));
        let mut pages: Vec<(Slot, Vec<WrongBlock>)> = Vec::new();
        for block in blocks {
            let slot = block.offset_bytes / self.judge.page_bytes;
            match pages.iter_mut().find(|(known, _)| *known == slot) {
                Some((_, blocks)) => blocks.push(block),
                None => pages.push((slot, vec![block])),
            }
        }
        pages
    }
}

/// Whether a page is an older one of the same version as the one that was written last.
fn has_expected_version(slot: Slot, blocks: &[WrongBlock]) -> bool {
    blocks.iter().any(|block| {
        let (found, expected) = (
            PageView::new(&block.found[..]),
            PageView::new(&block.expected[..]),
        );
        let same_page = u64::from(found.page_number()) + 1 == slot;
        let same_version = Version::of(found.dbtime()) == Version::of(expected.dbtime());
        same_page && same_version && found.dbtime() != expected.dbtime()
    })
}

/// What the check of rows, trees, space, indexes and long values found.
fn judge_trees(
    judge: &Judge,
    verification: &Verification,
    rows: Option<usize>,
) -> Result<(), Verdict> {
    let findings = match &verification.trees {
        None => return Ok(()),
        Some(Err(error)) => vec![format!("the closed database cannot be checked: {error}")],
        Some(Ok(report)) => {
            let texts = report.findings.iter();
            let mut texts: Vec<String> = texts
                .map(|finding| format!("the check of the closed database finds: {finding}"))
                .collect();
            if rows.is_some_and(|rows| rows as u64 != report.rows) {
                texts.push(format!("the check counts {} rows", report.rows));
            }
            if report.deleted_nodes > 0 {
                let nodes = report.deleted_nodes;
                texts.push(format!(
                    "{nodes} deleted nodes are left in a clean database"
                ));
            }
            texts
        }
    };
    if findings.is_empty() {
        return Ok(());
    }
    Err(judge.found_by_check(&findings))
}

//! Decides what an error or a wrong row means, given the fault of the simulation.
//!
//! What the engine says of a page must be true: the page has been wrong, or a power cut has torn it.

use crate::check::Stop;
use crate::fault::{FaultKind, PlannedFault, Requirement, Target};
use crate::survivors::Mismatch;
use crate::table::{DATABASE_DIRECTORY, DATABASE_FILE};
use edb::integrity::FileFinding;
use edb::{Damage, EngineError};
use runtime::simulated::SimulatedDisk;
use runtime::{IoCause, IoDirection, IoEvent, IoFailure, IoObserver};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Something that must not be.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What, as a sentence without a full stop.
    pub what: String,
    /// The rows that differ, where rows are concerned.
    pub rows: Option<Box<Mismatch>>,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        Self {
            what: what.trim_end_matches('.').to_owned(),
            rows: None,
        }
    }
}

impl From<Box<Mismatch>> for Problem {
    fn from(mismatch: Box<Mismatch>) -> Self {
        Self {
            what: mismatch.to_string(),
            rows: Some(mismatch),
        }
    }
}

impl From<Stop> for Problem {
    fn from(stop: Stop) -> Self {
        Self::new(stop.to_string())
    }
}

/// What an observation means.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The lifetime of the database ends here, as it may; the next one begins.
    LifetimeEnds,
    /// A silent fault was reported: the simulation has done its work.
    Reported(String),
    /// A torn page was reported that the engine was not asked to repair.
    Torn(String),
    /// A silent fault has done harm that nothing in the files shows.
    NotShown(String),
    /// The engine is wrong.
    Wrong(Problem),
}

/// What is known of the fault over all lifetimes.
#[derive(Debug, Clone, Default)]
pub struct FaultState {
    /// It was injected, in this lifetime or before.
    pub injected: Cell<bool>,
    /// Writes to the log since the one that was affected.
    pub log_writes_since: Cell<u64>,
    /// The database was opened after a fault in the log that looked like its end.
    pub passed_as_end: Cell<bool>,
    /// The process that knew what it had written has ended since the fault was injected.
    pub process_ended: Cell<bool>,
    /// The log that the present lifetime begins with shows that a page is too old.
    pub log_shows_it: Cell<bool>,
    /// Pages of the database file that a power cut may have left in part.
    pub torn: RefCell<BTreeSet<Slot>>,
    /// Pages of the database file of which a full disk may have written a part.
    pub short: RefCell<BTreeSet<Slot>>,
    /// Pages of the database file that have been wrong, on the disk or in one read.
    pub wrong: RefCell<BTreeSet<Slot>>,
    /// What was reported of the fault while work went on.
    pub reported: RefCell<Option<String>>,
    /// What was reported of torn pages while work went on.
    pub torn_reported: RefCell<Option<String>>,
    /// The fault was found by reading the closed database back, and not before.
    pub found_at_the_end: Cell<bool>,
    /// All pages were read back by the process in which the fault was injected.
    pub read_back: Cell<bool>,
    /// That process ended although pages were wrong, by a power cut, before it read them back.
    pub cut_before: Cell<bool>,
    /// A page was wrong whose version is the one that was expected, as happens once in 65,534 times.
    pub by_chance: Cell<bool>,
}

/// A place in the database file, in pages: 0 and 1 are the copies of the header, 2 is page 1.
pub type Slot = u64;

/// Judges what one lifetime of the database shows.
#[derive(Clone)]
pub struct Judge {
    pub(crate) page_bytes: u64,
    pub(crate) fault: Rc<PlannedFault>,
    pub(crate) state: Rc<FaultState>,
    pub(crate) disk: SimulatedDisk,
    /// Whether torn pages are only to be reported.
    pub(crate) only_detects: bool,
    /// Whether this is the lifetime that the fault was planned for.
    pub(crate) is_present: bool,
}

impl Judge {
    /// Takes note of whether the fault was injected by now.
    pub(crate) fn note_injection(&self) {
        if self.disk.faults_injected() > 0 {
            self.state.injected.set(true);
        }
    }

    /// Whether a silent fault is to be reckoned with.
    fn is_silent_and_injected(&self) -> bool {
        self.note_injection();
        self.fault.kind.is_silent() && self.state.injected.get()
    }

    pub(crate) fn stop(&self, stop: &Stop) -> Verdict {
        match stop {
            Stop::Engine(error) => self.error(error),
            Stop::Wrong(what) => self.wrong(Problem::new(what)),
        }
    }

    /// The engine reported an error.
    pub(crate) fn error(&self, error: &EngineError) -> Verdict {
        if !self.disk.has_power() {
            return Verdict::LifetimeEnds;
        }
        let is_silent = self.is_silent_and_injected();
        let injected_now = self.is_present && self.state.injected.get();
        let expected = match self.fault.kind {
            FaultKind::TransientError => injected_now,
            FaultKind::FullDisk => {
                self.is_present && error.io_failure() == Some(&IoFailure::OutOfSpace)
            }
            _ => false,
        };
        if expected {
            self.state.injected.set(true);
            return Verdict::LifetimeEnds;
        }
        let text = error.to_string();
        if let EngineError::Page(page) = error
            && page.finding().is_some()
        {
            return self.page(u64::from(page.page.0) + 1, text);
        }
        if let EngineError::HalfWritten { page, .. } = error {
            return self.half_written(u64::from(*page) + 1, text);
        }
        if is_silent && self.fault.requirement() != Requirement::NothingLost {
            return Verdict::Reported(text);
        }
        if self.names_torn_page(&text) {
            return Verdict::Torn(text);
        }
        Verdict::Wrong(Problem::new(format!(
            "the engine reports an error without a cause: {text}"
        )))
    }

    /// The engine said that a page was being written when the disk was full.
    fn half_written(&self, slot: Slot, text: String) -> Verdict {
        let is_it = self.state.short.borrow().contains(&slot)
            || !self.state.short.borrow().is_empty() && self.state.torn.borrow().contains(&slot);
        if self.only_detects && is_it {
            Verdict::Torn(text)
        } else {
            Verdict::Wrong(Problem::new(format!(
                "the engine reports a page that no full disk has left in part: {text}"
            )))
        }
    }

    /// The engine said that a page is not what was written.
    pub(crate) fn page(&self, slot: Slot, text: String) -> Verdict {
        let is_silent = self.is_silent_and_injected();
        self.note_wrong_pages();
        let was_wrong = self.state.wrong.borrow().contains(&slot);
        let is_torn = self.only_detects && self.state.torn.borrow().contains(&slot);
        // A log that lost a write may know nothing of pages that are right.
        let any_page = is_silent && self.fault.target != Target::Data;
        let may_be_reported = self.fault.requirement() != Requirement::NothingLost;
        if is_silent && may_be_reported && (was_wrong || any_page) {
            Verdict::Reported(text)
        } else if is_torn {
            Verdict::Torn(text)
        } else {
            Verdict::Wrong(Problem::new(format!(
                "the engine reports a page that was never wrong: {text}"
            )))
        }
    }

    /// Whether a message is about a page that may be torn, which the engine has to report and need
    /// not repair.
    fn names_torn_page(&self, text: &str) -> bool {
        let names = |slot: &Slot| {
            let name = format!("age {}", slot.saturating_sub(1));
            let mut places = text.match_indices(&name);
            places.any(|(at, name)| {
                !text[at + name.len()..].starts_with(|next: char| next.is_ascii_digit())
            })
        };
        self.only_detects && self.state.torn.borrow().iter().any(names)
    }

    /// Takes note of the pages that the disk holds or has returned wrong.
    pub(crate) fn note_wrong_pages(&self) {
        let file = format!("{DATABASE_DIRECTORY}/{DATABASE_FILE}");
        let mut wrong = self.state.wrong.borrow_mut();
        let offsets = self.disk.once_wrong_blocks(&file).into_iter();
        wrong.extend(offsets.map(|offset| offset / self.page_bytes));
        for read in self.disk.wrong_reads() {
            if read.file == file {
                let offsets = read.blocks.iter().map(|block| block.offset_bytes);
                let offsets = offsets.chain(read.written_beside);
                wrong.extend(offsets.map(|offset| offset / self.page_bytes));
            }
        }
    }

    /// Whether pages of the database are wrong now, or one read has returned them wrong.
    pub(crate) fn holds_wrong_pages(&self) -> bool {
        let file = format!("{DATABASE_DIRECTORY}/{DATABASE_FILE}");
        let mut reads = self.disk.wrong_reads().into_iter();
        !self.disk.wrong_blocks(&file).is_empty()
            || reads.any(|read| read.file == file && !read.blocks.is_empty())
    }

    /// Something is wrong with the files, and work goes on: takes note of it if it may be.
    pub(crate) fn damage(&self, damage: &Damage) -> Result<(), Verdict> {
        let verdict = match damage {
            Damage::Page(error) if error.finding().is_some() => {
                self.page(u64::from(error.page.0) + 1, error.to_string())
            }
            Damage::Page(error) => self.error(&EngineError::Page(error.clone())),
            Damage::File(finding) => self.file(finding),
        };
        self.go_on(verdict)
    }

    /// A log file, a header or the checkpoint is not what was written.
    pub(crate) fn file(&self, finding: &FileFinding) -> Verdict {
        if !self.disk.has_power() {
            return Verdict::LifetimeEnds; // Perhaps the power cut is all that it is about.
        }
        let text = finding.to_string();
        if self.is_silent_and_injected() {
            Verdict::Reported(text)
        } else {
            Verdict::Wrong(Problem::new(format!(
                "the engine reports a file that was never wrong: {text}"
            )))
        }
    }

    /// Takes note of a report after which work goes on.
    pub(crate) fn go_on(&self, verdict: Verdict) -> Result<(), Verdict> {
        match verdict {
            Verdict::LifetimeEnds => {}
            Verdict::Reported(text) => *self.state.reported.borrow_mut() = Some(text),
            Verdict::Torn(text) => *self.state.torn_reported.borrow_mut() = Some(text),
            verdict => return Err(verdict),
        }
        Ok(())
    }

    /// Whether the engine has to say by now that a page is wrong: it wrote the page itself.
    pub(crate) fn must_report(&self) -> bool {
        let requirement = self.fault.requirement();
        requirement == Requirement::ReportedByPageVersion && self.is_silent_and_injected()
    }

    /// The engine shows what is not true.
    pub(crate) fn wrong(&self, problem: Problem) -> Verdict {
        if !self.is_silent_and_injected() {
            return Verdict::Wrong(problem);
        }
        match self.fault.requirement() {
            Requirement::NothingLost | Requirement::NeverReadWrongly => Verdict::Wrong(problem),
            Requirement::ReportedByPageVersion => {
                let is_on_disk = self.fault.kind != FaultKind::StaleRead;
                if self.state.by_chance.get() || is_on_disk && self.state.process_ended.get() {
                    Verdict::NotShown(problem.what)
                } else {
                    Verdict::Wrong(problem)
                }
            }
            Requirement::ReportedByLogSequence => {
                let at_the_end = self.state.log_writes_since.get() == 0;
                if at_the_end || self.state.passed_as_end.get() {
                    Verdict::NotShown(problem.what)
                } else {
                    Verdict::Wrong(problem)
                }
            }
        }
    }

    /// The check of the closed database found something.
    pub(crate) fn found_by_check(&self, findings: &[String]) -> Verdict {
        let what = findings.first().cloned().unwrap_or_default();
        let is_required = self.fault.requirement() == Requirement::NothingLost;
        if self.is_silent_and_injected() && !is_required {
            return Verdict::Reported(what);
        }
        if findings.iter().any(|finding| self.names_torn_page(finding)) {
            return Verdict::Torn(what);
        }
        Verdict::Wrong(Problem::new(what))
    }

    /// The engine stopped by an assertion.
    pub(crate) fn panicked(fault: &PlannedFault, state: &FaultState, message: &str) -> Verdict {
        let what = format!("an assertion of the engine failed: {message}");
        // What the log shows, recovery reports before it comes to that.
        let is_shown = state.log_shows_it.get();
        let is_hidden = match fault.requirement() {
            _ if is_shown => false,
            Requirement::ReportedByPageVersion => {
                state.process_ended.get() && fault.kind != FaultKind::StaleRead
            }
            requirement => requirement == Requirement::ReportedByLogSequence,
        };
        if is_hidden && state.injected.get() {
            Verdict::NotShown(what)
        } else {
            Verdict::Wrong(Problem::new(what))
        }
    }
}

/// Counts log writes after the one into which a fault was injected.
pub struct LogWatch {
    pub(crate) judge: Judge,
    pub(crate) has_seen_strike: Cell<bool>,
}

impl IoObserver for LogWatch {
    fn completed(&self, event: &IoEvent) {
        self.judge.note_injection();
        let is_log = event.cause == IoCause::Log && event.direction == IoDirection::Write;
        if !is_log || !event.succeeded || self.judge.disk.faults_injected() == 0 {
            return;
        }
        if self.has_seen_strike.replace(true) {
            let count = &self.judge.state.log_writes_since;
            count.set(count.get() + 1);
        }
    }
}

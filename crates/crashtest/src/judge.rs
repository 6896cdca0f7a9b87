//! Decides what an error or a wrong row means, given the fault of the simulation.

use crate::check::Stop;
use crate::fault::{FaultKind, PlannedFault, Requirement};
use crate::survivors::Mismatch;
use edb::EngineError;
use runtime::simulated::SimulatedDisk;
use runtime::{IoCause, IoDirection, IoEvent, IoObserver};
use std::cell::Cell;
use std::rc::Rc;

/// Something that must not be.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What, as a sentence without a full stop.
    pub what: String,
    /// Rows concerned.
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
    /// The life of the database ends here, as it may; the next one begins.
    LifeEnds,
    /// A silent fault was reported: the simulation has done its work.
    Reported(String),
    /// A silent fault has done harm that nothing in the files shows.
    NotShown(String),
    /// The engine is wrong.
    Wrong(Problem),
}

/// What is known of the fault over all lives.
#[derive(Debug, Clone, Default)]
pub struct FaultState {
    /// It has struck, in this life or before.
    pub struck: Cell<bool>,
    /// Writes to the log since the one that was struck.
    pub log_writes_since: Cell<u64>,
    /// The database was opened after a fault in the log that looked like its end.
    pub passed_as_end: Cell<bool>,
    /// A power cut has left a page of the database file in part.
    pub tore_pages: Cell<bool>,
}

/// Judges one life.
#[derive(Clone)]
pub struct Judge {
    pub(crate) fault: Rc<PlannedFault>,
    pub(crate) state: Rc<FaultState>,
    pub(crate) disk: SimulatedDisk,
    /// Whether torn pages are only to be reported.
    pub(crate) only_detects: bool,
    /// Whether this is the life that the fault was planned for.
    pub(crate) is_present: bool,
}

impl Judge {
    /// Takes note of whether the fault has struck by now.
    pub(crate) fn note_strike(&self) {
        if self.disk.faults_struck() > 0 {
            self.state.struck.set(true);
        }
    }

    /// Whether a silent fault is to be reckoned with.
    fn is_silent_and_struck(&self) -> bool {
        self.note_strike();
        self.fault.kind.is_silent() && self.state.struck.get()
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
            return Verdict::LifeEnds;
        }
        let is_silent = self.is_silent_and_struck();
        let struck_now = self.is_present && self.state.struck.get();
        let expected = match self.fault.kind {
            FaultKind::TransientError => struck_now,
            FaultKind::FullDisk => self.is_present && error.is_out_of_space(),
            _ => false,
        };
        if expected {
            self.state.struck.set(true);
            return Verdict::LifeEnds;
        }
        if is_silent && self.fault.requirement() != Requirement::NothingLost {
            return Verdict::Reported(error.to_string());
        }
        if self.may_be_torn() {
            return Verdict::Reported(error.to_string());
        }
        Verdict::Wrong(Problem::new(format!(
            "the engine reports an error without a cause: {error}"
        )))
    }

    /// Whether a page of the file may be torn, which the engine has to report and need not repair.
    fn may_be_torn(&self) -> bool {
        self.only_detects && self.state.tore_pages.get()
    }

    /// The engine shows what is not true.
    pub(crate) fn wrong(&self, problem: Problem) -> Verdict {
        if !self.is_silent_and_struck() {
            return Verdict::Wrong(problem);
        }
        match self.fault.requirement() {
            Requirement::NothingLost | Requirement::NeverReadWrongly => Verdict::Wrong(problem),
            Requirement::ReportedByPageHistory => Verdict::NotShown(problem.what),
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
    pub(crate) fn found_by_check(&self, problem: Problem) -> Verdict {
        let is_owed = self.fault.requirement() == Requirement::NothingLost;
        if self.is_silent_and_struck() && !is_owed || self.may_be_torn() {
            return Verdict::Reported(problem.what);
        }
        Verdict::Wrong(problem)
    }

    /// The engine stopped by an assertion.
    pub(crate) fn panicked(fault: &PlannedFault, state: &FaultState, message: &str) -> Verdict {
        let what = format!("an assertion of the engine failed: {message}");
        let is_hidden = matches!(
            fault.requirement(),
            Requirement::ReportedByPageHistory | Requirement::ReportedByLogSequence
        );
        if is_hidden && state.struck.get() {
            Verdict::NotShown(what)
        } else {
            Verdict::Wrong(Problem::new(what))
        }
    }
}

/// Counts log writes after the one that a fault has struck.
pub struct LogWatch {
    pub(crate) judge: Judge,
    pub(crate) has_seen_strike: Cell<bool>,
}

impl IoObserver for LogWatch {
    fn completed(&self, event: &IoEvent) {
        self.judge.note_strike();
        let is_log = event.cause == IoCause::Log && event.direction == IoDirection::Write;
        if !is_log || !event.succeeded || self.judge.disk.faults_struck() == 0 {
            return;
        }
        if self.has_seen_strike.replace(true) {
            let count = &self.judge.state.log_writes_since;
            count.set(count.get() + 1);
        }
    }
}

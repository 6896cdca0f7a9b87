//! All lifetimes of a database that one seed stands for.

use crate::base::Base;
use crate::fault::{FaultKind, Target};
use crate::judge::{FaultState, Judge, Problem, Verdict};
use crate::lifetime::{KnownRows, LifetimeContext, LifetimeOutcome, check_whole, run_lifetime};
use crate::outcome::{Failure, KindTotals, Outcome, Totals};
use crate::page_history::find_gap;
use crate::panics::catch;
use crate::plan::{Lifetime, Plan};
use crate::table::DATABASE_FILE;
use edb::settings::TornPages;
use runtime::Runtime;
use runtime::simulated::{CutWrite, SimulatedDisk, SimulatedOptions, Tearing};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Cut writes that an explanation shows, the latest.
const MOST_CUT_WRITES: usize = 16;

/// Simulates what a seed stands for. A failure is simulated again to be explained.
#[must_use]
pub fn run(seed: u64) -> Outcome {
    let outcome = Simulation::new(seed, false).run();
    if outcome.failure.is_none() {
        return outcome;
    }
    let explained = Simulation::new(seed, true).run();
    Outcome {
        failure: explained.failure.or(outcome.failure),
        ..outcome
    }
}

/// Simulates what a seed stands for and notes everything that happens.
#[must_use]
pub fn trace(seed: u64) -> Outcome {
    Simulation::new(seed, true).run()
}

/// What is noted while the simulation runs, if anything.
#[derive(Default)]
struct Recorder {
    is_on: bool,
    /// Of the present lifetime, with their time.
    lines: RefCell<Vec<(u64, String)>>,
    trace: RefCell<Vec<String>>,
    faults: RefCell<Vec<String>>,
    cut_writes: RefCell<Vec<String>>,
}

struct Simulation {
    plan: Plan,
    fault: Rc<FaultState>,
    recorder: Rc<Recorder>,
    totals: RefCell<Totals>,
    lifetime: Cell<usize>,
    /// The disk of the present lifetime, whose log an explanation needs.
    disk: RefCell<Option<SimulatedDisk>>,
}

impl Simulation {
    fn new(seed: u64, is_on: bool) -> Self {
        Self {
            plan: Plan::new(seed),
            fault: Rc::default(),
            recorder: Rc::new(Recorder {
                is_on,
                ..Recorder::default()
            }),
            totals: RefCell::default(),
            lifetime: Cell::new(0),
            disk: RefCell::default(),
        }
    }

    fn run(self) -> Outcome {
        self.recorder.push(self.plan.to_string());
        let planned = &self.plan.fault;
        let verdict = match catch(|| self.go_through()) {
            Ok(verdict) => verdict,
            Err(message) => Some(Judge::panicked(planned, &self.fault, &message)),
        };
        self.note_disk();
        let mut kind = KindTotals {
            seeds: 1,
            injected: u64::from(self.fault.injected.get()),
            ..KindTotals::default()
        };
        let failure = match verdict {
            None | Some(Verdict::LifetimeEnds) => None,
            Some(Verdict::Reported(message)) => {
                *self.fault.reported.borrow_mut() = Some(message);
                None
            }
            Some(Verdict::Torn(message)) => {
                *self.fault.torn_reported.borrow_mut() = Some(message);
                None
            }
            Some(Verdict::NotShown(message)) => {
                kind.not_shown = 1;
                let line = format!("not reported, and nothing in the files shows it: {message}");
                self.recorder.push(line);
                None
            }
            Some(Verdict::Wrong(problem)) => Some(Box::new(self.failure(problem))),
        };
        for message in [&self.fault.reported, &self.fault.torn_reported] {
            if let Some(message) = &*message.borrow() {
                self.recorder.push(format!("reported: {message}"));
            }
        }
        kind.reported = u64::from(self.fault.reported.borrow().is_some());
        kind.found_at_the_end = u64::from(self.fault.found_at_the_end.get());
        let is_open = kind.reported == 0 && kind.not_shown == 0;
        kind.cut_before = u64::from(is_open && self.fault.cut_before.get());
        kind.by_chance = u64::from(self.fault.by_chance.get());
        let mut totals = self.totals.take();
        totals.torn_pages = self.torn_pages();
        totals.kinds.insert(planned.kind, kind);
        if let Some(failure) = &failure {
            self.recorder.push(failure.to_string());
        }
        Outcome {
            totals,
            failure,
            trace: self.recorder.trace.take(),
        }
    }

    /// What became of pages that the engine was not to repair.
    fn torn_pages(&self) -> KindTotals {
        let settings = &self.plan.settings.engine;
        let only_detects = settings.torn_pages == TornPages::Detect;
        if !only_detects || self.plan.tearing != Tearing::Sectors {
            return KindTotals::default();
        }
        KindTotals {
            seeds: 1,
            injected: u64::from(
                !self.fault.torn.borrow().is_empty() || !self.fault.short.borrow().is_empty(),
            ),
            reported: u64::from(self.fault.torn_reported.borrow().is_some()),
            ..KindTotals::default()
        }
    }

    fn failure(&self, problem: Problem) -> Failure {
        let Problem { what, rows } = problem;
        let mut cut_writes = self.recorder.cut_writes.take();
        let surplus = cut_writes.len().saturating_sub(MOST_CUT_WRITES);
        cut_writes.drain(..surplus);
        let (differences, further_differences) =
            rows.map_or((Vec::new(), 0), |rows| (rows.differences, rows.further));
        Failure {
            seed: self.plan.seed,
            plan: self.plan.to_string(),
            lifetime: self.lifetime.get() + 1,
            problem: what,
            differences,
            further_differences,
            faults: self.recorder.faults.take(),
            cut_writes,
        }
    }

    /// `None`: nothing was wrong in any lifetime.
    fn go_through(&self) -> Option<Verdict> {
        let page_bytes = self.plan.settings.engine.page_bytes();
        let base = match Base::with_pages(page_bytes) {
            Ok(base) => base,
            Err(stop) => return Some(Verdict::Wrong(stop.into())),
        };
        let mut known = KnownRows {
            state: (*base.state).clone(),
            history: Vec::new(),
        };
        let mut disk = base.disk;
        for (number, lifetime) in self.plan.lifetimes.iter().enumerate() {
            self.lifetime.set(number);
            let gap = self.gap_on(&disk);
            self.fault.log_shows_it.set(gap.is_some());
            let (after, outcome) = self.run_lifetime(&disk, lifetime, number, known);
            self.count(&after, &outcome);
            disk = after;
            if let (Some(what), Some(_)) = (&gap, &outcome.report) {
                return Some(Verdict::Wrong(Problem::new(what)));
            }
            known = outcome.known;
            match outcome.verdict {
                None | Some(Verdict::LifetimeEnds) => {}
                verdict => return verdict,
            }
            if lifetime.check_after
                && let Err(verdict) = self.check(&disk, lifetime, &known)
            {
                return Some(verdict);
            }
        }
        None
    }

    /// Whether the log shows that the disk has lost a write, in words.
    fn gap_on(&self, disk: &SimulatedDisk) -> Option<String> {
        let fault = &self.plan.fault;
        let may_be_old = matches!(
            fault.kind,
            FaultKind::LostWrite | FaultKind::MisdirectedWrite
        );
        if !may_be_old || fault.target != Target::Data || !self.fault.injected.get() {
            return None;
        }
        let engine = &self.plan.settings.engine;
        let with_images = engine.torn_pages == TornPages::LogImages;
        let gap = find_gap(disk, engine.page_bytes(), with_images)?;
        Some(format!(
            "page {} is of database time {} where the log expects {}, and recovery does not report it",
            gap.page, gap.found, gap.expected
        ))
    }

    fn stage(
        &self,
        runtime: &Runtime,
        disk: &SimulatedDisk,
        lifetime: &Lifetime,
        is_present: bool,
    ) -> LifetimeContext {
        let handle = runtime.handle();
        let options = SimulatedOptions {
            seed: lifetime.seed,
            tearing: self.plan.tearing,
            // Half of the full disks also have no room for what is written over.
            copies_on_write: is_present
                && self.plan.fault.kind == FaultKind::FullDisk
                && lifetime.seed & 4 != 0,
            log_length: if self.recorder.is_on { usize::MAX } else { 0 },
            ..SimulatedOptions::default()
        };
        let disk = disk.restarted(&handle, options);
        // What the last process knew of its writes is gone with it.
        self.fault.process_ended.set(self.fault.injected.get());
        let engine = &self.plan.settings.engine;
        let recorder = Rc::clone(&self.recorder);
        let clock = handle.clone();
        LifetimeContext {
            judge: Judge {
                page_bytes: engine.page_bytes() as u64,
                fault: Rc::new(self.plan.fault.clone()),
                state: Rc::clone(&self.fault),
                disk: disk.clone(),
                only_detects: engine.torn_pages == TornPages::Detect,
                is_present,
            },
            handle,
            disk,
            settings: self.plan.settings,
            lifetime: *lifetime,
            reads_at_opening: Cell::new(0),
            note: Rc::new(move |line| recorder.note(clock.now_ns(), line)),
        }
    }

    fn run_lifetime(
        &self,
        disk: &SimulatedDisk,
        lifetime: &Lifetime,
        number: usize,
        known: KnownRows,
    ) -> (SimulatedDisk, LifetimeOutcome) {
        self.recorder
            .push(format!("lifetime {}: {}", number + 1, lifetime.ending));
        let runtime = Runtime::virtual_clock();
        let stage = self.stage(&runtime, disk, lifetime, number == self.plan.fault.lifetime);
        let (disk, judge) = (stage.disk.clone(), stage.judge.clone());
        *self.disk.borrow_mut() = Some(disk.clone());
        let outcome = run_lifetime(&runtime, stage, known);
        judge.note_injection();
        judge.note_wrong_pages();
        if number == self.plan.fault.lifetime && judge.must_report() && judge.holds_wrong_pages() {
            self.fault.cut_before.set(!self.fault.read_back.get());
        }
        self.note_disk();
        (disk, outcome)
    }

    fn check(
        &self,
        disk: &SimulatedDisk,
        lifetime: &Lifetime,
        known: &KnownRows,
    ) -> Result<(), Verdict> {
        self.recorder.push("check of the whole database".to_owned());
        let runtime = Runtime::virtual_clock();
        let stage = self.stage(&runtime, disk, lifetime, false);
        let known = known.clone();
        let result = runtime.block_on(async move { check_whole(&stage, &known).await });
        self.recorder.lines.take();
        self.totals.borrow_mut().checked += 1;
        result
    }

    fn count(&self, disk: &SimulatedDisk, outcome: &LifetimeOutcome) {
        let totals = &mut *self.totals.borrow_mut();
        totals.lifetimes += 1;
        if !disk.has_power() {
            totals.power_cuts += 1;
            totals.cut_recoveries += u64::from(outcome.report.is_none());
        }
        if self.plan.tearing == Tearing::Sectors {
            self.note_torn(disk);
        }
        if let Some(report) = &outcome.report {
            totals.recoveries += u64::from(!report.was_clean);
            totals.redone += report.redone;
            totals.skipped += report.skipped;
            totals.undone += report.undone_transactions;
            totals.restored_pages += report.restored_pages;
        }
        totals.lost_lazy_commits += u64::from(outcome.commits_gone > 0);
        let acknowledged = outcome.known.history.iter().filter(|one| one.acknowledged);
        totals.acknowledged += acknowledged.count() as u64;
    }

    /// Takes note of the pages that a power cut or a full disk may have left in part.
    fn note_torn(&self, disk: &SimulatedDisk) {
        let page_bytes = self.plan.settings.engine.page_bytes() as u64;
        let slots_of = |writes: &[CutWrite]| {
            let mut slots = BTreeSet::new();
            for write in writes {
                let sectors = write.length_bytes / 512;
                let is_cut = (1..sectors).contains(&write.sectors_kept);
                if is_cut && write.file.ends_with(DATABASE_FILE) {
                    let end_bytes = write.offset_bytes + write.length_bytes;
                    slots.extend(write.offset_bytes / page_bytes..end_bytes / page_bytes);
                }
            }
            slots
        };
        let short = slots_of(&disk.short_writes());
        if !disk.has_power() {
            // Power was lost perhaps before the engine had noted that a page is half written.
            self.fault.torn.borrow_mut().extend(&short);
        }
        self.fault.short.borrow_mut().extend(short);
        self.fault
            .torn
            .borrow_mut()
            .extend(slots_of(&disk.cut_writes()));
    }

    /// Moves what the disk and the sessions have noted into the trace.
    fn note_disk(&self) {
        if let Some(disk) = self.disk.take().filter(|_| self.recorder.is_on) {
            self.recorder.end_lifetime(self.lifetime.get() + 1, &disk);
        }
    }
}

impl Recorder {
    fn push(&self, line: String) {
        if self.is_on {
            self.trace.borrow_mut().push(line);
        }
    }

    fn note(&self, now_ns: u64, line: &dyn Fn() -> String) {
        if self.is_on {
            self.lines.borrow_mut().push((now_ns, line()));
        }
    }

    fn end_lifetime(&self, lifetime: usize, disk: &SimulatedDisk) {
        let notes = self.lines.take().into_iter();
        let notes = notes.map(|(at_ns, line)| (at_ns, format!("{at_ns:>14} ns  {line}")));
        let log = disk.log();
        let faults = log.iter().filter(|one| one.outcome.is_fault());
        let faults = faults.map(|one| format!("lifetime {lifetime}: {one}"));
        self.faults.borrow_mut().extend(faults);
        let operations = log.iter().map(|one| (one.at_ns, one.to_string()));
        let mut lines: Vec<(u64, String)> = notes.chain(operations).collect();
        lines.sort_by_key(|(at_ns, _)| *at_ns);
        let mut trace = self.trace.borrow_mut();
        trace.extend(lines.into_iter().map(|(_, line)| line));
        if disk.has_power() {
            return;
        }
        trace.push("power is lost".to_owned());
        for write in disk.cut_writes() {
            trace.push(format!("  {write}"));
            if write.sectors_kept * 512 < write.length_bytes {
                self.cut_writes
                    .borrow_mut()
                    .push(format!("lifetime {lifetime}: {write}"));
            }
        }
    }
}

//! What came of a simulation.

use crate::fault::FaultKind;
use crate::survivors::Difference;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// How simulations with one kind of fault ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindTotals {
    /// Simulations that had this fault planned.
    pub seeds: u64,
    /// Of those, the ones in which the fault was injected.
    pub injected: u64,
    /// Of those, the ones in which the engine reported it.
    pub reported: u64,
    /// Of those, the ones in which the closed database had to be read back to find it.
    pub found_at_the_end: u64,
    /// Of those in which it was injected, the ones in which a power cut ended the process, and with it its
    /// knowledge, while pages were wrong and before it had read them back; no row was wrong after it.
    pub cut_before: u64,
    /// Of those in which it was injected, the ones in which a wrong page had the version that was expected by
    /// chance, and was not reported.
    pub by_chance: u64,
    /// Of those, the ones in which rows were wrong, or the engine stopped by an assertion, and
    /// nothing in the files could show why.
    pub not_shown: u64,
}

/// What simulations went through, added up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Lifetimes of databases, from an open to its end.
    pub lifetimes: u64,
    /// Times that power was lost.
    pub power_cuts: u64,
    /// Power cuts while the database was being opened.
    pub cut_recoveries: u64,
    /// Openings that had something to recover.
    pub recoveries: u64,
    /// Page operations that recoveries repeated.
    pub redone: u64,
    /// Page operations that pages had seen already.
    pub skipped: u64,
    /// Transactions without a commit that recoveries took back.
    pub undone: u64,
    /// Pages restored from images.
    pub restored_pages: u64,
    /// Commits that were acknowledged as durable.
    pub acknowledged: u64,
    /// Openings after which commits that were not acknowledged were gone.
    pub lost_lazy_commits: u64,
    /// Databases checked from end to end.
    pub checked: u64,
    /// Pages that power cuts tore, on disks that tear pages, where the engine was to report and not
    /// to repair them; under any kind of fault.
    pub torn_pages: KindTotals,
    /// By kind of fault.
    pub kinds: BTreeMap<FaultKind, KindTotals>,
}

impl AddAssign<&Self> for Totals {
    fn add_assign(&mut self, other: &Self) {
        self.lifetimes += other.lifetimes;
        self.power_cuts += other.power_cuts;
        self.cut_recoveries += other.cut_recoveries;
        self.recoveries += other.recoveries;
        self.redone += other.redone;
        self.skipped += other.skipped;
        self.undone += other.undone;
        self.restored_pages += other.restored_pages;
        self.acknowledged += other.acknowledged;
        self.lost_lazy_commits += other.lost_lazy_commits;
        self.checked += other.checked;
        for (kind, theirs) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += theirs;
        }
        self.torn_pages += &other.torn_pages;
    }
}

impl AddAssign<&Self> for KindTotals {
    fn add_assign(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.injected += other.injected;
        self.reported += other.reported;
        self.found_at_the_end += other.found_at_the_end;
        self.cut_before += other.cut_before;
        self.by_chance += other.by_chance;
        self.not_shown += other.not_shown;
    }
}

/// A seed that failed, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Seed of the simulation that failed.
    pub seed: u64,
    /// What the seed stands for.
    pub plan: String,
    /// In which lifetime of the database it showed, counted from 1.
    pub lifetime: usize,
    /// What is wrong, as a sentence without a full stop.
    pub problem: String,
    /// Rows that are not what they must be.
    pub differences: Vec<Difference>,
    /// Differences that are counted only.
    pub further_differences: usize,
    /// Requests that were affected by faults.
    pub faults: Vec<String>,
    /// Writes that power cuts met, and what was left of them.
    pub cut_writes: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "Seed {} failed in lifetime {}: {}.",
            self.seed, self.lifetime, self.problem
        )?;
        writeln!(formatter, "  simulated: {}", self.plan)?;
        let mut list = |title: &str, lines: &[String]| {
            if lines.is_empty() {
                return Ok(());
            }
            writeln!(formatter, "  {title}:")?;
            lines
                .iter()
                .try_for_each(|line| writeln!(formatter, "    {line}"))
        };
        let mut rows: Vec<String> = self.differences.iter().map(ToString::to_string).collect();
        if self.further_differences > 0 {
            rows.push(format!("and {} more", self.further_differences));
        }
        list("rows", &rows)?;
        list("injected faults", &self.faults)?;
        list("writes that power cuts met", &self.cut_writes)
    }
}

/// What came of one seed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was gone through.
    pub totals: Totals,
    /// Why it failed, if it did.
    pub failure: Option<Box<Failure>>,
    /// Everything that happened, line by line, if that was asked for.
    pub trace: Vec<String>,
}

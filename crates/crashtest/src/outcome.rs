//! What came of a simulation.

use crate::fault::FaultKind;
use crate::survivors::Difference;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// How simulations with one kind of fault ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindTally {
    /// Simulations.
    pub seeds: u64,
    /// Of those, the ones in which the fault struck.
    pub struck: u64,
    /// Of those, the ones in which the engine reported it.
    pub reported: u64,
    /// Of those, the ones in which rows were wrong, or the engine stopped by an assertion, and
    /// nothing in the files could show why.
    pub not_shown: u64,
}

/// What simulations went through, added up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Lives of databases.
    pub lives: u64,
    /// Power cuts.
    pub power_cuts: u64,
    /// Power cuts while the database was being opened.
    pub cut_recoveries: u64,
    /// Openings that had something to recover.
    pub recoveries: u64,
    /// Page operations repeated.
    pub redone: u64,
    /// Page operations that pages had seen already.
    pub skipped: u64,
    /// Transactions taken back.
    pub undone: u64,
    /// Pages restored from images.
    pub restored_pages: u64,
    /// Commits that were acknowledged as durable.
    pub acknowledged: u64,
    /// Openings after which commits that were not acknowledged were gone.
    pub lost_lazy_commits: u64,
    /// Databases checked from end to end.
    pub checked: u64,
    /// By kind of fault.
    pub kinds: BTreeMap<FaultKind, KindTally>,
}

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        self.lives += other.lives;
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
            let ours = self.kinds.entry(*kind).or_default();
            ours.seeds += theirs.seeds;
            ours.struck += theirs.struck;
            ours.reported += theirs.reported;
            ours.not_shown += theirs.not_shown;
        }
    }
}

/// A seed that failed, explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// What the seed stands for.
    pub plan: String,
    /// In which life of the database it showed, counted from 1.
    pub life: usize,
    /// What is wrong, as a sentence without a full stop.
    pub problem: String,
    /// Rows that are not what they must be.
    pub differences: Vec<Difference>,
    /// Differences beyond those.
    pub further_differences: usize,
    /// Requests that were struck by faults.
    pub faults: Vec<String>,
    /// Writes that power cuts met, and what was left of them.
    pub cut_writes: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "Seed {} failed in life {}: {}.",
            self.seed, self.life, self.problem
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
        list("faults that struck", &self.faults)?;
        list("writes that power cuts met", &self.cut_writes)
    }
}

/// What came of one seed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was gone through.
    pub tally: Tally,
    /// Why it failed, if it did.
    pub failure: Option<Box<Failure>>,
    /// Everything that happened, line by line, if that was asked for.
    pub trace: Vec<String>,
}

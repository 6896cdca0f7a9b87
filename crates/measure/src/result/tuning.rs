//! How the load of a run was found: what was tried, and what ended the search.

use serde::{Deserialize, Serialize};

use super::CheckId;

/// How the load was tuned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TuningResult {
    /// The goal as a sentence.
    pub goal: String,
    /// Whether the highest load was looked for; otherwise it was the least load that reaches a rate.
    pub finds_maximum: bool,
    /// Whether the goal was reached.
    pub reached: bool,
    /// The setting that was chosen, in words, such as `37 threads`.
    pub chosen: String,
    /// The rate that was asked for; null when none was.
    pub target_iops: Option<f64>,
    /// Achieved rate of the highest load that kept every service level; null when none did.
    pub maximum_iops: Option<f64>,
    /// What the measured phase holds of the rate of that load, in percent.
    pub held_percent: Option<f64>,
    /// Why nothing higher was chosen.
    pub ended: SearchEnd,
    /// The service level that was not met at the least load above the chosen one; null when it was
    /// not a level that ended the search.
    pub stopped_by: Option<CheckId>,
    /// Everything that was tried, in order.
    pub steps: Vec<TuningStep>,
    /// Steps at given parts of the highest load, or of the held rate, in their order.
    pub curve: Vec<TuningStep>,
    /// The step of the curve with the highest ratio of achieved rate to average database read
    /// latency: above it latency grows faster than the rate. Null without a curve.
    pub knee_iops: Option<f64>,
}

/// Why a search for a load went no higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// The rate that was asked for is reached.
    RateReached,
    /// A service level was not met above.
    ServiceLevel,
    /// The longest time for the search was over.
    Time,
    /// There is no higher load to try.
    LargestLoad,
    /// It has not ended, or a version did not say.
    #[default]
    #[serde(other)]
    Unknown,
}

/// One thing that was tried while tuning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TuningStep {
    /// Sessions that drove the load.
    pub threads: u64,
    /// The held rate; null in a closed loop.
    pub rate_iops: Option<f64>,
    /// Of a step of the curve: the part of the highest load, or of the held rate, in percent.
    pub percent: Option<f64>,
    /// How long the step took.
    pub duration_s: f64,
    /// Length of the window at its end that was judged.
    pub judged_s: f64,
    /// Database reads plus database writes per second.
    pub achieved_iops: f64,
    /// Mean database read latency of the worst database; null without reads.
    pub average_database_read_ms: Option<f64>,
    /// 99th percentile of the database read latency of the worst database; null without reads.
    pub p99_database_read_ms: Option<f64>,
    /// Average log write latency of the worst database; null without log writes.
    pub average_log_write_ms: Option<f64>,
    /// 99th percentile of the log write latency of the worst database; null without log writes.
    pub p99_log_write_ms: Option<f64>,
    /// Page-fault stalls per second of the worst database.
    pub page_fault_stalls_per_second: f64,
    /// Whether the latency settled before it was measured, and rate and latency were steady then.
    pub steady: bool,
    /// Whether every service level was met.
    pub kept: bool,
    /// The service level that was missed most; null when every one was met.
    pub missed: Option<CheckId>,
    /// What was concluded, as a sentence.
    pub conclusion: String,
}

impl TuningResult {
    /// Why nothing higher was chosen, in words that follow "stopped by".
    #[must_use]
    pub fn stopped_by(&self) -> Option<&'static str> {
        match (self.ended, self.stopped_by) {
            (SearchEnd::ServiceLevel, Some(id)) => Some(id.label()),
            (SearchEnd::ServiceLevel, None) => Some("a latency that does not settle"),
            (SearchEnd::Time, _) => Some(self.stopped_by_time()),
            (SearchEnd::LargestLoad, _) => {
                Some("the largest load that is tried, which met every level")
            }
            (SearchEnd::RateReached | SearchEnd::Unknown, _) => None,
        }
    }

    fn stopped_by_time(&self) -> &'static str {
        let has_missed = self.steps.iter().any(|step| !step.kept);
        match (has_missed, self.maximum_iops) {
            (false, _) => "the longest time for a search, before a limit was found",
            (true, Some(_)) => {
                "the longest time for a search, before the limit above was known closely"
            }
            (true, None) => {
                "the longest time for a search, before a lower one that keeps them was found"
            }
        }
    }

    /// Whether the rate that was asked for lies above the highest load that kept the levels.
    #[must_use]
    pub fn misses_target(&self) -> bool {
        self.target_iops.is_some() && !self.reached
    }
}

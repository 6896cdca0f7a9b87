//! The verdict and the checks that led to it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The answer of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every service level was met.
    Pass,
    /// Databases were built, as was asked for, and nothing was to be measured.
    Built,
    /// The run went through, and at least one service level was not met.
    Fail,
    /// The run says neither yes nor no: not steady, too few samples, nothing to judge.
    #[default]
    Inconclusive,
    /// Somebody stopped the run; the figures cover the time until then.
    Interrupted,
    /// The storage or the engine reported an error (I/O error, bad page, full disk).
    Error,
}

impl Verdict {
    /// Exit status of the program: 0 pass and built, 1 fail, 5 inconclusive, 130 interrupted, 4 error.
    /// (2 = usage and 3 = environment end a run before it has a verdict.)
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Pass | Verdict::Built => 0,
            Verdict::Fail => 1,
            Verdict::Error => 4,
            Verdict::Inconclusive => 5,
            Verdict::Interrupted => 130,
        }
    }

    /// The word in the result document: `pass`, `built`, `fail`, `inconclusive`, `interrupted`,
    /// `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Built => "built",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Interrupted => "interrupted",
            Verdict::Error => "error",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One judged service level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// What is judged, in words, such as `average database read latency`.
    pub name: String,
    /// What sort of thing is judged.
    pub kind: CheckKind,
    /// What sort of place it is judged at.
    pub scope: Scope,
    /// The place: name of the database, path of the volume, or `run` or `host`.
    #[serde(rename = "where")]
    pub place: String,
    /// Which side of the limit is good.
    pub bound: Bound,
    /// The limit, in `unit`. A value exactly at the limit passes.
    pub limit: f64,
    /// The measured value, in `unit`; null when there was nothing to measure.
    pub value: Option<f64>,
    /// Unit of `limit` and `value`: `ms`, `s`, `1/s`, `samples`, `errors`, or `points` of a
    /// percentage.
    pub unit: String,
    /// Whether the level was met; null when it could not be judged, which makes a run that
    /// fails nowhere else inconclusive.
    pub passed: Option<bool>,
    /// The rule as a sentence, complete enough to be checked by hand against the figures.
    pub rule: String,
}

impl Default for Check {
    fn default() -> Self {
        Check {
            name: String::new(),
            kind: CheckKind::Latency,
            scope: Scope::Run,
            place: String::new(),
            bound: Bound::AtMost,
            limit: 0.0,
            value: None,
            unit: String::new(),
            passed: None,
            rule: String::new(),
        }
    }
}

/// What sort of thing a [`Check`] judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A mean or percentile latency over the whole measured phase.
    Latency,
    /// The worst samples of a latency.
    Spike,
    /// An achieved rate against a wanted one.
    Throughput,
    /// A shortage inside the engine, such as page-fault stalls.
    Resource,
    /// Whether the load was the one asked for: shares of its kinds of operation.
    Mix,
    /// Whether the server of a database served all the time.
    Service,
    /// Errors of data or device.
    Integrity,
}

/// What sort of place a [`Check`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The run as a whole.
    Run,
    /// One database file.
    Database,
    /// The log stream of one database.
    Log,
    /// One volume or block device.
    Volume,
    /// The machine that runs the load.
    Host,
}

/// Which side of a limit is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The value passes when it is not above the limit.
    AtMost,
    /// The value passes when it is not below the limit.
    AtLeast,
}

impl Bound {
    /// Whether `value` is on the good side of `limit`; exactly at the limit is good.
    pub fn allows(self, value: f64, limit: f64) -> bool {
        match self {
            Bound::AtMost => value <= limit,
            Bound::AtLeast => value >= limit,
        }
    }

    /// The sign to print before a limit, in ASCII: `<=` or `>=`.
    pub fn sign(self) -> &'static str {
        match self {
            Bound::AtMost => "<=",
            Bound::AtLeast => ">=",
        }
    }
}

//! The verdict and the checks that led to it.

use std::fmt;
use strum::IntoStaticStr;

use serde::{Deserialize, Serialize};

use super::SlowSample;
use crate::metric::Unit;

/// The answer of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    /// Every service level was met.
    Pass,
    /// Databases were built, as was asked for, and nothing was to be measured.
    Built,
    /// The run completed, and at least one service level was not met.
    Fail,
    /// The run says neither yes nor no: not steady, too few samples, nothing to judge.
    #[default]
    Inconclusive,
    /// Somebody stopped the run; the figures cover the time until then.
    Interrupted,
    /// The storage or the engine reported an error (I/O error, bad page, full disk), and more of them
    /// than are allowed or one after which the run could not go on.
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
        self.into()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One judged service level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// Which service level, for programs to compare.
    pub id: CheckId,
    /// The operation, or the share of the mix, that is judged; empty where the level is not about
    /// one of several.
    pub subject: String,
    /// What is judged, in words, such as `average database read latency`.
    pub name: String,
    /// The place: name of the database, path of the volume, or `run`.
    #[serde(rename = "where")]
    pub place: String,
    /// Which side of the limit is good.
    pub bound: Bound,
    /// The limit, in `unit`. A value exactly at the limit passes.
    pub limit: f64,
    /// The measured value, in `unit`; null when there was nothing to measure.
    pub value: Option<f64>,
    /// Unit of `limit` and `value`.
    pub unit: Unit,
    /// Whether the level was met; null when it could not be judged, which makes a run that
    /// fails nowhere else inconclusive.
    pub passed: Option<bool>,
    /// The rule as a sentence, complete enough to be checked by hand against the figures.
    pub rule: String,
    /// Of a level of samples that was not met: how many samples were above the limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub samples_above: u64,
    /// Those samples in the order of time; of very many the worst.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slow_samples: Vec<SlowSample>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Check {
    /// A judged check of the whole run.
    pub fn of_run(id: CheckId, limit: f64, value: Option<f64>, rule: String) -> Check {
        Check::of(id, "run", limit, value, rule)
    }

    /// A judged check of one place.
    pub fn of(id: CheckId, place: &str, limit: f64, value: Option<f64>, rule: String) -> Check {
        let bound = id.bound();
        Check {
            id,
            subject: String::new(),
            name: id.label().to_owned(),
            place: place.to_owned(),
            bound,
            limit,
            value,
            unit: id.unit(),
            passed: value.map(|value| bound.allows(value, limit)),
            rule,
            ..Check::default()
        }
    }

    /// The same check about one operation, or one share of the mix.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Check {
        self.name = format!("{}: {subject}", self.id.label());
        self.subject = subject.to_owned();
        self
    }

    /// How far the value lies beyond the limit, in its unit: negative within it, negative infinity
    /// when nothing was measured.
    #[must_use]
    pub fn excess(&self) -> f64 {
        let value = self.value.filter(|value| value.is_finite());
        value.map_or(f64::NEG_INFINITY, |value| match self.bound {
            Bound::AtMost => value - self.limit,
            Bound::AtLeast => self.limit - value,
        })
    }

    /// What sort of thing is judged.
    pub fn kind(&self) -> CheckKind {
        self.id.kind()
    }

    /// What sort of place it is judged at.
    pub fn scope(&self) -> Scope {
        self.id.scope()
    }
}

/// Declares the service levels: what is judged in words, what sort of thing it is, at what sort of
/// place, which side of the limit is good, and the unit of limit and value.
macro_rules! check_ids {
    ($($(#[$about:meta])* $name:ident $label:literal $kind:ident $scope:ident $bound:ident
        $unit:ident;)*) => {
        /// Which service level a [`Check`] is about: what programs compare, where people read the
        /// name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum CheckId {
            $($(#[$about])* $name,)*
        }

        impl CheckId {
            /// Every service level, in the order in which people read them.
            pub const ALL: &[CheckId] = &[$(CheckId::$name,)*];

            /// What is judged, in words.
            pub fn label(self) -> &'static str {
                match self { $(CheckId::$name => $label,)* }
            }

            /// What sort of thing is judged.
            pub fn kind(self) -> CheckKind {
                match self { $(CheckId::$name => CheckKind::$kind,)* }
            }

            /// What sort of place it is judged at.
            pub fn scope(self) -> Scope {
                match self { $(CheckId::$name => Scope::$scope,)* }
            }

            /// Which side of the limit is good.
            pub fn bound(self) -> Bound {
                match self { $(CheckId::$name => Bound::$bound,)* }
            }

            /// The unit of limit and value.
            pub fn unit(self) -> Unit {
                match self { $(CheckId::$name => Unit::$unit,)* }
            }
        }
    };
}

check_ids! {
    /// Average database read latency of one database.
    #[default]
    DatabaseReadAverage "average database read latency" Latency Database AtMost Milliseconds;
    /// 99th percentile of the database read latency of one database.
    DatabaseReadP99 "p99 database read latency" Percentile Database AtMost Milliseconds;
    /// Highest sample average of the database read latency of one database.
    DatabaseReadMax "database read latency, highest sample average" Spike Database AtMost Milliseconds;
    /// Average log write latency of one database.
    LogWriteAverage "average log write latency" Latency Log AtMost Milliseconds;
    /// 99th percentile of the log write latency of one database.
    LogWriteP99 "p99 log write latency" Percentile Log AtMost Milliseconds;
    /// Highest sample average of the log write latency of one database.
    LogWriteMax "log write latency, highest sample average" Spike Log AtMost Milliseconds;
    /// Page-fault stalls per second of one database.
    PageFaultStalls "page-fault stalls" Resource Database AtMost StallsPerSecond;
    /// 90th percentile of the service time of one kind of operation.
    OperationP90 "p90 service time" Percentile Run AtMost Milliseconds;
    /// How far the share of one kind of operation is from what the mix asks for.
    MixDeviation "mix deviation" Mix Run AtMost PercentagePoints;
    /// Achieved transactional I/O against its target.
    AchievedIops "achieved transactional I/O" Throughput Run AtLeast Iops;
    /// Achieved transactions per second against the rate that was asked for.
    TransactionRate "transaction rate" Throughput Run AtLeast TransactionsPerSecond;
    /// How long the database server did not serve.
    Downtime "downtime" Service Run AtMost Seconds;
    /// How much of a database its backup has read.
    BackupRead "database read by the backup" Completion Database AtLeast Percent;
    /// What is wrong with the copy of a database.
    BackupCopyErrors "errors in the copy" Integrity Database AtMost Errors;
    /// What is wrong with the passive copy of a database.
    PassiveCopyErrors "errors of the passive copy" Integrity Database AtMost Errors;
    /// Log files that the soft recovery of a database has replayed.
    ReplayedLogFiles "log files replayed" Completion Log AtLeast Count;
    /// Failed requests and bad pages.
    Errors "I/O errors and bad pages" Integrity Run AtMost Errors;
    /// Requests that were not answered in time.
    HungRequests "hung requests" Integrity Run AtMost Errors;
}

/// What sort of thing a [`Check`] judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    /// A mean latency over the whole measured phase.
    Latency,
    /// A percentile of a latency over the whole measured phase.
    Percentile,
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
    /// Whether a test without a measured phase did all of its work.
    Completion,
    /// Errors of data or device.
    Integrity,
}

/// What sort of place a [`Check`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The run as a whole.
    Run,
    /// One database file, without its log.
    Database,
    /// The log stream of one database.
    Log,
}

/// Which side of a limit is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The value passes when it is not above the limit.
    #[default]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_its_limit_passes_and_lies_nothing_beyond_it() {
        let at_most = CheckId::DatabaseReadAverage;
        let at_least = CheckId::AchievedIops;
        for (id, value, excess, passed) in [
            (at_most, 20.0, 0.0, true),
            (at_most, 23.5, 3.5, false),
            (at_most, 18.0, -2.0, true),
            (at_least, 20.0, 0.0, true),
            (at_least, 23.5, -3.5, true),
            (at_least, 18.0, 2.0, false),
        ] {
            let check = Check::of_run(id, 20.0, Some(value), String::new());
            assert_eq!(
                (check.excess(), check.passed),
                (excess, Some(passed)),
                "{value}"
            );
        }
        for value in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let check = Check::of_run(at_most, 20.0, value, String::new());
            assert_eq!(check.excess(), f64::NEG_INFINITY, "{value:?}");
        }
    }
}

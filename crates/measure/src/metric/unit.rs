//! Units of figures.

use serde::{Deserialize, Serialize};

/// The unit of a figure, as `result.json` and reports write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Unit {
    /// A plain number.
    #[default]
    #[serde(rename = "")]
    Count,
    /// Milliseconds; the unit of every latency.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// I/O requests per second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Operations of the workload per second.
    #[serde(rename = "operations/s")]
    OperationsPerSecond,
    /// Transactions of a database per second.
    #[serde(rename = "transactions/s")]
    TransactionsPerSecond,
    /// Page-fault stalls per second.
    #[serde(rename = "stalls/s")]
    StallsPerSecond,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Bytes per second.
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    /// A share of a whole, 0 to 100.
    #[serde(rename = "%")]
    Percent,
    /// A share of one processor, where 100 is one that is busy all the time.
    #[serde(rename = "% of one core")]
    PercentOfCore,
    /// A share of a whole, 0 to 1.
    #[serde(rename = "fraction")]
    Fraction,
    /// A difference between two percentages.
    #[serde(rename = "percentage points")]
    PercentagePoints,
    /// Requests outstanding at one time.
    #[serde(rename = "requests")]
    Requests,
    /// Pages of a pool.
    #[serde(rename = "pages")]
    Pages,
    /// Failed requests and bad pages.
    #[serde(rename = "errors")]
    Errors,
}

impl Unit {
    /// The text that `result.json` holds and that stands behind a number; empty for a count.
    pub fn text(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Iops => "IOPS",
            Unit::OperationsPerSecond => "operations/s",
            Unit::TransactionsPerSecond => "transactions/s",
            Unit::StallsPerSecond => "stalls/s",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes/s",
            Unit::Percent => "%",
            Unit::PercentOfCore => "% of one core",
            Unit::Fraction => "fraction",
            Unit::PercentagePoints => "percentage points",
            Unit::Requests => "requests",
            Unit::Pages => "pages",
            Unit::Errors => "errors",
        }
    }
}

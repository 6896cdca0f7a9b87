//! The units that figures have, and how they are written behind a number.

use serde::{Deserialize, Serialize};

/// Declares the units with their texts.
macro_rules! units {
    ($($(#[$about:meta])* $name:ident $text:literal,)*) => {
        /// The unit of a figure, as `result.json` and reports write it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub enum Unit {
            $($(#[$about])* #[serde(rename = $text)] $name,)*
        }

        impl Unit {
            /// The text that `result.json` holds and that stands behind a number; empty for a count.
            pub fn text(self) -> &'static str {
                match self { $(Unit::$name => $text,)* }
            }
        }
    };
}

units! {
    /// A number of things, without a unit.
    #[default]
    Count "",
    /// Milliseconds; the unit of every latency.
    Milliseconds "ms",
    /// Seconds; for times that are no latencies, such as the length of an outage.
    Seconds "s",
    /// I/O requests per second.
    Iops "IOPS",
    /// Operations of the workload per second.
    OperationsPerSecond "operations/s",
    /// Transactions of a database per second.
    TransactionsPerSecond "transactions/s",
    /// Page-fault stalls per second.
    StallsPerSecond "stalls/s",
    /// Bytes; reports show them in powers of 1024.
    Bytes "bytes",
    /// Bytes per second; reports show them in powers of 1024.
    BytesPerSecond "bytes/s",
    /// A share of a whole, 0 to 100.
    Percent "%",
    /// A share of one CPU, where 100 is one that is busy all the time.
    PercentOfCore "% of one core",
    /// A share of a whole, 0 to 1.
    Fraction "fraction",
    /// A difference between two percentages.
    PercentagePoints "percentage points",
    /// Requests outstanding at one time.
    Requests "requests",
    /// Pages of a pool.
    Pages "pages",
    /// Log files of a database.
    LogFiles "log files",
    /// Failed requests and bad pages.
    Errors "errors",
}

//! The figures of one stream of requests.

use super::{Merge, Unit};

/// Declares the figures: variant, identifier, unit, merge rule, label, meaning.
macro_rules! io_metrics {
    ($($variant:ident $id:literal $unit:ident $merge:ident $label:literal $meaning:literal;)*) => {
        /// A figure of a stream of requests, such as the database reads: one column of `samples.csv`
        /// for each stream, one field of `result.json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum IoMetric {
            $(#[doc = $meaning] $variant,)*
        }

        impl IoMetric {
            /// Name of the field in `result.json`, and end of the column's name in `samples.csv`.
            pub fn id(self) -> &'static str {
                match self { $(IoMetric::$variant => $id,)* }
            }

            /// Unit in which the value is written and shown.
            pub fn unit(self) -> Unit {
                match self { $(IoMetric::$variant => Unit::$unit,)* }
            }

            /// How several parts, or several samples, become one figure.
            pub fn merge(self) -> Merge {
                match self { $(IoMetric::$variant => Merge::$merge,)* }
            }

            /// How reports call it.
            pub fn label(self) -> &'static str {
                match self { $(IoMetric::$variant => $label,)* }
            }

            /// What it means, as a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(IoMetric::$variant => $meaning,)* }
            }
        }
    };
}

io_metrics! {
    Count "count" Count Sum "count" "Requests that ended well.";
    Rate "per_second" Iops OverTime "IOPS" "Requests per second that ended well.";
    AverageBytes "average_bytes" Bytes ByRequests "average size" "Mean size of a request.";
    Throughput "bytes_per_second" BytesPerSecond OverTime "throughput" "Bytes moved per second.";
    Average "average_ms" Milliseconds ByRequests "average" "Average latency.";
    HalfWidth "average_half_width_ms" Milliseconds BatchMeans "95 % CI"
        "Half-width of the 95 % confidence interval of the mean latency.";
    P50 "p50_ms" Milliseconds Histogram "p50" "Median latency.";
    P90 "p90_ms" Milliseconds Histogram "p90" "90th percentile of the latency.";
    P95 "p95_ms" Milliseconds Histogram "p95" "95th percentile of the latency.";
    P99 "p99_ms" Milliseconds Histogram "p99" "99th percentile of the latency.";
    P99_9 "p99_9_ms" Milliseconds Histogram "p99.9" "99.9th percentile of the latency.";
    Max "max_ms" Milliseconds Max "max" "Largest latency of a single request.";
    MaxSample "max_sample_average_ms" Milliseconds Max "max sample average"
        "Highest mean latency of a sample.";
    Errors "errors" Count Sum "errors" "Requests that ended with an error (a count).";
}

impl IoMetric {
    /// Those that `samples.csv` holds for each stream, in the order of its columns.
    pub const SAMPLED: [IoMetric; 7] = [
        IoMetric::Rate,
        IoMetric::AverageBytes,
        IoMetric::Average,
        IoMetric::P50,
        IoMetric::P99,
        IoMetric::Max,
        IoMetric::Errors,
    ];
}

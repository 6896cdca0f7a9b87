//! From the files of a run directory to what the report shows.

use std::collections::BTreeMap;
use std::path::Path;

use measure::histogram::{LatencyHistogram, LoggedInterval};
use measure::metric::{RowScope, Stream};
use measure::run_directory::{LoadError, load_histograms};
use measure::sample::SampleRow;

use super::{Distribution, Sample};

/// The streams whose distributions are shown.
const SHOWN: [Stream; 4] = [
    Stream::DatabaseRead,
    Stream::DatabaseWrite,
    Stream::LogWrite,
    Stream::MaintenanceRead,
];

/// The rows of `samples.csv`, sample by sample.
#[must_use]
pub fn timeline(rows: Vec<SampleRow>) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut number = None;
    for row in rows {
        if number != Some(row.sample) {
            number = Some(row.sample);
            samples.push(Sample {
                ends_s: row.begins_s + row.length_s,
                length_s: row.length_s,
                phase: row.phase,
                rows: Vec::new(),
            });
        }
        // No chart shows single kinds of operations.
        if let Some(sample) = samples
            .last_mut()
            .filter(|_| row.scope != RowScope::Operation)
        {
            sample.rows.push(row);
        }
    }
    samples
}

/// Joins the entries of `histograms.hlog`, which all belong to the measured phase, over time and
/// over the databases. Entries carry tags such as `db1/database-read`; the part after the last `/`
/// counts.
#[derive(Default)]
pub struct Distributions {
    merged: BTreeMap<Stream, LatencyHistogram>,
}

impl Distributions {
    /// Adds one entry; entries of streams that are not shown are left out.
    pub fn add(&mut self, interval: &LoggedInterval) {
        let tag = interval.tag.rsplit('/').next().unwrap_or_default();
        if let Some(stream) = SHOWN.into_iter().find(|known| known.tag() == tag) {
            self.merge(stream, &interval.histogram);
        }
    }

    /// Adds the latencies of a stream; one that is not shown is left out.
    pub fn merge(&mut self, stream: Stream, latency: &LatencyHistogram) {
        if SHOWN.contains(&stream) {
            self.merged.entry(stream).or_default().merge(latency);
        }
    }

    /// The percentile curve of each stream that had requests.
    #[must_use]
    pub fn finish(&self) -> Vec<Distribution> {
        let curve = |(stream, histogram): (&Stream, &LatencyHistogram)| Distribution {
            stream: *stream,
            points: percentiles(histogram),
        };
        let used = self.merged.iter().filter(|(_, one)| !one.is_empty());
        used.map(curve).collect()
    }
}

/// The distributions of a run directory; none when it has no histograms.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn load_distributions(directory: &Path) -> Result<Vec<Distribution>, LoadError> {
    let mut distributions = Distributions::default();
    for interval in load_histograms(directory)? {
        distributions.add(&interval);
    }
    Ok(distributions.finish())
}

/// The percentile curve of a histogram, evenly spread over its nines, up to the maximum.
#[must_use]
pub fn percentiles(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    const STEPS_PER_NINE: f64 = 24.0;
    if histogram.is_empty() {
        return Vec::new();
    }
    let nines = (histogram.count() as f64).log10();
    let steps = (nines * STEPS_PER_NINE).ceil() as u32;
    (0..=steps)
        .map(|step| (f64::from(step) / STEPS_PER_NINE).min(nines))
        .map(|nines| 1.0 - 10f64.powf(-nines))
        .map(|fraction| (fraction * 100.0, histogram.quantile_ms(fraction)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(tag: &str, begins_s: f64, latency_ns: u64) -> LoggedInterval {
        let mut histogram = LatencyHistogram::new();
        for step in 1..=1_000 {
            histogram.record(latency_ns * step / 1_000);
        }
        LoggedInterval {
            tag: tag.to_string(),
            begins_s,
            length_s: 15.0,
            histogram,
        }
    }

    #[test]
    fn databases_are_merged_and_unknown_streams_left_out() {
        let intervals = [
            interval("db1/database-read", 15.0, 10_000_000),
            interval("db2/database-read", 15.0, 20_000_000),
            interval("db2/unknown", 15.0, 90_000_000),
        ];
        let mut distributions = Distributions::default();
        intervals
            .iter()
            .for_each(|interval| distributions.add(interval));
        let found = distributions.finish();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].stream, Stream::DatabaseRead);
        let (last, longest_ms) = *found[0].points.last().expect("points");
        assert!(
            (last - 99.95).abs() < 1e-6,
            "one of 2,000 is beyond {last} %"
        );
        assert!((19.9..20.1).contains(&longest_ms), "{longest_ms}");
        assert!(
            found[0]
                .points
                .windows(2)
                .all(|pair| pair[0].1 <= pair[1].1)
        );
    }
}

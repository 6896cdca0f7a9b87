//! From the files of a run directory to what the report shows.

use std::collections::BTreeMap;
use std::path::Path;

use measure::histogram::{LatencyHistogram, LoggedInterval};
use measure::run_directory::{LoadError, load_histograms};
use measure::sample::{DeviceRow, RowScope, SampleRow, Stream, StreamRow};

use super::{DatabaseMoment, DeviceMoment, Distribution, Flow, Moment, PartMoment};

/// The streams whose distributions are shown, with the names they have in the result.
const SHOWN: [(Stream, &str); 4] = [
    (Stream::DatabaseRead, "database reads"),
    (Stream::DatabaseWrite, "database writes"),
    (Stream::LogWrite, "log writes"),
    (Stream::MaintenanceRead, "maintenance reads"),
];

/// The rows of `samples.csv`, sample by sample.
#[must_use]
pub fn timeline(rows: &[SampleRow]) -> Vec<Moment> {
    let mut moments: Vec<Moment> = Vec::new();
    let mut number = None;
    for row in rows {
        if number != Some(row.sample) {
            number = Some(row.sample);
            moments.push(Moment {
                ends_s: row.begins_s + row.length_s,
                length_s: row.length_s,
                phase: row.phase.clone(),
                processor_percent: f64::NAN,
                operation_p99_ms: f64::NAN,
                operation_from_due_p99_ms: f64::NAN,
                ..Moment::default()
            });
        }
        if let Some(moment) = moments.last_mut() {
            add(moment, row);
        }
    }
    moments
}

fn add(moment: &mut Moment, row: &SampleRow) {
    match row.scope {
        RowScope::Total => {
            moment.reads = flow(row.stream(Stream::DatabaseRead));
            moment.writes = flow(row.stream(Stream::DatabaseWrite));
            moment.log_writes = flow(row.stream(Stream::LogWrite));
            moment.maintenance_reads = flow(row.stream(Stream::MaintenanceRead));
            moment.operations_per_second = row.operation.operations_per_second.unwrap_or(0.0);
            let operation = &row.operation;
            moment.operation_p99_ms = operation.operation_p99_ms.unwrap_or(f64::NAN);
            moment.operation_from_due_p99_ms = operation
                .operation_from_intended_start_p99_ms
                .unwrap_or(f64::NAN);
            moment.stalls_per_second = row.page_fault_stalls_per_second.unwrap_or(0.0);
            moment.processor_percent = row.host.cpu_busy_percent.unwrap_or(f64::NAN);
        }
        RowScope::Database => moment.databases.push(DatabaseMoment {
            name: row.name.clone(),
            average_read_ms: flow(row.stream(Stream::DatabaseRead)).average_ms,
            average_log_write_ms: flow(row.stream(Stream::LogWrite)).average_ms,
        }),
        RowScope::Device => moment.devices.push(device(&row.name, &row.device)),
        RowScope::Operation => {}
        RowScope::ArrayController
        | RowScope::ArrayVolume
        | RowScope::ArrayPool
        | RowScope::ArrayGroup
        | RowScope::ArrayDisk => moment.array.push(PartMoment {
            scope: row.scope,
            name: row.name.clone(),
            figures: row.array,
        }),
    }
}

fn flow(stream: &StreamRow) -> Flow {
    let per_second = stream.per_second.unwrap_or(0.0);
    Flow {
        per_second,
        bytes_per_second: per_second * stream.average_bytes.unwrap_or(0.0),
        average_ms: stream.average_ms.unwrap_or(f64::NAN),
        p99_ms: stream.p99_ms.unwrap_or(f64::NAN),
    }
}

fn device(name: &str, row: &DeviceRow) -> DeviceMoment {
    DeviceMoment {
        name: name.to_string(),
        average_read_ms: row.device_average_read_ms.unwrap_or(f64::NAN),
        average_write_ms: row.device_average_write_ms.unwrap_or(f64::NAN),
    }
}

/// Joins the entries of `histograms.hlog`, which all belong to the measured phase, over time and
/// over the databases. Entries carry tags such as `db1/database-read`; the part after the last `/`
/// counts.
#[derive(Default)]
pub struct Distributions {
    merged: BTreeMap<&'static str, LatencyHistogram>,
}

impl Distributions {
    /// Adds one entry; entries of streams that are not shown are left out.
    pub fn add(&mut self, interval: &LoggedInterval) {
        let stream = interval.tag.rsplit('/').next().unwrap_or_default();
        if let Some((known, _)) = SHOWN.iter().find(|(known, _)| known.tag() == stream) {
            self.merged
                .entry(known.tag())
                .or_default()
                .merge(&interval.histogram);
        }
    }

    /// The percentile curve of each stream that had requests.
    #[must_use]
    pub fn finish(&self) -> Vec<Distribution> {
        let curve = |(stream, name): &(Stream, &str)| {
            let histogram = self
                .merged
                .get(stream.tag())
                .filter(|one| !one.is_empty())?;
            Some(Distribution {
                name: (*name).to_string(),
                points: percentiles(histogram),
            })
        };
        SHOWN.iter().filter_map(curve).collect()
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

/// The percentile curve of a histogram, evenly spread over its nines, up to the longest latency.
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
        assert_eq!(found[0].name, "database reads");
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

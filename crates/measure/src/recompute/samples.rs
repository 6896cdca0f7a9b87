//! From `samples.csv` and `histograms.hlog` back to the samples that were counted, and their totals.

use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Difference, Differences};
use crate::histogram::{
    IntervalLogError, IntervalLogReader, LONGEST_NS, LatencyHistogram, clean_tag,
};
use crate::host::{DeviceSample, HostSample};
use crate::metric::{IoMetric, Metric, RowScope, Stream};
use crate::run_directory::{FIRST_SERIES, LoadError, SeriesFiles, load_samples, read_file};
use crate::sample::{
    DatabaseMeters, IoMeter, Layout, OperationKind, Phase, RunTotals, Sample, SampleRow, rows_of,
};

/// How far the start of an interval, which is logged in milliseconds, may be from that of its sample.
const BEGIN_TOLERANCE_S: f64 = 0.0015;

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;

/// The length of a sample that had counts and no time.
const SHORTEST_S: f64 = 1e-9;

/// What the samples add up to.
pub(super) struct SampleTotals {
    pub(super) totals: RunTotals,
    /// Operations per second over the measured phase, those outside the total not counted.
    pub(super) operations_per_second: f64,
}

/// What a histogram of the log is about.
#[derive(Clone, Copy)]
enum Place {
    Stream(usize, Stream),
    Service(usize),
    Response(usize),
}

/// Adds up the samples of `files` as the run did, and notes every row that does not follow from its
/// histograms.
pub(super) fn recount(
    files: SeriesFiles,
    rows: &[SampleRow],
    histograms: &[u8],
    interval_s: f64,
    differences: &mut Differences,
) -> Result<SampleTotals, IntervalLogError> {
    let layout = Arc::new(layout_of(rows));
    let places = places_of(&layout);
    let mut totals = RunTotals::new(Arc::clone(&layout), interval_s);
    let mut log = IntervalLogReader::new(histograms).peekable();
    let mut operations = 0.0;
    let numbers = rows
        .chunk_by(|a, b| a.sample == b.sample)
        .map(|rows| rows[0].sample);
    if let Some((expected, found)) = (0..)
        .zip(numbers)
        .find(|(expected, found)| expected != found)
    {
        differences.add(Difference {
            file: files.samples.to_owned(),
            field: format!("sample {expected}"),
            recorded: format!("sample {found}"),
            recomputed: "a sample that is missing".to_owned(),
        });
    }
    for rows in rows.chunk_by(|a, b| a.sample == b.sample) {
        let mut sample = empty_sample(&layout, rows);
        if sample.phase == Phase::Measured {
            enter_histograms(&mut sample, &mut log, (files, &places), differences)?;
            let total = rows.iter().find(|row| row.scope == RowScope::Total);
            let rate = total.and_then(|row| row.get(Metric::OperationRate));
            operations += (rate.unwrap_or(0.0) * sample.length_s).round();
        }
        let averages = enter_rows(&mut sample, rows);
        if sample.phase == Phase::Measured {
            for (row, metric, recorded, found) in averages {
                differences.add(of_row(files, row, metric, (recorded, found)));
            }
            compare_rows(files, rows, &rows_of(&sample), differences);
        }
        totals.add(&sample);
    }
    while let Some(entry) = log.next().transpose()? {
        unknown_interval(files, &entry.tag, entry.begins_s, differences);
    }
    let measured_s = totals.measured_s();
    Ok(SampleTotals {
        operations_per_second: if measured_s > 0.0 {
            operations / measured_s
        } else {
            0.0
        },
        totals,
    })
}

/// What the samples in a run directory add up to; `None` when there are none.
///
/// # Errors
/// When a file is damaged.
pub(super) fn totals_of(directory: &Path, interval_s: f64) -> Result<Option<RunTotals>, LoadError> {
    let files = FIRST_SERIES;
    let rows = load_samples(&directory.join(files.samples), u64::MAX)?;
    let path = directory.join(files.histograms);
    if rows.is_empty() || interval_s <= 0.0 {
        return Ok(None);
    }
    let histograms = read_file(&path).map_err(|error| LoadError::Read {
        path: path.clone(),
        error,
    })?;
    let mut differences = Differences::default();
    let recount = recount(files, &rows, &histograms, interval_s, &mut differences);
    let recount = recount.map_err(|error| LoadError::Histograms { path, error })?;
    Ok(Some(recount.totals))
}

/// Databases and operations by the rows of the first sample; all samples have the same.
fn layout_of(rows: &[SampleRow]) -> Layout {
    let first = rows.first().map_or(0, |row| row.sample);
    let names = |scope| {
        let first = rows.iter().take_while(move |row| row.sample == first);
        first
            .filter(move |row| row.scope == scope)
            .map(|row| row.name.clone())
    };
    let operations = names(RowScope::Operation).map(OperationKind::from);
    Layout::new(names(RowScope::Database), operations)
}

fn places_of(layout: &Layout) -> FxHashMap<String, Place> {
    let databases = layout.databases.iter().enumerate();
    let streams = databases.flat_map(|(index, name)| {
        Stream::ALL.map(|stream| (format!("{name}/{stream}"), Place::Stream(index, stream)))
    });
    let operations = layout.operations.iter().enumerate();
    let operations = operations.flat_map(|(index, kind)| {
        let tag = format!("operation/{}", kind.name);
        [
            (format!("{tag}/response-time"), Place::Response(index)),
            (tag, Place::Service(index)),
        ]
    });
    streams
        .chain(operations)
        .map(|(tag, place)| (clean_tag(&tag), place))
        .collect()
}

fn empty_sample(layout: &Arc<Layout>, rows: &[SampleRow]) -> Sample {
    Sample {
        layout: Arc::clone(layout),
        number: rows[0].sample,
        phase: rows[0].phase,
        phase_number: 0,
        begins_s: rows[0].begins_s,
        length_s: rows[0].length_s.max(SHORTEST_S),
        databases: DatabaseMeters::for_layout(layout),
        host: None,
        array: None,
    }
}

/// Takes the histograms of the sample's interval out of the log. Operations are logged for all
/// databases together and stand with the first one.
fn enter_histograms(
    sample: &mut Sample,
    log: &mut Peekable<IntervalLogReader<'_>>,
    (files, places): (SeriesFiles, &FxHashMap<String, Place>),
    differences: &mut Differences,
) -> Result<(), IntervalLogError> {
    let latest_s = sample.begins_s + BEGIN_TOLERANCE_S;
    while let Some(entry) = log.next_if(|entry| {
        let begins_s = entry.as_ref().map_or(0.0, |entry| entry.begins_s);
        begins_s <= latest_s
    }) {
        let entry = entry?;
        let is_of_sample = (entry.begins_s - sample.begins_s).abs() <= BEGIN_TOLERANCE_S;
        let place = places.get(&entry.tag).filter(|_| is_of_sample);
        match (place, sample.databases.first_mut()) {
            (Some(Place::Stream(database, stream)), _) => {
                let meter = sample.databases[*database].stream_mut(*stream);
                meter.latency.merge(&entry.histogram);
            }
            (Some(Place::Service(operation)), Some(first)) => {
                let meter = first.operation_mut(*operation);
                meter.service.merge(&entry.histogram);
            }
            (Some(Place::Response(operation)), Some(first)) => {
                let meter = first.operation_mut(*operation);
                meter.response_time.merge(&entry.histogram);
            }
            _ => unknown_interval(files, &entry.tag, entry.begins_s, differences),
        }
    }
    Ok(())
}

fn unknown_interval(files: SeriesFiles, tag: &str, begins_s: f64, differences: &mut Differences) {
    differences.add(Difference {
        file: files.histograms.to_owned(),
        field: format!("{tag} at {begins_s:.3} s"),
        recorded: "a histogram".to_owned(),
        recomputed: "no such sample".to_owned(),
    });
}

/// An average or a maximum of a row, and what its histogram has instead.
type OtherLatency<'a> = (&'a SampleRow, Metric, Option<f64>, Option<f64>);

/// Takes from the rows what the histograms do not hold: exact sums and maxima, bytes, errors, stalls,
/// sizes, counters of the host. Gives the averages and maxima that are not those of the histograms.
fn enter_rows<'a>(sample: &mut Sample, rows: &'a [SampleRow]) -> Vec<OtherLatency<'a>> {
    let mut others = Vec::new();
    let layout = Arc::clone(&sample.layout);
    let length_s = sample.length_s;
    let mut host = HostSample {
        length_s,
        ..HostSample::default()
    };
    let mut has_host = false;
    for row in rows {
        match row.scope {
            RowScope::Total => {
                let values = Metric::HOST.map(|metric| (metric, row.get(metric)));
                has_host |= values.iter().any(|(_, value)| value.is_some());
                host.values = values.into_iter().collect();
            }
            RowScope::Database => {
                let index = layout.databases.iter().position(|name| *name == row.name);
                if let Some(index) = index {
                    enter_database(&mut sample.databases[index], row, &mut others);
                }
            }
            RowScope::Operation => {
                let index = layout.operation(&row.name);
                if let (Some(index), Some(first)) = (index, sample.databases.first_mut()) {
                    let meter = first.operation_mut(index);
                    meter.failures = row.get(Metric::OperationFailures).unwrap_or(0.0) as u64;
                    let metrics = (Metric::OperationAverage, Metric::OperationMax);
                    make_exact(&mut meter.service, row, metrics, &mut others);
                }
            }
            RowScope::Device => {
                has_host = true;
                host.devices.push(DeviceSample {
                    name: row.name.clone(),
                    values: row.values.clone(),
                });
            }
            _ => {}
        }
    }
    sample.host = has_host.then_some(host);
    others
}

fn enter_database<'a>(
    meters: &mut DatabaseMeters,
    row: &'a SampleRow,
    others: &mut Vec<OtherLatency<'a>>,
) {
    let length_s = row.length_s.max(SHORTEST_S);
    let stalls = row.get(Metric::PageFaultStalls).unwrap_or(0.0) * length_s;
    meters.page_fault_stalls = stalls.round() as u64;
    meters.size_bytes = row.get(Metric::Size).map(|bytes| bytes as u64);
    for stream in Stream::ALL {
        let errors = row.io(stream, IoMetric::Errors).unwrap_or(0.0) as u64;
        if errors == 0 && meters.stream(stream).is_none() {
            continue;
        }
        let meter: &mut IoMeter = meters.stream_mut(stream);
        meter.errors = errors;
        let average_bytes = row.io(stream, IoMetric::AverageBytes).unwrap_or(0.0);
        meter.bytes = (average_bytes * meter.count() as f64).round() as u64;
        let metrics = [IoMetric::Average, IoMetric::Max].map(|one| Metric::Io(stream, one));
        make_exact(&mut meter.latency, row, metrics.into(), others);
    }
}

/// Sets average and maximum of a histogram as its row has them, and notes where they are others than it has,
/// but for the digits that it has.
fn make_exact<'a>(
    latency: &mut LatencyHistogram,
    row: &'a SampleRow,
    (average, max): (Metric, Metric),
    others: &mut Vec<OtherLatency<'a>>,
) {
    let (average_ms, max_ms) = (row.get(average), row.get(max));
    let of_histogram = [
        (average, average_ms, latency.figure(IoMetric::Average)),
        (max, max_ms, latency.figure(IoMetric::Max)),
    ];
    // Longer ones are all the same to a histogram.
    let is_known = max_ms.is_none_or(|ms| ms < LONGEST_NS as f64 / NS_PER_MS);
    for (metric, recorded, found) in of_histogram {
        if is_known && !agree(metric, (recorded, found), row.length_s) {
            others.push((row, metric, recorded, found));
        }
    }
    if let (Some(average_ms), Some(max_ms)) = (average_ms, max_ms) {
        latency.set_exact(average_ms, max_ms);
    }
}

/// Compares the rows of a sample with those that follow from its histograms, in which averages and maxima are
/// those of the rows.
fn compare_rows(
    files: SeriesFiles,
    recorded: &[SampleRow],
    recomputed: &[SampleRow],
    differences: &mut Differences,
) {
    for row in recorded {
        let same = |other: &&SampleRow| other.scope == row.scope && other.name == row.name;
        let Some(other) = recomputed.iter().find(same) else {
            continue;
        };
        let is_of_operation = row.scope == RowScope::Operation;
        for metric in Metric::all() {
            let is_comparable = match metric {
                Metric::Io(..) | Metric::Iops | Metric::PageFaultStalls | Metric::Size => true,
                Metric::ResponseP99
                | Metric::OperationRate
                | Metric::OperationAverage
                | Metric::OperationP50
                | Metric::OperationP99
                | Metric::OperationMax => is_of_operation,
                _ => false,
            };
            let values = (row.get(metric), other.get(metric));
            if is_comparable && !agree(metric, values, row.length_s) {
                differences.add(of_row(files, row, metric, values));
            }
        }
    }
}

fn of_row(
    files: SeriesFiles,
    row: &SampleRow,
    metric: Metric,
    (recorded, recomputed): (Option<f64>, Option<f64>),
) -> Difference {
    let text = |value: Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
    Difference {
        file: files.samples.to_owned(),
        field: format!("sample {}, {}, {}", row.sample, row.name, metric.id()),
        recorded: text(recorded),
        recomputed: text(recomputed),
    }
}

/// Whether two values are the same but for the digits that are written.
fn agree(metric: Metric, values: (Option<f64>, Option<f64>), length_s: f64) -> bool {
    let (a, b) = match values {
        (None, None) => return true,
        (Some(a), Some(b)) => (a, b),
        _ => return false,
    };
    let is_latency = metric.unit() == crate::metric::Unit::Milliseconds;
    let tolerance = if is_latency {
        // Histograms are true to three digits, and to a microsecond.
        1e-3 + 2e-3 * a.abs().max(b.abs())
    } else {
        // Rates are counts by a length that is written in microseconds.
        2e-6 + a.abs() * (1e-6 + 1e-6 / length_s.max(SHORTEST_S))
    };
    (a - b).abs() <= tolerance
}

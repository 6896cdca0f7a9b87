//! The samples of an invented run.

use measure::metric::{IoMetric, Metric};
use measure::metric::{RowScope, Stream};
use measure::sample::{Phase, SampleRow};
use report::Sample;

use super::{Story, uniform};

/// Warm-up and measured samples of 15 s.
pub fn timeline(story: &Story) -> Vec<Sample> {
    let mut random = story.random();
    let warm_up = if story.samples > 20 { 40 } else { 0 };
    let all = warm_up + story.samples;
    let mut drift = 0.0;
    (0..all)
        .map(|index| {
            drift = drift * 0.92 + (uniform(&mut random) - 0.5) * 0.022;
            let mut noise = |width: f64| 1.0 + drift + (uniform(&mut random) - 0.5) * width;
            let warm = if index < warm_up {
                1.0 + 0.4 * (1.0 - index as f64 / 40.0)
            } else {
                1.0
            };
            let spike = index == warm_up + story.samples * 2 / 3 && story.spike_ms > 0.0;
            let read_ms = if spike {
                story.spike_ms
            } else {
                story.read_ms * warm * noise(0.09)
            };
            let many = story.databases as f64;
            let rate = story.reads_per_second * many / warm;
            let ends_s = 2_280.0 + 15.0 * (index + 1) as f64;
            let phase = if index < warm_up {
                Phase::WarmUp
            } else {
                Phase::Measured
            };
            let row = |scope, name: &str, values: Vec<(Metric, f64)>| SampleRow {
                sample: index as u64,
                phase,
                begins_s: ends_s - 15.0,
                length_s: 15.0,
                scope,
                name: name.to_owned(),
                values: values
                    .into_iter()
                    .map(|(metric, value)| (metric, Some(value)))
                    .collect(),
            };
            let (reads, writes) = (rate * noise(0.05), rate * 0.62 * noise(0.12));
            let mut total = vec![(Metric::Iops, reads + writes)];
            total.extend(stream(Stream::DatabaseRead, reads, 34_120.0, read_ms, 2.6));
            total.extend(stream(
                Stream::DatabaseWrite,
                writes,
                39_800.0,
                read_ms * 0.4,
                4.0,
            ));
            let (log_rate, log_ms) = (rate * 0.31 * noise(0.05), story.log_ms * noise(0.2));
            total.extend(stream(Stream::LogWrite, log_rate, 7_210.0, log_ms, 3.0));
            let maintenance = Stream::MaintenanceRead;
            total.extend(stream(
                maintenance,
                4.6 * many,
                262_144.0,
                read_ms * 1.3,
                2.0,
            ));
            let stalls = (story.stalls_per_second * noise(1.6)).max(0.0);
            let cpu = (story.processor_percent * noise(0.2)).min(100.0);
            total.extend([
                (Metric::OperationRate, rate * 0.98 * noise(0.05)),
                (Metric::OperationP99, read_ms * 3.1),
                (Metric::PageFaultStalls, stalls),
                (Metric::CpuBusy, cpu),
            ]);
            let device = |name, values| row(RowScope::Device, name, values);
            let mut rows = vec![
                row(RowScope::Total, "all", total),
                device(
                    "sdb",
                    vec![
                        (Metric::DeviceReadAverage, read_ms * story.device_share),
                        (Metric::DeviceWriteAverage, read_ms * 0.37),
                    ],
                ),
                device(
                    "sdc",
                    vec![(Metric::DeviceWriteAverage, story.log_ms * 0.9 * noise(0.2))],
                ),
            ];
            for database in 0..story.databases {
                let average = |stream| Metric::Io(stream, IoMetric::Average);
                let own_ms = read_ms * story.slowness(database) * noise(0.06);
                let values = vec![
                    (average(Stream::DatabaseRead), own_ms),
                    (average(Stream::LogWrite), story.log_ms * noise(0.1)),
                ];
                rows.push(row(
                    RowScope::Database,
                    &Story::database_name(database),
                    values,
                ));
            }
            Sample {
                ends_s,
                length_s: 15.0,
                phase,
                rows,
            }
        })
        .collect()
}

fn stream(
    stream: Stream,
    rate: f64,
    bytes: f64,
    average_ms: f64,
    times: f64,
) -> [(Metric, f64); 4] {
    [
        (IoMetric::Rate, rate),
        (IoMetric::AverageBytes, bytes),
        (IoMetric::Average, average_ms),
        (IoMetric::P99, average_ms * times),
    ]
    .map(|(metric, value)| (Metric::Io(stream, metric), value))
}

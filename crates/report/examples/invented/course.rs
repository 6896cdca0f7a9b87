//! The course of an invented run over time.

use report::{DatabaseMoment, DeviceMoment, Flow, Moment};

use super::{Story, uniform};

/// Warm-up and measured samples of 15 s.
pub fn timeline(story: &Story) -> Vec<Moment> {
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
            let flow = |per_second: f64, size: f64, average_ms: f64, times: f64| Flow {
                per_second,
                bytes_per_second: per_second * size,
                average_ms,
                p99_ms: average_ms * times,
            };
            let rate = story.reads_per_second * many / warm;
            Moment {
                array: Vec::new(),
                ends_s: 2_280.0 + 15.0 * (index + 1) as f64,
                length_s: 15.0,
                phase: if index < warm_up {
                    "warm-up"
                } else {
                    "measured"
                }
                .into(),
                reads: flow(rate * noise(0.05), 34_120.0, read_ms, 2.6),
                writes: flow(rate * 0.62 * noise(0.12), 39_800.0, read_ms * 0.4, 4.0),
                log_writes: flow(
                    rate * 0.31 * noise(0.05),
                    7_210.0,
                    story.log_ms * noise(0.2),
                    3.0,
                ),
                maintenance_reads: flow(4.6 * many, 262_144.0, read_ms * 1.3, 2.0),
                operations_per_second: rate * 0.98 * noise(0.05),
                operation_p99_ms: read_ms * 3.1,
                operation_from_due_p99_ms: f64::NAN,
                stalls_per_second: (story.stalls_per_second * noise(1.6)).max(0.0),
                processor_percent: (story.processor_percent * noise(0.2)).min(100.0),
                devices: vec![
                    DeviceMoment {
                        name: "sdb".into(),
                        average_read_ms: read_ms * story.device_share,
                        average_write_ms: read_ms * 0.37,
                    },
                    DeviceMoment {
                        name: "sdc".into(),
                        average_read_ms: f64::NAN,
                        average_write_ms: story.log_ms * 0.9 * noise(0.2),
                    },
                ],
                databases: (0..story.databases)
                    .map(|database| DatabaseMoment {
                        name: Story::database_name(database),
                        average_read_ms: read_ms * story.slowness(database) * noise(0.06),
                        average_log_write_ms: story.log_ms * noise(0.1),
                    })
                    .collect(),
            }
        })
        .collect()
}

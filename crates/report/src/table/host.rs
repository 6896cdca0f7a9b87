//! The host's counters and the block devices under the targets.

use measure::result::{DeviceResult, RunResult};

use super::{Cell, Column, Table};
use crate::number::{bytes, figure, figure_or_absent, percent};

/// The counters of the host over the measured phase.
#[must_use]
pub fn counters_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("counter"),
        Column::number("average", ""),
        Column::number("lowest", ""),
        Column::number("highest", ""),
        Column::text("unit"),
    ]);
    for counter in &result.host.counters {
        let in_bytes = matches!(counter.unit.as_str(), "bytes" | "B" | "byte");
        let write = |value: f64| {
            if in_bytes {
                bytes(value)
            } else {
                figure(value)
            }
        };
        table.push(vec![
            Cell::new(counter.name.clone()),
            Cell::new(write(counter.average)),
            Cell::new(write(counter.minimum)),
            Cell::new(write(counter.maximum)),
            Cell::new(if in_bytes { "" } else { counter.unit.as_str() }),
        ]);
    }
    table
}

/// The block devices as the kernel saw them.
#[must_use]
pub fn devices_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("device"),
        Column::text("model"),
        Column::number("reads", "1/s"),
        Column::number("average", "ms"),
        Column::number("writes", "1/s"),
        Column::number("average", "ms"),
        Column::number("read", "per second"),
        Column::number("written", "per second"),
        Column::number("in flight", "requests"),
        Column::number("busy", "% of time"),
        Column::text("under"),
    ]);
    for device in &result.host.devices {
        table.push(vec![
            Cell::new(device.name.clone()),
            Cell::new(describe(device)),
            Cell::new(figure(device.reads_per_second)),
            Cell::new(figure_or_absent(device.average_read_ms)),
            Cell::new(figure(device.writes_per_second)),
            Cell::new(figure_or_absent(device.average_write_ms)),
            Cell::new(bytes(device.read_bytes_per_second)),
            Cell::new(bytes(device.write_bytes_per_second)),
            Cell::new(figure(device.average_queue_depth)),
            Cell::new(percent(device.busy_fraction)),
            Cell::new(device.targets.join(", ")),
        ]);
    }
    table
}

/// Model, kind, size and scheduler, so far as the kernel knows them.
fn describe(device: &DeviceResult) -> String {
    let kind = match device.rotational {
        Some(true) => "rotating",
        Some(false) => "not rotating",
        None => "",
    };
    let size = if device.size_bytes > 0 {
        bytes(device.size_bytes as f64)
    } else {
        String::new()
    };
    let scheduler = if device.scheduler.is_empty() {
        String::new()
    } else {
        format!("scheduler {}", device.scheduler)
    };
    let parts = [device.model.as_str(), kind, &size, &scheduler];
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

//! The host's counters and the block devices under the targets.

use measure::metric::{Merge, Metric, Unit};
use measure::result::{DeviceResult, RunResult};

use super::{Cell, Column, Table};
use crate::number::{bytes, figure, percent, quantity};

/// The counters of the host over the measured phase.
#[must_use]
pub fn counters_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("counter"),
        Column::number("average", ""),
        Column::number("min", ""),
        Column::number("max", ""),
    ]);
    for counter in &result.host.counters {
        let metric = Metric::from_id(&counter.id);
        let label = metric.map(Metric::label);
        let mut row = vec![Cell::new(label.unwrap_or(&counter.id))];
        // What is the largest of a time has no average over times.
        let is_largest = metric.is_some_and(|metric| metric.merge() == Merge::Max);
        let average = if is_largest {
            f64::NAN
        } else {
            counter.average
        };
        let values = [average, counter.minimum, counter.maximum];
        row.extend(values.map(|value| Cell::new(quantity(value, counter.unit))));
        table.push(row);
    }
    table
}

/// The block devices, by the kernel's counters.
#[must_use]
pub fn devices_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("device"),
        Column::text("model"),
        Column::number("IOPS", "").of("reads"),
        Column::number("average", "latency").of("reads"),
        Column::number("throughput", "").of("reads"),
        Column::number("IOPS", "").of("writes"),
        Column::number("average", "latency").of("writes"),
        Column::number("throughput", "").of("writes"),
        Column::number("queue depth", ""),
        Column::number("utilization", "%"),
        Column::text("used by"),
    ]);
    for device in &result.host.devices {
        let rate = |bytes: f64| Cell::of(Some(bytes), Unit::BytesPerSecond);
        let name = device.name.clone();
        table.push(vec![
            Cell::new(name),
            Cell::new(describe(device)),
            Cell::new(figure(device.reads_per_second)),
            Cell::of(device.average_read_ms, Unit::Milliseconds),
            rate(device.read_bytes_per_second),
            Cell::new(figure(device.writes_per_second)),
            Cell::of(device.average_write_ms, Unit::Milliseconds),
            rate(device.write_bytes_per_second),
            Cell::new(figure(device.average_queue_depth)),
            Cell::new(percent(device.busy_fraction)),
            Cell::new(used_by(result, device)),
        ]);
    }
    table
}

/// The targets on a device, or the devices of the run that lie on it.
fn used_by(result: &RunResult, device: &DeviceResult) -> String {
    if !device.targets.is_empty() {
        return device.targets.join(", ");
    }
    let all = result.host.devices.iter();
    let above = all.filter(|one| !one.targets.is_empty() && one.lies_on(device));
    let names: Vec<&str> = above.map(|one| one.name.as_str()).collect();
    names.join(", ")
}

/// Model, firmware, kind, size and scheduler, so far as the kernel knows them.
fn describe(device: &DeviceResult) -> String {
    let kind = match device.rotational {
        Some(true) => "rotational",
        Some(false) => "non-rotational",
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
    let firmware = if device.firmware.is_empty() {
        String::new()
    } else {
        format!("firmware {}", device.firmware)
    };
    let parts = [device.model.as_str(), &firmware, kind, &size, &scheduler];
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::CounterSummary;

    #[test]
    fn a_device_is_described_by_model_and_firmware() {
        let mut result = RunResult::default();
        result.host.devices = vec![DeviceResult {
            model: "Maker Model".to_owned(),
            firmware: "GXA7401Q".to_owned(),
            scheduler: "none".to_owned(),
            rotational: Some(false),
            size_bytes: 1 << 40,
            ..DeviceResult::default()
        }];
        assert_eq!(
            devices_table(&result).rows[0][1].text,
            "Maker Model, firmware GXA7401Q, non-rotational, 1 TiB, scheduler none"
        );
    }

    #[test]
    fn the_largest_of_a_time_has_no_average() {
        let counter = |metric: Metric| CounterSummary {
            id: metric.id().into_owned(),
            unit: metric.unit(),
            average: 80.7,
            minimum: 80.7,
            maximum: 80.7,
        };
        let mut result = RunResult::default();
        result.host.counters = [Metric::LongestPause, Metric::CpuBusy].map(counter).into();
        let table = counters_table(&result);
        let averages = table.rows.iter().map(|row| row[1].text.as_str());
        assert_eq!(averages.collect::<Vec<_>>(), ["-", "80.7 %"]);
        assert_eq!(table.rows[0][3].text, "80.7 ms");
    }
}

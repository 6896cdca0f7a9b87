//! Host counters and block devices over the samples of the measured phase.

use std::collections::BTreeMap;

use crate::host::{DeviceSample, HostSample};
use crate::result::{CounterSummary, DeviceResult};

/// The host counters that the result lists: name, unit, and where a sample holds the value.
type HostCounter = (&'static str, &'static str, fn(&HostSample) -> Option<f64>);

const HOST_COUNTERS: [HostCounter; 6] = [
    ("processor time, all processors", "%", |h| {
        h.cpu_busy_percent
    }),
    ("processor time waiting for I/O", "%", |h| {
        h.cpu_io_wait_percent
    }),
    ("processor time of this process", "% of one", |h| {
        h.process_cpu_percent
    }),
    ("memory of this process", "bytes", |h| {
        h.process_resident_bytes
    }),
    ("available memory", "bytes", |h| h.available_memory_bytes),
    ("time with tasks waiting for I/O", "%", |h| {
        h.io_pressure_percent
    }),
];

/// Running sums, so that a day of samples takes no more memory than an hour.
#[derive(Debug, Clone, Default)]
pub(super) struct HostTotals {
    counters: [Spread; HOST_COUNTERS.len()],
    devices: BTreeMap<String, DeviceSums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    count: f64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

#[derive(Debug, Clone, Default)]
struct DeviceSums {
    samples: f64,
    reads_per_second: f64,
    writes_per_second: f64,
    read_bytes_per_second: f64,
    write_bytes_per_second: f64,
    queue_depth: f64,
    busy_fraction: f64,
    /// Sum over the samples of latency x rate: the time waited for reads per second.
    read_wait: f64,
    write_wait: f64,
}

impl HostTotals {
    pub(super) fn add(&mut self, host: &HostSample) {
        for (spread, (_, _, value)) in self.counters.iter_mut().zip(HOST_COUNTERS) {
            if let Some(value) = value(host) {
                spread.add(value);
            }
        }
        for device in &host.devices {
            self.devices
                .entry(device.name.clone())
                .or_default()
                .add(device);
        }
    }

    /// Counters that had a value in at least one sample.
    pub(super) fn counters(&self) -> Vec<CounterSummary> {
        let pairs = self
            .counters
            .iter()
            .zip(HOST_COUNTERS)
            .filter(|(s, _)| s.count > 0.0);
        pairs
            .map(|(spread, (name, unit, _))| CounterSummary {
                name: name.to_owned(),
                unit: unit.to_owned(),
                average: spread.sum / spread.count,
                minimum: spread.minimum,
                maximum: spread.maximum,
            })
            .collect()
    }

    /// Sets the figures of a device; leaves one alone that no sample shows.
    pub(super) fn fill_device(&self, device: &mut DeviceResult) {
        if let Some(sums) = self.devices.get(&device.name) {
            sums.fill(device);
        }
    }
}

impl Spread {
    fn add(&mut self, value: f64) {
        let first = self.count == 0.0;
        self.minimum = if first {
            value
        } else {
            self.minimum.min(value)
        };
        self.maximum = if first {
            value
        } else {
            self.maximum.max(value)
        };
        self.count += 1.0;
        self.sum += value;
    }
}

impl DeviceSums {
    fn add(&mut self, device: &DeviceSample) {
        self.samples += 1.0;
        self.reads_per_second += device.reads_per_second;
        self.writes_per_second += device.writes_per_second;
        self.read_bytes_per_second += device.read_bytes_per_second;
        self.write_bytes_per_second += device.write_bytes_per_second;
        self.queue_depth += device.average_queue_depth;
        self.busy_fraction += device.busy_fraction;
        self.read_wait += device.average_read_ms.unwrap_or(0.0) * device.reads_per_second;
        self.write_wait += device.average_write_ms.unwrap_or(0.0) * device.writes_per_second;
    }

    /// Full samples are about equally long, so rates are averaged plainly and latencies weighted
    /// with the rate of their requests.
    fn fill(&self, device: &mut DeviceResult) {
        let average = |sum: f64| sum / self.samples;
        device.reads_per_second = average(self.reads_per_second);
        device.writes_per_second = average(self.writes_per_second);
        device.read_bytes_per_second = average(self.read_bytes_per_second);
        device.write_bytes_per_second = average(self.write_bytes_per_second);
        device.average_queue_depth = average(self.queue_depth);
        device.busy_fraction = average(self.busy_fraction);
        let latency = |wait: f64, rate: f64| (rate > 0.0).then(|| wait / rate);
        device.average_read_ms = latency(self.read_wait, self.reads_per_second);
        device.average_write_ms = latency(self.write_wait, self.writes_per_second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(busy: f64, reads_per_second: f64, average_read_ms: Option<f64>) -> HostSample {
        let device = DeviceSample {
            name: "sda".to_owned(),
            reads_per_second,
            average_read_ms,
            average_queue_depth: reads_per_second / 100.0,
            ..DeviceSample::default()
        };
        let cpu_busy_percent = Some(busy);
        HostSample {
            cpu_busy_percent,
            devices: vec![device],
            ..HostSample::default()
        }
    }

    #[test]
    fn counters_and_devices_are_summed_up() {
        let mut totals = HostTotals::default();
        totals.add(&host(20.0, 300.0, Some(10.0)));
        totals.add(&host(80.0, 100.0, Some(2.0)));
        totals.add(&host(50.0, 0.0, None));
        let counters = totals.counters();
        assert_eq!(
            counters.len(),
            1,
            "counters that were never seen are left out"
        );
        let busy = &counters[0];
        assert_eq!(
            (busy.average, busy.minimum, busy.maximum),
            (50.0, 20.0, 80.0)
        );
        let mut device = DeviceResult {
            name: "sda".to_owned(),
            ..DeviceResult::default()
        };
        totals.fill_device(&mut device);
        assert!((device.reads_per_second - 400.0 / 3.0).abs() < 1e-9);
        // (300 x 10 + 100 x 2) / 400: busy samples weigh more.
        assert!((device.average_read_ms.unwrap() - 8.0).abs() < 1e-9);
        assert_eq!(device.average_write_ms, None);
    }
}

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

/// Running sums, weighted with the length of the samples, so that a day of samples takes no more memory than an hour.
#[derive(Debug, Clone, Default)]
pub(super) struct HostTotals {
    counters: [Spread; HOST_COUNTERS.len()],
    devices: BTreeMap<String, DeviceSums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    length_s: f64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

#[derive(Debug, Clone, Default)]
struct DeviceSums {
    length_s: f64,
    reads: f64,
    writes: f64,
    read_bytes: f64,
    write_bytes: f64,
    queue_depth: f64,
    busy_fraction: f64,
    /// Sum over the samples of latency x requests: the time waited for reads.
    read_wait: f64,
    write_wait: f64,
}

impl HostTotals {
    pub(super) fn add(&mut self, host: &HostSample) {
        for (spread, (_, _, value)) in self.counters.iter_mut().zip(HOST_COUNTERS) {
            if let Some(value) = value(host) {
                spread.add(value, host.length_s);
            }
        }
        for device in &host.devices {
            self.devices
                .entry(device.name.clone())
                .or_default()
                .add(device, host.length_s);
        }
    }

    /// Counters that had a value in at least one sample.
    pub(super) fn counters(&self) -> Vec<CounterSummary> {
        let pairs = self
            .counters
            .iter()
            .zip(HOST_COUNTERS)
            .filter(|(s, _)| s.length_s > 0.0);
        pairs
            .map(|(spread, (name, unit, _))| CounterSummary {
                name: name.to_owned(),
                unit: unit.to_owned(),
                average: spread.sum / spread.length_s,
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
    fn add(&mut self, value: f64, length_s: f64) {
        let first = self.length_s == 0.0;
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
        self.length_s += length_s;
        self.sum += value * length_s;
    }
}

impl DeviceSums {
    fn add(&mut self, device: &DeviceSample, length_s: f64) {
        self.length_s += length_s;
        let reads = device.reads_per_second * length_s;
        let writes = device.writes_per_second * length_s;
        self.reads += reads;
        self.writes += writes;
        self.read_bytes += device.read_bytes_per_second * length_s;
        self.write_bytes += device.write_bytes_per_second * length_s;
        self.queue_depth += device.average_queue_depth * length_s;
        self.busy_fraction += device.busy_fraction * length_s;
        self.read_wait += device.average_read_ms.unwrap_or(0.0) * reads;
        self.write_wait += device.average_write_ms.unwrap_or(0.0) * writes;
    }

    /// Latencies are weighted with the number of their requests.
    fn fill(&self, device: &mut DeviceResult) {
        let average = |sum: f64| sum / self.length_s;
        device.reads_per_second = average(self.reads);
        device.writes_per_second = average(self.writes);
        device.read_bytes_per_second = average(self.read_bytes);
        device.write_bytes_per_second = average(self.write_bytes);
        device.average_queue_depth = average(self.queue_depth);
        device.busy_fraction = average(self.busy_fraction);
        let latency = |wait: f64, requests: f64| (requests > 0.0).then(|| wait / requests);
        device.average_read_ms = latency(self.read_wait, self.reads);
        device.average_write_ms = latency(self.write_wait, self.writes);
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
            length_s: 1.0,
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

    #[test]
    fn a_short_sample_says_less_than_a_long_one() {
        let mut totals = HostTotals::default();
        totals.add(&host(50.0, 100.0, None));
        let short = HostSample {
            length_s: 0.001,
            ..host(2000.0, 5000.0, None)
        };
        totals.add(&short);
        let average = totals.counters()[0].average;
        assert!((50.0..53.0).contains(&average), "{average}");
        let mut device = DeviceResult {
            name: "sda".to_owned(),
            ..DeviceResult::default()
        };
        totals.fill_device(&mut device);
        assert!((100.0..106.0).contains(&device.reads_per_second));
    }
}

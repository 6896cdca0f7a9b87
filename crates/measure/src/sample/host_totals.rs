//! Host counters and block devices over the samples of the measured phase.

use std::collections::BTreeMap;

use super::rollup::Rollup;
use crate::host::HostSample;
use crate::metric::Metric;
use crate::result::{CounterSummary, DeviceResult};

/// The host and each of its devices, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct HostTotals {
    host: Rollup,
    devices: BTreeMap<String, Rollup>,
}

impl HostTotals {
    /// Adds the host over a sample of that length, which is the weight of its figures: whoever reads the
    /// samples back has no other.
    pub(super) fn add(&mut self, host: &HostSample, length_s: f64) {
        self.host.add(&host.values, length_s);
        for device in &host.devices {
            let rollup = self.devices.entry(device.name.clone()).or_default();
            rollup.add(&device.values, length_s);
        }
    }

    /// Counters that had a value in at least one sample.
    pub(super) fn counters(&self) -> Vec<CounterSummary> {
        let summary = |metric: Metric| {
            let spread = self.host.spread(metric)?;
            Some(CounterSummary {
                id: metric.id().into_owned(),
                unit: metric.unit(),
                average: self.host.get(metric)?,
                minimum: spread.minimum,
                maximum: spread.maximum,
            })
        };
        Metric::HOST.into_iter().filter_map(summary).collect()
    }

    /// Sets the figures of a device; leaves one alone that no sample shows.
    pub(super) fn fill_device(&self, device: &mut DeviceResult) {
        let Some(rollup) = self.devices.get(&device.name) else {
            return;
        };
        let rate = |metric| rollup.get(metric).unwrap_or(0.0);
        device.reads_per_second = rate(Metric::DeviceReads);
        device.writes_per_second = rate(Metric::DeviceWrites);
        device.read_bytes_per_second = rate(Metric::DeviceReadBytes);
        device.write_bytes_per_second = rate(Metric::DeviceWriteBytes);
        device.average_queue_depth = rate(Metric::DeviceQueueDepth);
        device.busy_fraction = rate(Metric::DeviceBusy);
        device.average_read_ms = rollup.get(Metric::DeviceReadAverage);
        device.average_write_ms = rollup.get(Metric::DeviceWriteAverage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::DeviceSample;

    fn host(busy: f64, reads_per_second: f64, average_read_ms: Option<f64>) -> HostSample {
        let device = DeviceSample {
            name: "sda".to_owned(),
            values: [
                (Metric::DeviceReads, Some(reads_per_second)),
                (Metric::DeviceReadAverage, average_read_ms),
                (Metric::DeviceQueueDepth, Some(reads_per_second / 100.0)),
            ]
            .into_iter()
            .collect(),
        };
        HostSample {
            length_s: 1.0,
            values: [(Metric::CpuBusy, Some(busy))].into_iter().collect(),
            devices: vec![device],
        }
    }

    #[test]
    fn counters_and_devices_are_summed_up() {
        let mut totals = HostTotals::default();
        totals.add(&host(20.0, 300.0, Some(10.0)), 1.0);
        totals.add(&host(80.0, 100.0, Some(2.0)), 1.0);
        totals.add(&host(50.0, 0.0, None), 1.0);
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
        totals.add(&host(50.0, 100.0, None), 1.0);
        let short = HostSample {
            length_s: 0.001,
            ..host(2000.0, 5000.0, None)
        };
        totals.add(&short, 0.001);
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

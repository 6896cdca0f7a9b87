//! From totals to the figures of the result document.

use super::totals::{SampleAverage, StreamTotals, latency_figures};
use super::{DatabaseTotals, RunTotals, Stream};
use crate::host::{DeviceSample, HostSample};
use crate::result::{
    CounterSummary, DatabaseResult, DeviceResult, IoFigures, OperationResult, RunResult, Totals,
};

impl RunTotals {
    /// Sets everything in `result` that was counted: length, samples, databases, totals,
    /// operations, achieved rates, host counters and device figures. What else is in the document
    /// stays: so paths of databases (matched by name), facts of devices (matched by name), target
    /// and verdict.
    pub fn fill(&self, result: &mut RunResult) {
        result.duration_s = self.measured_s;
        result.samples.count = self.full_samples() as u64;
        result.samples.interval_s = self.interval_s;
        for (name, totals) in self.databases() {
            let entry = database_entry(&mut result.databases, name);
            self.fill_database(totals, entry);
        }
        result.totals = self.totals_result();
        result.operations = self.operation_results();
        result.throughput.achieved_iops = self.achieved_iops();
        result.throughput.achieved_fraction = result
            .throughput
            .target_iops
            .filter(|&target| target > 0.0)
            .map(|target| result.throughput.achieved_iops / target);
        result.throughput.operations_per_second = self.operations_per_second();
        result.host.counters = counters(&self.hosts);
        for device in &mut result.host.devices {
            fill_device(device, &self.hosts);
        }
    }

    fn operations_per_second(&self) -> f64 {
        let kinds = self.layout.operations.iter().zip(&self.operations);
        let count = kinds
            .filter(|(kind, _)| kind.in_total)
            .map(|(_, o)| o.meter.count())
            .sum();
        self.per_second(count)
    }

    fn fill_database(&self, totals: &DatabaseTotals, entry: &mut DatabaseResult) {
        entry.size_begin_bytes = totals.size_begin_bytes.unwrap_or(entry.size_begin_bytes);
        entry.size_end_bytes = totals.size_end_bytes.unwrap_or(entry.size_end_bytes);
        let figures = |stream| self.io_figures(totals.stream(stream));
        entry.reads = figures(Stream::DatabaseRead);
        entry.writes = figures(Stream::DatabaseWrite);
        entry.log_writes = figures(Stream::LogWrite);
        entry.log_reads = figures(Stream::LogRead);
        entry.maintenance_reads = figures(Stream::MaintenanceRead);
        entry.header_writes = figures(Stream::HeaderWrite);
        entry.other_writes = figures(Stream::OtherWrite);
        entry.page_fault_stalls_per_second = self.per_second(totals.page_fault_stalls);
    }

    fn totals_result(&self) -> Totals {
        let figures = |stream| self.io_figures(&self.all_databases(stream));
        let sum = |part: fn(&DatabaseTotals) -> u64| self.databases.iter().map(part).sum::<u64>();
        Totals {
            size_begin_bytes: sum(|d| d.size_begin_bytes.unwrap_or(0)),
            size_end_bytes: sum(|d| d.size_end_bytes.unwrap_or(0)),
            reads: figures(Stream::DatabaseRead),
            writes: figures(Stream::DatabaseWrite),
            log_writes: figures(Stream::LogWrite),
            log_reads: figures(Stream::LogRead),
            maintenance_reads: figures(Stream::MaintenanceRead),
            header_writes: figures(Stream::HeaderWrite),
            other_writes: figures(Stream::OtherWrite),
            page_fault_stalls_per_second: self.per_second(sum(|d| d.page_fault_stalls)),
        }
    }

    /// One stream of all databases together, sample by sample.
    fn all_databases(&self, stream: Stream) -> StreamTotals {
        let mut all = StreamTotals {
            samples: vec![SampleAverage::default(); self.full_samples()],
            ..StreamTotals::default()
        };
        for totals in self.databases.iter().map(|d| d.stream(stream)) {
            all.meter.merge(&totals.meter);
            for (joined, sample) in all.samples.iter_mut().zip(&totals.samples) {
                *joined = joined.joined(*sample);
            }
        }
        all
    }

    fn io_figures(&self, totals: &StreamTotals) -> IoFigures {
        let meter = &totals.meter;
        let count = meter.count();
        IoFigures {
            count,
            per_second: self.per_second(count),
            bytes: meter.bytes,
            average_bytes: if count > 0 {
                meter.bytes as f64 / count as f64
            } else {
                0.0
            },
            errors: meter.errors,
            latency: latency_figures(&meter.latency, &totals.samples),
        }
    }

    fn operation_results(&self) -> Vec<OperationResult> {
        let kinds = self.layout.operations.iter().zip(&self.operations);
        kinds
            .map(|(kind, totals)| OperationResult {
                name: kind.name.clone(),
                count: totals.meter.count(),
                per_second: self.per_second(totals.meter.count()),
                failures: totals.meter.failures,
                service: latency_figures(&totals.meter.service, &totals.service),
                from_intended_start: latency_figures(
                    &totals.meter.from_intended_start,
                    &totals.from_intended_start,
                ),
            })
            .collect()
    }
}

/// The entry of this name, made when it is not there.
fn database_entry<'a>(entries: &'a mut Vec<DatabaseResult>, name: &str) -> &'a mut DatabaseResult {
    let index = entries
        .iter()
        .position(|d| d.name == name)
        .unwrap_or_else(|| {
            entries.push(DatabaseResult {
                name: name.to_owned(),
                ..DatabaseResult::default()
            });
            entries.len() - 1
        });
    &mut entries[index]
}

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

fn counters(hosts: &[HostSample]) -> Vec<CounterSummary> {
    let mut summaries = Vec::new();
    for (name, unit, value) in HOST_COUNTERS {
        let values: Vec<f64> = hosts.iter().filter_map(value).collect();
        let (Some(minimum), Some(maximum)) = (
            values.iter().copied().reduce(f64::min),
            values.iter().copied().reduce(f64::max),
        ) else {
            continue;
        };
        summaries.push(CounterSummary {
            name: name.to_owned(),
            unit: unit.to_owned(),
            average: values.iter().sum::<f64>() / values.len() as f64,
            minimum,
            maximum,
        });
    }
    summaries
}

/// Means over the samples. Full samples are about equally long, so rates are averaged plainly and
/// latencies weighted with the rate of their requests.
fn fill_device(device: &mut DeviceResult, hosts: &[HostSample]) {
    let samples: Vec<&DeviceSample> = hosts
        .iter()
        .flat_map(|h| &h.devices)
        .filter(|d| d.name == device.name)
        .collect();
    if samples.is_empty() {
        return;
    }
    let mean = |part: fn(&DeviceSample) -> f64| {
        samples.iter().map(|d| part(d)).sum::<f64>() / samples.len() as f64
    };
    device.reads_per_second = mean(|d| d.reads_per_second);
    device.writes_per_second = mean(|d| d.writes_per_second);
    device.read_bytes_per_second = mean(|d| d.read_bytes_per_second);
    device.write_bytes_per_second = mean(|d| d.write_bytes_per_second);
    device.average_queue_depth = mean(|d| d.average_queue_depth);
    device.busy_fraction = mean(|d| d.busy_fraction);
    let waited = mean(|d| d.average_read_ms.unwrap_or(0.0) * d.reads_per_second);
    device.average_read_ms =
        (device.reads_per_second > 0.0).then(|| waited / device.reads_per_second);
    let waited = mean(|d| d.average_write_ms.unwrap_or(0.0) * d.writes_per_second);
    device.average_write_ms =
        (device.writes_per_second > 0.0).then(|| waited / device.writes_per_second);
}

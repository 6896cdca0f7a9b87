//! From totals to the figures of the result document.

use super::totals::{SampleAverage, StreamTotals, latency_figures};
use super::{DatabaseTotals, RunTotals};
use crate::confidence::{Part, half_width_95};
use crate::metric::Stream;
use crate::result::{DatabaseFigures, DatabaseResult, IoFigures, OperationResult, RunResult};

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
            self.fill_database(totals, &mut entry.figures);
        }
        result.totals = self.totals_figures();
        result.operations = self.operation_results();
        result.throughput.achieved_iops = self.achieved_iops();
        result.throughput.achieved_half_width_iops = self.iops_half_width();
        result.throughput.achieved_fraction = result
            .throughput
            .target_iops
            .filter(|&target| target > 0.0)
            .map(|target| result.throughput.achieved_iops / target);
        result.throughput.operations_per_second = self.operations_per_second();
        result.host.counters = self.host.counters();
        for device in &mut result.host.devices {
            self.host.fill_device(device);
        }
    }

    /// Average latency of each full sample in which a stream had requests, all databases together.
    pub fn average_ms_by_sample(&self, stream: Stream) -> Vec<f64> {
        let all = self.all_databases(stream);
        let used = all.samples.iter().filter(|sample| sample.count > 0);
        used.map(|sample| f64::from(sample.average_ms)).collect()
    }

    /// Every full sample is as long as the others, so that each is one value of the rate.
    fn iops_half_width(&self) -> Option<f64> {
        let part = |iops: &f64| Part {
            count: 1.0,
            total: *iops,
        };
        half_width_95(&self.iops.iter().map(part).collect::<Vec<_>>())
    }

    fn operations_per_second(&self) -> f64 {
        self.per_second(self.completed_operations().unwrap_or(0))
    }

    /// Operations that ended well, those that count in the total; `None` where there is no such kind.
    pub(crate) fn completed_operations(&self) -> Option<u64> {
        let kinds = self.layout.operations.iter().zip(&self.operations);
        let mut counts = kinds
            .filter(|(kind, _)| kind.in_total)
            .map(|(_, o)| o.meter.count())
            .peekable();
        counts.peek()?;
        Some(counts.sum())
    }

    fn fill_database(&self, totals: &DatabaseTotals, entry: &mut DatabaseFigures) {
        let begin_bytes = totals.size_begin_bytes.unwrap_or(entry.size_begin_bytes);
        let end_bytes = totals.size_end_bytes.unwrap_or(entry.size_end_bytes);
        let figures = |stream| self.io_figures(totals.stream(stream));
        *entry = self.database_figures(figures, [begin_bytes, end_bytes], totals.page_fault_stalls);
    }

    fn totals_figures(&self) -> DatabaseFigures {
        let sum = |part: fn(&DatabaseTotals) -> u64| self.databases.iter().map(part).sum::<u64>();
        let sizes_bytes = [
            sum(|one| one.size_begin_bytes.unwrap_or(0)),
            sum(|one| one.size_end_bytes.unwrap_or(0)),
        ];
        let figures = |stream| self.io_figures(&self.all_databases(stream));
        self.database_figures(figures, sizes_bytes, sum(|one| one.page_fault_stalls))
    }

    fn database_figures(
        &self,
        figures: impl Fn(Stream) -> IoFigures,
        [size_begin_bytes, size_end_bytes]: [u64; 2],
        page_fault_stalls: u64,
    ) -> DatabaseFigures {
        DatabaseFigures {
            size_begin_bytes,
            size_end_bytes,
            reads: figures(Stream::DatabaseRead),
            writes: figures(Stream::DatabaseWrite),
            log_writes: figures(Stream::LogWrite),
            log_reads: figures(Stream::LogRead),
            maintenance_reads: figures(Stream::MaintenanceRead),
            header_writes: figures(Stream::HeaderWrite),
            other_writes: figures(Stream::OtherWrite),
            copy_log_writes: figures(Stream::CopyLogWrite),
            copy_log_reads: figures(Stream::CopyLogRead),
            copy_reads: figures(Stream::CopyRead),
            copy_writes: figures(Stream::CopyWrite),
            page_fault_stalls_per_second: self.per_second(page_fault_stalls),
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
                service_time: latency_figures(&totals.meter.service, &totals.service),
                response_time: latency_figures(&totals.meter.response_time, &totals.response_time),
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

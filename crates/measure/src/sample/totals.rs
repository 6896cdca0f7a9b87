//! Totals of the measured phase, with the averages of its samples.

use std::sync::Arc;

use super::host_totals::HostTotals;
use super::{DatabaseMeters, IoMeter, Layout, OperationMeter, Phase, Sample};
use crate::confidence::{Part, half_width_95};
use crate::histogram::LatencyHistogram;
use crate::metric::{Metric, Stream, Values};
use crate::result::LatencyFigures;

/// Count and average latency of one sample, small enough to keep for a whole day of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleAverage {
    /// Values in the sample.
    pub count: u32,
    /// Their average; 0 when there was none.
    pub average_ms: f32,
}

impl SampleAverage {
    fn of(latency: &LatencyHistogram) -> SampleAverage {
        SampleAverage {
            count: u32::try_from(latency.count()).unwrap_or(u32::MAX),
            average_ms: latency.average_ms().unwrap_or(0.0) as f32,
        }
    }

    /// Both samples as one.
    pub(super) fn joined(self, other: SampleAverage) -> SampleAverage {
        let count = self.count.saturating_add(other.count);
        if count == 0 {
            return SampleAverage::default();
        }
        let total = self.total_ms() + other.total_ms();
        SampleAverage {
            count,
            average_ms: (total / f64::from(count)) as f32,
        }
    }

    fn total_ms(self) -> f64 {
        f64::from(self.count) * f64::from(self.average_ms)
    }
}

/// Latency figures of a distribution together with its samples; `None` when it is empty.
pub(super) fn latency_figures(
    latency: &LatencyHistogram,
    samples: &[SampleAverage],
) -> Option<LatencyFigures> {
    let mut figures = latency.figures()?;
    let parts: Vec<Part> = samples
        .iter()
        .map(|s| Part {
            count: f64::from(s.count),
            total: s.total_ms(),
        })
        .collect();
    figures.average_half_width_ms = half_width_95(&parts);
    figures.max_sample_average_ms = highest_ms(samples).unwrap_or(figures.average_ms);
    Some(figures)
}

/// The highest sample average; `None` when no sample has a value.
pub(super) fn highest_ms(samples: &[SampleAverage]) -> Option<f64> {
    let used = samples
        .iter()
        .filter(|s| s.count > 0)
        .map(|s| f64::from(s.average_ms));
    used.reduce(f64::max)
}

/// One stream of one database over the measured phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamTotals {
    /// Everything that was counted.
    pub meter: IoMeter,
    /// One entry for each full sample.
    pub samples: Vec<SampleAverage>,
}

/// One database over the measured phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseTotals {
    pub(super) streams: [StreamTotals; Stream::COUNT],
    /// Page faults that had to wait for a free frame.
    pub page_fault_stalls: u64,
    /// Size of the file before the measured phase; `None` when nobody said.
    pub size_begin_bytes: Option<u64>,
    /// Size of the file at the end of the latest sample.
    pub size_end_bytes: Option<u64>,
}

impl DatabaseTotals {
    /// The totals of a stream.
    pub fn stream(&self, stream: Stream) -> &StreamTotals {
        &self.streams[stream.index()]
    }

    fn add(&mut self, meters: &DatabaseMeters, is_full_sample: bool) {
        for (stream, totals) in Stream::ALL.into_iter().zip(&mut self.streams) {
            let mut average = SampleAverage::default();
            if let Some(meter) = meters.stream(stream) {
                totals.meter.merge(meter);
                totals.meter.latency.settle();
                average = SampleAverage::of(&meter.latency);
            }
            if is_full_sample {
                totals.samples.push(average);
            }
        }
        self.page_fault_stalls += meters.page_fault_stalls;
    }
}

/// One kind of operation over the measured phase, all databases together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OperationTotals {
    pub(super) meter: OperationMeter,
    pub(super) service: Vec<SampleAverage>,
    pub(super) response_time: Vec<SampleAverage>,
}

/// Everything counted in the measured phase.
#[derive(Debug, Clone)]
pub struct RunTotals {
    pub(super) layout: Arc<Layout>,
    pub(super) interval_s: f64,
    pub(super) measured_s: f64,
    pub(super) databases: Vec<DatabaseTotals>,
    pub(super) operations: Vec<OperationTotals>,
    pub(super) iops: Vec<f64>,
    pub(super) host: HostTotals,
    pub(super) surroundings: Vec<Surroundings>,
}

/// When a full sample begins, and what host and devices did in it, as far as it explains latencies.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Surroundings {
    /// In seconds since the start of the run.
    pub(crate) begins_s: f64,
    /// Counters of the host.
    pub(crate) host: Values,
    /// Figures of each block device, by its name.
    pub(crate) devices: Vec<(String, Values)>,
}

/// Counters of the host that explain latencies.
const OF_HOST: [Metric; 9] = [
    Metric::CpuBusy,
    Metric::ProcessCpu,
    Metric::CpuSteal,
    Metric::RunQueueDelay,
    Metric::BusiestThread,
    Metric::MemoryPressure,
    Metric::Swap,
    Metric::LongestPause,
    Metric::Paused,
];
/// Figures of devices that explain latencies.
const OF_DEVICE: [Metric; 6] = [
    Metric::DeviceReads,
    Metric::DeviceReadBytes,
    Metric::DeviceWriteBytes,
    Metric::DeviceReadAverage,
    Metric::DeviceWriteAverage,
    Metric::DeviceBusy,
];

impl Surroundings {
    fn of(sample: &Sample) -> Surroundings {
        let only = |values: &Values, metrics: &[Metric]| -> Values {
            let pairs = metrics.iter().map(|&metric| (metric, values.get(metric)));
            pairs.collect()
        };
        let host = sample.host.as_ref();
        let devices = host.map_or(&[][..], |host| &host.devices);
        Surroundings {
            begins_s: sample.begins_s,
            host: host.map_or_else(Values::default, |host| only(&host.values, &OF_HOST)),
            devices: devices
                .iter()
                .map(|device| (device.name.clone(), only(&device.values, &OF_DEVICE)))
                .collect(),
        }
    }
}

impl RunTotals {
    /// Empty totals for samples of `interval_s` seconds.
    pub fn new(layout: Arc<Layout>, interval_s: f64) -> RunTotals {
        RunTotals {
            databases: vec![DatabaseTotals::default(); layout.databases.len()],
            operations: vec![OperationTotals::default(); layout.operations.len()],
            layout,
            interval_s,
            measured_s: 0.0,
            iops: Vec::new(),
            host: HostTotals::default(),
            surroundings: Vec::new(),
        }
    }

    /// Databases and kinds of operations.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The same for a layout of the same names, which knows more of the operations than samples do;
    /// `None` for one of other names.
    #[must_use]
    pub fn of_layout(self, layout: &Arc<Layout>) -> Option<RunTotals> {
        let names = |layout: &Layout| -> Vec<String> {
            layout
                .operations
                .iter()
                .map(|kind| kind.name.clone())
                .collect()
        };
        let same =
            self.layout.databases == layout.databases && names(&self.layout) == names(layout);
        same.then(|| RunTotals {
            layout: Arc::clone(layout),
            ..self
        })
    }

    /// Length of the measured phase so far in seconds.
    pub fn measured_s(&self) -> f64 {
        self.measured_s
    }

    /// Length of a sample as it was asked for.
    pub fn interval_s(&self) -> f64 {
        self.interval_s
    }

    /// Full samples of the measured phase so far. A last sample that was cut short (below half of
    /// the interval) enters all totals, but is too small to be judged or drawn on its own.
    pub fn full_samples(&self) -> usize {
        self.iops.len()
    }

    /// Database reads plus writes per second of each full sample.
    pub fn iops_by_sample(&self) -> &[f64] {
        &self.iops
    }

    /// What was around each full sample, in the same order as the samples of streams.
    pub(crate) fn surroundings(&self) -> &[Surroundings] {
        &self.surroundings
    }

    /// The totals of each database, in the order of the layout, with its name.
    pub fn databases(&self) -> impl Iterator<Item = (&str, &DatabaseTotals)> {
        self.layout
            .databases
            .iter()
            .map(String::as_str)
            .zip(&self.databases)
    }

    /// How long the operations of this name took; `None` if the layout has none.
    pub fn operation_service(&self, name: &str) -> Option<&LatencyHistogram> {
        let index = self.layout.operation(name)?;
        Some(&self.operations[index].meter.service)
    }

    /// Operations of this name that ended well; 0 if the layout has none.
    pub fn operation_count(&self, name: &str) -> u64 {
        let service = self.operation_service(name);
        service.map_or(0, LatencyHistogram::count)
    }

    /// Database reads plus writes per second over the measured phase.
    pub fn achieved_iops(&self) -> f64 {
        let count: u64 = self
            .databases
            .iter()
            .flat_map(|d| Stream::ALL.map(|s| (s, d.stream(s).meter.count())))
            .filter(|(stream, _)| stream.is_transactional())
            .map(|(_, count)| count)
            .sum();
        self.per_second(count)
    }

    pub(super) fn per_second(&self, count: u64) -> f64 {
        if self.measured_s > 0.0 {
            count as f64 / self.measured_s
        } else {
            0.0
        }
    }

    /// Adds a sample. Only those of the measured phase are counted; others give the size at which
    /// it begins.
    pub fn add(&mut self, sample: &Sample) {
        assert_eq!(sample.layout, self.layout, "a sample of another layout");
        for (totals, meters) in self.databases.iter_mut().zip(&sample.databases) {
            if let Some(size) = meters.size_bytes {
                // A run that goes on after an interruption warms up a second time.
                let is_before = sample.phase < Phase::Measured && self.measured_s == 0.0;
                if is_before || totals.size_begin_bytes.is_none() {
                    totals.size_begin_bytes = Some(size);
                }
                if sample.phase <= Phase::Measured {
                    totals.size_end_bytes = Some(size);
                }
            }
        }
        if sample.phase != Phase::Measured {
            return;
        }
        self.measured_s += sample.length_s;
        let is_full_sample = sample.length_s >= self.interval_s / 2.0;
        for (totals, meters) in self.databases.iter_mut().zip(&sample.databases) {
            totals.add(meters, is_full_sample);
        }
        self.add_operations(sample, is_full_sample);
        if is_full_sample {
            self.iops.push(sample.iops());
            self.surroundings.push(Surroundings::of(sample));
            if let Some(host) = &sample.host {
                self.host.add(host, sample.length_s);
            }
        }
    }

    fn add_operations(&mut self, sample: &Sample, is_full_sample: bool) {
        for (index, totals) in self.operations.iter_mut().enumerate() {
            let mut all = OperationMeter::default();
            for meter in sample.databases.iter().filter_map(|d| d.operation(index)) {
                all.merge(meter);
            }
            totals.meter.merge(&all);
            totals.meter.settle();
            if is_full_sample {
                totals.service.push(SampleAverage::of(&all.service));
                totals
                    .response_time
                    .push(SampleAverage::of(&all.response_time));
            }
        }
    }
}

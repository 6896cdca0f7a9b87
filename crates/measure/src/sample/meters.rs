//! Counters and histograms of one interval.
//!
//! Meters come to life at the first request, so a run with many databases and few streams pays
//! only for what happens.

use std::sync::Arc;

use super::{Layout, Phase};
use crate::histogram::LatencyHistogram;
use crate::host::HostSample;
use crate::metric::Stream;
use crate::result::ArrayResult;

/// Requests of one stream of one database.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IoMeter {
    /// Latency of the requests that ended well; its count is their number.
    pub latency: LatencyHistogram,
    /// Bytes that those requests moved.
    pub bytes: u64,
    /// Requests that ended with an error.
    pub errors: u64,
}

impl IoMeter {
    /// Requests that ended well.
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &IoMeter) {
        self.latency.merge(&other.latency);
        self.bytes += other.bytes;
        self.errors += other.errors;
    }
}

/// Operations of one kind on one database.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationMeter {
    /// From begin to end.
    pub service: LatencyHistogram,
    /// From the intended start to the end; empty in a closed loop.
    pub response_time: LatencyHistogram,
    /// Operations that ended with an error or a conflict. They are not in the histograms.
    pub failures: u64,
}

impl OperationMeter {
    /// Operations that ended well.
    pub fn count(&self) -> u64 {
        self.service.count()
    }

    /// Makes figures of this meter cheap: nothing more is counted into it for now.
    pub fn settle(&mut self) {
        self.service.settle();
        self.response_time.settle();
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &OperationMeter) {
        self.service.merge(&other.service);
        self.response_time.merge(&other.response_time);
        self.failures += other.failures;
    }
}

/// Everything that is counted for one database.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseMeters {
    streams: [Option<Box<IoMeter>>; Stream::COUNT],
    operations: Vec<Option<Box<OperationMeter>>>,
    /// Page faults that had to wait for a free frame.
    pub page_fault_stalls: u64,
    /// Size of the database file at the end of the interval; `None` when nobody said.
    pub size_bytes: Option<u64>,
    /// What its passive copy lacked at the end of the interval; `None` without such a copy.
    pub copy_queues: Option<CopyQueues>,
}

/// What a passive copy of a database lacks, in log files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyQueues {
    /// Full log files of the database that were not shipped yet.
    pub copy: u64,
    /// Shipped log files that were not replayed yet.
    pub replay: u64,
}

impl std::ops::Add for CopyQueues {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            copy: self.copy + other.copy,
            replay: self.replay + other.replay,
        }
    }
}

impl DatabaseMeters {
    /// Meters without any count, one set for each database of the layout.
    pub fn for_layout(layout: &Layout) -> Vec<DatabaseMeters> {
        let operations = layout.operations.len();
        layout
            .databases
            .iter()
            .map(|_| DatabaseMeters {
                operations: vec![None; operations],
                ..Default::default()
            })
            .collect()
    }

    /// The meter of a stream; `None` when nothing happened on it.
    pub fn stream(&self, stream: Stream) -> Option<&IoMeter> {
        self.streams[stream.index()].as_deref()
    }

    /// The meter of an operation; `None` when nothing happened.
    pub fn operation(&self, operation: usize) -> Option<&OperationMeter> {
        self.operations[operation].as_deref()
    }

    /// The meter of a stream to count into.
    #[inline]
    pub fn stream_mut(&mut self, stream: Stream) -> &mut IoMeter {
        self.streams[stream.index()].get_or_insert_default()
    }

    /// The meter of an operation to count into.
    #[inline]
    pub fn operation_mut(&mut self, operation: usize) -> &mut OperationMeter {
        self.operations[operation].get_or_insert_default()
    }

    /// Makes figures of these meters cheap: nothing more is counted into them for now.
    pub fn settle(&mut self) {
        for meter in self.streams.iter_mut().flatten() {
            meter.latency.settle();
        }
        for meter in self.operations.iter_mut().flatten() {
            meter.settle();
        }
    }

    /// Takes over everything that `other` has counted. What only one of them has costs nothing.
    pub fn absorb(&mut self, other: DatabaseMeters) {
        assert_eq!(
            self.operations.len(),
            other.operations.len(),
            "meters of two layouts"
        );
        for (mine, theirs) in self.streams.iter_mut().zip(other.streams) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.merge(&theirs),
                (mine, theirs @ Some(_)) => *mine = theirs,
                (_, None) => {}
            }
        }
        for (mine, theirs) in self.operations.iter_mut().zip(other.operations) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.merge(&theirs),
                (mine, theirs @ Some(_)) => *mine = theirs,
                (_, None) => {}
            }
        }
        self.page_fault_stalls += other.page_fault_stalls;
        self.size_bytes = other.size_bytes.or(self.size_bytes);
        self.copy_queues = other.copy_queues.or(self.copy_queues);
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &DatabaseMeters) {
        assert_eq!(
            self.operations.len(),
            other.operations.len(),
            "meters of two layouts"
        );
        for stream in Stream::ALL {
            if let Some(meter) = other.stream(stream) {
                self.stream_mut(stream).merge(meter);
            }
        }
        for operation in 0..other.operations.len() {
            if let Some(meter) = other.operation(operation) {
                self.operation_mut(operation).merge(meter);
            }
        }
        self.page_fault_stalls += other.page_fault_stalls;
        self.size_bytes = other.size_bytes.or(self.size_bytes);
        self.copy_queues = other.copy_queues.or(self.copy_queues);
    }

    /// Database reads plus writes that ended well.
    pub fn transactional_count(&self) -> u64 {
        Stream::ALL
            .into_iter()
            .filter(|s| s.is_transactional())
            .filter_map(|s| self.stream(s))
            .map(IoMeter::count)
            .sum()
    }
}

/// All shards together over one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The names behind the indices.
    pub layout: Arc<Layout>,
    /// Samples of the run before this one, all phases counted.
    pub number: u64,
    /// What the run was doing.
    pub phase: Phase,
    /// How many phases came before this one.
    pub phase_number: u32,
    /// Begin, in seconds since the start of the run.
    pub begins_s: f64,
    /// Length in seconds (the mean of the shards).
    pub length_s: f64,
    /// The counts, one entry for each database of the layout.
    pub databases: Vec<DatabaseMeters>,
    /// The host over the interval; `None` when it is not watched, or when the interval is too short
    /// for the host's counters (the next one then has what happened in it).
    pub host: Option<HostSample>,
    /// The inside of the array over the interval; `None` on real storage.
    pub array: Option<ArrayResult>,
}

impl Sample {
    /// Database reads plus writes of all databases, per second.
    pub fn iops(&self) -> f64 {
        let count: u64 = self
            .databases
            .iter()
            .map(DatabaseMeters::transactional_count)
            .sum();
        count as f64 / self.length_s
    }

    /// Operations of all databases per second, those outside the total not counted.
    pub fn operations_per_second(&self) -> f64 {
        let kinds = self.layout.operations.iter().enumerate();
        let in_total = kinds.filter(|(_, kind)| kind.in_total);
        let meters = in_total.flat_map(|(number, _)| {
            let databases = self.databases.iter();
            databases.filter_map(move |database| database.operation(number))
        });
        meters.map(OperationMeter::count).sum::<u64>() as f64 / self.length_s
    }

    /// Average latency of a stream over all databases; `None` without requests.
    pub fn average_ms(&self, stream: Stream) -> Option<f64> {
        let meters = self.databases.iter().filter_map(|one| one.stream(stream));
        let (count, total_ns) = meters.fold((0_u64, 0_u64), |(count, total_ns), meter| {
            let latency = &meter.latency;
            let total_ns = total_ns.saturating_add(latency.total_ns());
            (count + latency.count(), total_ns)
        });
        (count > 0).then(|| total_ns as f64 / count as f64 / 1e6)
    }

    /// Appends the counts of a sample that follows this one.
    pub(super) fn extend(&mut self, next: Sample) {
        self.length_s += next.length_s;
        for (mine, theirs) in self.databases.iter_mut().zip(next.databases) {
            mine.absorb(theirs);
        }
    }
}

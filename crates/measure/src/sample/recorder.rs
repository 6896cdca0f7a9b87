//! The counting end: one recorder per thread, no locks.

use std::sync::Arc;

use super::{CopyQueues, DatabaseMeters, Layout, Phase};
use crate::metric::Stream;

/// What one shard (one thread) counts into. Recording costs some ten nanoseconds.
///
/// All times are nanoseconds on one clock for the whole run, counted from its start; a shard whose
/// own clock began later adds the difference.
#[derive(Debug)]
pub struct Recorder {
    layout: Arc<Layout>,
    shard: usize,
    phase: Phase,
    phase_number: u32,
    interval: u64,
    begins_ns: u64,
    databases: Vec<DatabaseMeters>,
    stalls_seen: Vec<u64>,
}

/// The counts of one shard over one interval, on their way to the [`super::Collector`].
#[derive(Debug, Clone, PartialEq)]
pub struct ShardSample {
    /// Number of the shard, from 0.
    pub shard: usize,
    /// What the run was doing.
    pub phase: Phase,
    /// How many phases came before this one.
    pub phase_number: u32,
    /// How many intervals of the phase came before this one.
    pub interval: u64,
    /// Begin of the interval.
    pub begins_ns: u64,
    /// End of the interval.
    pub ends_ns: u64,
    /// Whether the phase ends with it.
    pub ends_phase: bool,
    /// The counts, one entry for each database of the layout.
    pub databases: Vec<DatabaseMeters>,
}

impl Recorder {
    /// A recorder of shard `shard`, counting from `now_ns` on in its first phase. Every shard of
    /// a run walks through the same phases in the same order.
    pub fn new(layout: Arc<Layout>, shard: usize, phase: Phase, now_ns: u64) -> Recorder {
        Recorder {
            databases: DatabaseMeters::for_layout(&layout),
            stalls_seen: vec![0; layout.databases.len()],
            layout,
            shard,
            phase,
            phase_number: 0,
            interval: 0,
            begins_ns: now_ns,
        }
    }

    /// The names behind the indices.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The phase that is being recorded.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Counts a request that ended well.
    #[inline]
    pub fn io(&mut self, database: usize, stream: Stream, bytes: u64, latency_ns: u64) {
        let meter = self.databases[database].stream_mut(stream);
        meter.latency.record(latency_ns);
        meter.bytes += bytes;
    }

    /// Counts a request that ended with an error.
    pub fn io_error(&mut self, database: usize, stream: Stream) {
        self.databases[database].stream_mut(stream).errors += 1;
    }

    /// Counts an operation that ended well. `from_intended_start_ns` is given when a rate is held:
    /// the time since the operation was due.
    #[inline]
    pub fn operation(
        &mut self,
        database: usize,
        operation: usize,
        service_ns: u64,
        from_intended_start_ns: Option<u64>,
    ) {
        let meter = self.databases[database].operation_mut(operation);
        meter.service.record(service_ns);
        if let Some(latency_ns) = from_intended_start_ns {
            meter.response_time.record(latency_ns);
        }
    }

    /// Counts an operation that ended with an error or a conflict.
    pub fn operation_failed(&mut self, database: usize, operation: usize) {
        self.databases[database].operation_mut(operation).failures += 1;
    }

    /// Takes over the engine's running count of page-fault stalls; the recorder counts the
    /// difference to the last call. The count may start again when a database is reopened.
    pub fn page_fault_stalls_so_far(&mut self, database: usize, total: u64) {
        let seen = std::mem::replace(&mut self.stalls_seen[database], total);
        let new = total.checked_sub(seen).unwrap_or(total);
        self.databases[database].page_fault_stalls += new;
    }

    /// Notes the present size of a database file.
    pub fn database_size(&mut self, database: usize, size_bytes: u64) {
        self.databases[database].size_bytes = Some(size_bytes);
    }

    /// Notes what the passive copy of a database lacks at present.
    pub fn copy_queues(&mut self, database: usize, queues: CopyQueues) {
        self.databases[database].copy_queues = Some(queues);
    }

    /// Ends the interval and begins the next one of the same phase.
    pub fn take(&mut self, now_ns: u64) -> ShardSample {
        let sample = self.end_interval(now_ns);
        self.interval += 1;
        sample
    }

    /// Ends the interval and the phase, and begins the next phase.
    pub fn begin_phase(&mut self, phase: Phase, now_ns: u64) -> ShardSample {
        let mut sample = self.end_interval(now_ns);
        sample.ends_phase = true;
        self.interval = 0;
        self.phase = phase;
        self.phase_number += 1;
        sample
    }

    fn end_interval(&mut self, now_ns: u64) -> ShardSample {
        assert!(
            now_ns >= self.begins_ns,
            "time ran backwards: {now_ns} < {}",
            self.begins_ns
        );
        let empty = DatabaseMeters::for_layout(&self.layout);
        ShardSample {
            shard: self.shard,
            phase: self.phase,
            phase_number: self.phase_number,
            interval: self.interval,
            begins_ns: std::mem::replace(&mut self.begins_ns, now_ns),
            ends_ns: now_ns,
            ends_phase: false,
            databases: std::mem::replace(&mut self.databases, empty),
        }
    }
}

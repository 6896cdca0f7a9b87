//! The counts of all shards over one tick, for those who steer while the run goes on.

use crate::tuning::{TuningSample, sample::DatabaseLatency};
use measure::metric::Stream;
use measure::sample::{DatabaseMeters, Layout, OperationMeter, Phase, ShardSample};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All shards together over one tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// What the run was doing.
    pub phase: Phase,
    /// Requests, latencies and stalls, as tuning takes them.
    pub io: TuningSample,
    /// Operations that ended, commits not counted.
    pub operations: u64,
}

/// Joins the counts of the shards tick by tick.
#[derive(Debug)]
pub struct TickJoiner {
    shards: usize,
    layout: Arc<Layout>,
    waiting: BTreeMap<(u32, u64), (usize, Tick)>,
}

impl TickJoiner {
    /// A joiner for so many shards that count by this layout.
    #[must_use]
    pub fn new(shards: usize, layout: Arc<Layout>) -> Self {
        Self {
            shards,
            layout,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes the counts of one shard; gives the tick that is complete with them.
    pub fn accept(&mut self, counts: &ShardSample) -> Option<Tick> {
        let key = (counts.phase_number, counts.interval);
        let (parts, tick) = self
            .waiting
            .entry(key)
            .or_insert_with(|| (0, empty(counts, &self.layout)));
        *parts += 1;
        for (mine, theirs) in tick.io.meters.iter_mut().zip(&counts.databases) {
            mine.merge(theirs);
        }
        tick.io.length_s += (counts.ends_ns - counts.begins_ns) as f64 / 1e9 / self.shards as f64;
        for (meters, latency) in counts.databases.iter().zip(&mut tick.io.databases) {
            tick.io.ios += meters.transactional_count();
            add(latency, meters);
            for (index, kind) in self.layout.operations.iter().enumerate() {
                let counted = meters.operation(index).filter(|_| kind.in_total);
                tick.operations += counted.map_or(0, OperationMeter::count);
            }
        }
        if *parts < self.shards {
            return None;
        }
        let (_, tick) = self.waiting.remove(&key)?;
        (tick.io.length_s > 0.0).then_some(tick)
    }
}

fn empty(counts: &ShardSample, layout: &Layout) -> Tick {
    let meters = match counts.phase {
        Phase::Tuning => DatabaseMeters::for_layout(layout),
        _ => Vec::new(),
    };
    Tick {
        phase: counts.phase,
        operations: 0,
        io: TuningSample {
            databases: vec![DatabaseLatency::default(); counts.databases.len()],
            meters,
            ..TuningSample::default()
        },
    }
}

fn add(latency: &mut DatabaseLatency, meters: &DatabaseMeters) {
    if let Some(reads) = meters.stream(Stream::DatabaseRead) {
        latency.reads += reads.count();
        latency.read_total_ms += reads.latency.total_ns() as f64 / 1e6;
    }
    if let Some(writes) = meters.stream(Stream::LogWrite) {
        latency.log_writes += writes.count();
        latency.log_write_total_ms += writes.latency.total_ns() as f64 / 1e6;
    }
}

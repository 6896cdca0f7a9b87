//! Joins shard samples of all threads into samples of one length.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DatabaseMeters, Layout, Sample, ShardSample};
use crate::host::HostMonitor;

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// Joins [`ShardSample`]s into [`Sample`]s of the wanted length, and watches the host.
///
/// Shards may take their counts out more often than a sample is long (once a second for a live
/// line, say): as many are joined as it takes.
#[derive(Debug)]
pub struct SampleJoiner {
    layout: Arc<Layout>,
    interval_s: f64,
    shards: Vec<Shard>,
    waiting: BTreeMap<Key, Vec<ShardSample>>,
    current: Option<Sample>,
    next_number: u64,
    monitor: Option<HostMonitor>,
}

/// Phase number and interval within the phase: the order of time.
type Key = (u32, u64);

#[derive(Debug, Clone, Copy, Default)]
struct Shard {
    latest: Option<Key>,
    ended: bool,
}

impl SampleJoiner {
    /// A joiner for `shards` shards and samples of `interval_s` seconds.
    pub fn new(
        layout: Arc<Layout>,
        shards: usize,
        interval_s: f64,
        monitor: Option<HostMonitor>,
    ) -> SampleJoiner {
        assert!(interval_s > 0.0, "a sample of {interval_s} s");
        SampleJoiner {
            layout,
            interval_s,
            shards: vec![Shard::default(); shards],
            waiting: BTreeMap::new(),
            current: None,
            next_number: 0,
            monitor,
        }
    }

    /// The same for a run that goes on: `next_number` samples came before.
    #[must_use]
    pub fn numbering_from(self, next_number: u64) -> SampleJoiner {
        SampleJoiner {
            next_number,
            ..self
        }
    }

    /// Takes the counts of one shard; gives the samples that are complete with them, in order.
    /// The shard samples of one shard come in their order; shards may run ahead of each other.
    pub fn accept(&mut self, part: ShardSample) -> Vec<Sample> {
        let key = (part.phase_number, part.interval);
        let shard = &mut self.shards[part.shard];
        assert!(
            shard.latest < Some(key),
            "shard {} sent {key:?} out of order",
            part.shard
        );
        shard.latest = Some(key);
        self.waiting.entry(key).or_default().push(part);
        self.join_complete()
    }

    /// Notes that a shard sends nothing any more; gives the samples that waited for it.
    pub fn shard_ended(&mut self, shard: usize) -> Vec<Sample> {
        self.shards[shard].ended = true;
        self.join_complete()
    }

    /// Ends the run: everything that still waits becomes samples.
    pub fn finish(&mut self) -> Vec<Sample> {
        self.shards.iter_mut().for_each(|s| s.ended = true);
        let mut samples = self.join_complete();
        samples.extend(self.emit());
        samples
    }

    /// Joins the intervals for which no shard can send anything any more, the oldest first.
    fn join_complete(&mut self) -> Vec<Sample> {
        let mut samples = Vec::new();
        while let Some((&key, _)) = self.waiting.first_key_value() {
            if self.shards.iter().any(|s| !s.ended && s.latest < Some(key)) {
                break;
            }
            let parts = self.waiting.remove(&key).unwrap_or_default();
            let ends_phase = parts.iter().all(|part| part.ends_phase);
            if let Some(tick) = self.join(parts) {
                samples.extend(self.append(tick));
            }
            if ends_phase {
                // Now, as the host is looked at when a sample is given: an interval later the
                // sample would have what the host did in the next phase.
                samples.extend(self.emit());
            }
        }
        samples
    }

    /// One interval of all shards. `None` when it has no length and no counts, as happens when a
    /// phase ends right after an interval.
    fn join(&self, parts: Vec<ShardSample>) -> Option<Sample> {
        let first = parts.first()?;
        let shards = parts.len() as f64;
        let begins_ns = parts.iter().map(|p| p.begins_ns).min()?;
        let length_ns: u64 = parts.iter().map(|p| p.ends_ns - p.begins_ns).sum();
        let mut joined = Sample {
            layout: Arc::clone(&self.layout),
            number: 0,
            phase: first.phase,
            phase_number: first.phase_number,
            begins_s: begins_ns as f64 / NS_PER_S,
            length_s: length_ns as f64 / shards / NS_PER_S,
            databases: DatabaseMeters::for_layout(&self.layout),
            host: None,
            array: None,
        };
        let empty = joined.databases.clone();
        for part in parts {
            for (mine, theirs) in joined.databases.iter_mut().zip(part.databases) {
                mine.absorb(theirs);
            }
        }
        if length_ns == 0 {
            if joined.databases == empty {
                return None;
            }
            // Counts without any time: a nanosecond keeps every rate finite.
            joined.length_s = 1.0 / NS_PER_S;
        }
        Some(joined)
    }

    /// Appends an interval to the sample in the making; gives the samples that are full.
    fn append(&mut self, tick: Sample) -> Vec<Sample> {
        let mut samples = Vec::new();
        if self
            .current
            .as_ref()
            .is_some_and(|c| c.phase_number != tick.phase_number)
        {
            samples.extend(self.emit());
        }
        let tick_s = tick.length_s;
        match &mut self.current {
            Some(current) => current.extend(tick),
            None => self.current = Some(tick),
        }
        // Nearest whole number of ticks: stop when another one would be further off.
        let full_s = self.interval_s - tick_s / 2.0;
        if self.current.as_ref().is_some_and(|c| c.length_s >= full_s) {
            samples.extend(self.emit());
        }
        samples
    }

    fn emit(&mut self) -> Option<Sample> {
        let mut sample = self.current.take()?;
        sample.number = self.next_number;
        self.next_number += 1;
        sample.databases.iter_mut().for_each(DatabaseMeters::settle);
        sample.host = self.monitor.as_mut().and_then(HostMonitor::sample);
        Some(sample)
    }
}

//! The joining end: shard samples of all threads become samples of the run, and its totals.

use std::sync::Arc;

use super::{Layout, RunTotals, Sample, SampleJoiner, ShardSample};
use crate::host::HostMonitor;

/// Joins [`ShardSample`]s into [`Sample`]s, as a [`SampleJoiner`] does, and keeps the totals of the
/// measured phase.
#[derive(Debug)]
pub struct Collector {
    joiner: SampleJoiner,
    totals: RunTotals,
}

impl Collector {
    /// A collector for `shards` shards and samples of `interval_s` seconds.
    pub fn new(
        layout: Arc<Layout>,
        shards: usize,
        interval_s: f64,
        monitor: Option<HostMonitor>,
    ) -> Collector {
        Collector {
            totals: RunTotals::new(Arc::clone(&layout), interval_s),
            joiner: SampleJoiner::new(layout, shards, interval_s, monitor),
        }
    }

    /// The same for a run that goes on: samples before this one come to `totals`, which are of the same
    /// layout.
    #[must_use]
    pub fn resuming(self, totals: RunTotals, next_number: u64) -> Collector {
        let layout = self.totals.layout();
        assert_eq!(totals.layout(), layout, "totals of another layout");
        Collector {
            totals,
            joiner: self.joiner.numbering_from(next_number),
        }
    }

    /// As [`SampleJoiner::accept`].
    pub fn accept(&mut self, part: ShardSample) -> Vec<Sample> {
        let samples = self.joiner.accept(part);
        self.add(samples)
    }

    /// As [`SampleJoiner::shard_ended`].
    pub fn shard_ended(&mut self, shard: usize) -> Vec<Sample> {
        let samples = self.joiner.shard_ended(shard);
        self.add(samples)
    }

    /// As [`SampleJoiner::finish`].
    pub fn finish(&mut self) -> Vec<Sample> {
        let samples = self.joiner.finish();
        self.add(samples)
    }

    /// Totals of the measured phase so far.
    pub fn totals(&self) -> &RunTotals {
        &self.totals
    }

    fn add(&mut self, samples: Vec<Sample>) -> Vec<Sample> {
        samples.iter().for_each(|sample| self.totals.add(sample));
        samples
    }
}

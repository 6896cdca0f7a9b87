//! The second series of samples of a run, beside the one that it is judged by.

use super::listener::RunListener;
use super::plan::RunPlan;
use measure::host::HostMonitor;
use measure::sample::{Sample, SampleJoiner, ShardSample};
use std::sync::Arc;

/// Joins the counts of the shards into samples of `run.second_sample_interval`; without it nothing.
#[derive(Debug)]
pub struct SecondSamples(Option<SampleJoiner>);

impl SecondSamples {
    /// The second series of this plan. `monitor` is that of the first one.
    #[must_use]
    pub fn new(plan: &RunPlan, monitor: Option<&HostMonitor>) -> Self {
        Self(plan.run.second_sample_interval.map(|interval| {
            let (layout, shards) = (Arc::clone(&plan.layout), plan.shards.len());
            let monitor = monitor.map(HostMonitor::another);
            let joiner = SampleJoiner::new(layout, shards, interval.as_seconds(), monitor);
            let before = plan.interrupted.as_ref().and_then(|run| run.second);
            joiner.numbering_from(before.map_or(0, |(_, next_number)| next_number))
        }))
    }

    /// Takes the counts of one shard; reports the samples that are complete with them.
    pub fn accept(&mut self, counts: &ShardSample, listener: &mut dyn RunListener) {
        self.report(listener, |joiner| joiner.accept(counts.clone()));
    }

    /// Notes that a shard sends nothing any more.
    pub fn shard_ended(&mut self, shard: usize, listener: &mut dyn RunListener) {
        self.report(listener, |joiner| joiner.shard_ended(shard));
    }

    /// Ends the run: everything that still waits becomes samples.
    pub fn finish(&mut self, listener: &mut dyn RunListener) {
        self.report(listener, SampleJoiner::finish);
    }

    fn report(
        &mut self,
        listener: &mut dyn RunListener,
        join: impl FnOnce(&mut SampleJoiner) -> Vec<Sample>,
    ) {
        if let Some(joiner) = &mut self.0 {
            for sample in join(joiner) {
                listener.second_sample(&sample);
            }
        }
    }
}

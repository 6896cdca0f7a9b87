//! The totals of several runs that went on at the same time, as those of one.

use std::sync::Arc;

use super::totals::OperationTotals;
use super::{Layout, RunTotals, SampleAverage};
use crate::metric::Stream;
use crate::result::RunResult;

/// All databases of all ranks together, without loss: histograms are added bucket by bucket. Its size does not
/// depend on the number of ranks.
#[derive(Debug, Clone)]
pub struct RankTotals(RunTotals);

impl RankTotals {
    /// Empty totals for samples of `interval_s` seconds.
    #[must_use]
    pub fn new(interval_s: f64) -> Self {
        let everything = Layout::new(["all"], Vec::<String>::new());
        Self(RunTotals::new(Arc::new(everything), interval_s))
    }

    /// Adds the totals of a rank. The sample of the same number is the same time on all ranks, as they begin
    /// the measured phase together.
    pub fn add(&mut self, rank: &RunTotals) {
        let own = &mut self.0;
        own.measured_s = own.measured_s.max(rank.measured_s);
        if own.iops.len() < rank.iops.len() {
            own.iops.resize(rank.iops.len(), 0.0);
        }
        for (sum, iops) in own.iops.iter_mut().zip(&rank.iops) {
            *sum += iops;
        }
        let all = &mut own.databases[0];
        for database in &rank.databases {
            for stream in Stream::ALL {
                let (to, from) = (&mut all.streams[stream.index()], database.stream(stream));
                to.meter.merge(&from.meter);
                to.meter.latency.settle();
                join(&mut to.samples, &from.samples);
            }
            all.page_fault_stalls += database.page_fault_stalls;
            let sizes = [
                (&mut all.size_begin_bytes, database.size_begin_bytes),
                (&mut all.size_end_bytes, database.size_end_bytes),
            ];
            for (sum, size) in sizes {
                *sum = size.map(|size| size + sum.unwrap_or(0)).or(*sum);
            }
        }
        self.add_operations(rank);
    }

    fn add_operations(&mut self, rank: &RunTotals) {
        let own = &mut self.0;
        let mut layout = Layout::clone(&own.layout);
        for (kind, totals) in rank.layout.operations.iter().zip(&rank.operations) {
            let index = layout.operation(&kind.name).unwrap_or_else(|| {
                layout.operations.push(kind.clone());
                own.operations.push(OperationTotals::default());
                own.operations.len() - 1
            });
            let sum = &mut own.operations[index];
            sum.meter.merge(&totals.meter);
            sum.meter.settle();
            join(&mut sum.service, &totals.service);
            join(&mut sum.response_time, &totals.response_time);
        }
        own.layout = Arc::new(layout);
    }

    /// Sets what all ranks did together: length, samples, totals, operations, achieved rate.
    pub fn fill(&self, result: &mut RunResult) {
        let mut counted = RunResult {
            throughput: result.throughput.clone(),
            ..RunResult::new()
        };
        self.0.fill(&mut counted);
        result.duration_s = counted.duration_s;
        result.samples = counted.samples;
        result.totals = counted.totals;
        result.operations = counted.operations;
        result.throughput = counted.throughput;
    }
}

/// Adds averages to those of the same samples.
fn join(sums: &mut Vec<SampleAverage>, samples: &[SampleAverage]) {
    if sums.len() < samples.len() {
        sums.resize(samples.len(), SampleAverage::default());
    }
    for (sum, sample) in sums.iter_mut().zip(samples) {
        *sum = sum.joined(*sample);
    }
}

//! The window of a step: what was counted since the load has settled.

use std::sync::Arc;

use measure::sample::{DatabaseMeters, Layout, Phase, RunTotals, Sample};

use super::sample::TuningSample;

/// What was counted in a window, added up as the measured phase of a run is, so that the same rules judge
/// both.
#[derive(Debug, Clone)]
pub(super) struct Window {
    totals: RunTotals,
    sample_s: f64,
    /// What is not yet long enough to be judged as a sample.
    current: Sample,
    ticks: Vec<Tick>,
}

/// What steadiness depends on.
#[derive(Debug, Clone, Copy)]
struct Tick {
    length_s: f64,
    ios: u64,
    reads: u64,
    read_total_ms: f64,
}

/// A part of the window.
pub(super) struct Round {
    /// I/Os, in the mean length of a round.
    pub(super) ios: f64,
    /// Average read latency over all databases; 0 without reads.
    pub(super) read_ms: f64,
}

impl Window {
    /// An empty window whose samples are of this length.
    pub(super) fn new(layout: &Arc<Layout>, sample_s: f64) -> Self {
        Self {
            totals: RunTotals::new(Arc::clone(layout), sample_s),
            sample_s,
            current: empty(layout),
            ticks: Vec::new(),
        }
    }

    /// Everything that was counted but for a last sample that has not ended.
    pub(super) fn totals(&self) -> &RunTotals {
        &self.totals
    }

    /// Number of tuning samples in the window.
    pub(super) fn ticks(&self) -> usize {
        self.ticks.len()
    }

    pub(super) fn add(&mut self, sample: &TuningSample) {
        let databases = &sample.databases;
        self.ticks.push(Tick {
            length_s: sample.length_s,
            ios: sample.ios,
            reads: databases.iter().map(|one| one.reads).sum(),
            read_total_ms: databases.iter().map(|one| one.read_total_ms).sum(),
        });
        self.current.length_s += sample.length_s;
        for (mine, theirs) in self.current.databases.iter_mut().zip(&sample.meters) {
            mine.merge(theirs);
        }
        // Nearest whole number of ticks.
        if self.current.length_s >= self.sample_s - sample.length_s / 2.0 {
            self.end_sample();
        }
    }

    /// Ends the sample in the making, however long it is.
    pub(super) fn end_sample(&mut self) {
        if self.current.length_s <= 0.0 {
            return;
        }
        let next = empty(&self.current.layout);
        let mut sample = std::mem::replace(&mut self.current, next);
        sample.databases.iter_mut().for_each(DatabaseMeters::settle);
        self.totals.add(&sample);
    }

    /// The window in so many parts; `None` when it has fewer tuning samples.
    pub(super) fn rounds(&self, count: usize) -> Option<Vec<Round>> {
        let all = self.ticks.len();
        if all < count {
            return None;
        }
        let whole_s: f64 = self.ticks.iter().map(|tick| tick.length_s).sum();
        let round_s = whole_s / count as f64;
        let round = |number: usize| {
            let ticks = &self.ticks[number * all / count..(number + 1) * all / count];
            let length_s: f64 = ticks.iter().map(|tick| tick.length_s).sum();
            let ios: u64 = ticks.iter().map(|tick| tick.ios).sum();
            let reads: u64 = ticks.iter().map(|tick| tick.reads).sum();
            let read_total_ms: f64 = ticks.iter().map(|tick| tick.read_total_ms).sum();
            Round {
                ios: ios as f64 * round_s / length_s.max(1e-9),
                read_ms: read_total_ms / reads.max(1) as f64,
            }
        };
        Some((0..count).map(round).collect())
    }
}

/// A sample without any counts.
fn empty(layout: &Arc<Layout>) -> Sample {
    Sample {
        layout: Arc::clone(layout),
        number: 0,
        // What is judged is counted as the measured phase of a run.
        phase: Phase::Measured,
        phase_number: 0,
        begins_s: 0.0,
        length_s: 0.0,
        databases: DatabaseMeters::for_layout(layout),
        host: None,
        array: None,
    }
}

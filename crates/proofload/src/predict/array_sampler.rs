//! Samples the array while a prediction runs, and reports to its listener what is there.

use std::time::Duration;

use array::bridge::ArrayHost;
use array::{Array, ArrayCounters};
use measure::result::RunResult;
use measure::sample::Sample;
use workload::controller::{InterimResult, RunListener};
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::array_details::ArrayDetails;
use super::growth::Growth;
use super::watch::Watch;
use execution::clock::Stopwatch;

/// Passes everything on to a listener, and adds figures of the array to each sample and result.
pub struct ArraySampler<L> {
    listener: L,
    state: SampledState,
    /// Counters at the end of the last sample.
    sampled: ArrayCounters,
    /// The same of the second series.
    second_sampled: ArrayCounters,
}

/// The array, with what is derived from it at each sample.
struct SampledState {
    host: ArrayHost<(), Array<()>>,
    array_details: ArrayDetails,
    watch: Watch,
    growth: Growth,
    began: Stopwatch,
    /// Counters when the measured phase began, and when it ended.
    from: Option<ArrayCounters>,
    until: Option<ArrayCounters>,
}

impl<L: RunListener> ArraySampler<L> {
    pub fn new(
        listener: L,
        host: ArrayHost<(), Array<()>>,
        array_details: ArrayDetails,
        watch: Watch,
        growth: Growth,
    ) -> Self {
        Self {
            listener,
            state: SampledState {
                host,
                array_details,
                watch,
                growth,
                began: Stopwatch::start(),
                from: None,
                until: None,
            },
            sampled: ArrayCounters::default(),
            second_sampled: ArrayCounters::default(),
        }
    }

    /// The listener, when everything has been reported.
    pub fn into_listener(self) -> L {
        self.listener
    }

    /// Adds what only a prediction has.
    pub fn complete(&mut self, result: &mut RunResult) {
        self.poll();
        self.state.complete(result);
        let now_s = self.state.host.handle().now_ns() as f64 / 1e9;
        self.state.growth.conclude(result, now_s);
    }

    /// Reports what has broken and been repaired since the last call.
    fn poll(&mut self) {
        let SampledState { host, watch, .. } = &mut self.state;
        let sentences = host.with(|array| watch.poll(array));
        sentences.iter().for_each(|text| self.listener.note(text));
    }
}

impl SampledState {
    /// Adds what only a prediction has and was counted by the last sample.
    fn complete(&self, result: &mut RunResult) {
        result.simulated_seconds = Some(self.host.handle().now_ns() as f64 / 1e9);
        result.wall_seconds = Some(self.began.elapsed().as_secs_f64());
        result.host_requests = Some(self.host.requests());
        let now = self.counters();
        let until = self.until.as_ref().unwrap_or(&now);
        let none = ArrayCounters::default();
        let from = self.from.as_ref().unwrap_or(&none);
        result.array = Some(self.array_details.between(from, until));
        self.watch.complete(result);
    }

    /// The sample with what the array has done since these counters, which become those of now.
    fn with_array(&self, sample: &Sample, sampled: &mut ArrayCounters) -> Sample {
        let now = self.counters();
        let mut inside = self.array_details.between(sampled, &now);
        self.watch.enter(&mut inside);
        *sampled = now;
        Sample {
            array: Some(inside),
            ..sample.clone()
        }
    }

    fn counters(&self) -> ArrayCounters {
        self.host.with(|array| array.counters())
    }
}

impl<L: RunListener> RunListener for ArraySampler<L> {
    fn begins(&mut self, phase: Phase) {
        let state = &mut self.state;
        match phase {
            Phase::Measuring => {
                state.from = Some(state.counters());
                let now_ns = state.host.handle().now_ns();
                state.growth.begin(now_ns as f64 / 1e9);
                state.host.with(|array| state.watch.begin(array, now_ns));
            }
            _ if state.from.is_some() && state.until.is_none() => {
                state.until = Some(state.counters());
            }
            _ => {}
        }
        self.listener.begins(phase);
    }

    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.listener.phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.listener.progress(progress);
    }

    fn doing(&mut self, text: &str) {
        self.listener.doing(text);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.poll();
        self.listener.live(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: InterimResult<'_>) {
        self.poll();
        if let Some(text) = self.state.growth.observe(sample) {
            self.listener.note(&text);
        }
        let state = &self.state;
        let sample = state.with_array(sample, &mut self.sampled);
        let work_out = || {
            let mut result = so_far.result();
            state.complete(&mut result);
            result
        };
        let so_far = InterimResult::new(so_far.interval_s(), &work_out);
        self.listener.sample(&sample, figures, so_far);
    }

    fn second_sample(&mut self, sample: &Sample) {
        let sample = self.state.with_array(sample, &mut self.second_sampled);
        self.listener.second_sample(&sample);
    }

    fn note(&mut self, text: &str) {
        self.listener.note(text);
    }
}

//! When the phases of a run began and how long they took.
//!
//! The phases of the load are as long as their samples: a shard that is busy ends one later than the
//! order to do so, and counts until then. So the measured phase lasts as long as the time by which all
//! rates are divided.

use crate::progress::Phase;
use measure::recompute::InterruptedRun;
use measure::result::PhaseResult;
use measure::sample::{Phase as SamplePhase, Sample};
use std::collections::BTreeMap;
use std::time::Duration;

/// The phases of the load.
const OF_LOAD: [SamplePhase; 3] = [
    SamplePhase::WarmUp,
    SamplePhase::Tuning,
    SamplePhase::Measured,
];

/// The phases of a run.
#[derive(Debug, Default)]
pub struct PhaseSpans {
    /// Phases that have ended, with begin and end in nanoseconds as they were ordered.
    ended: Vec<(Phase, u64, u64)>,
    open: Option<(Phase, u64)>,
    /// Those of before an interruption.
    earlier: Vec<PhaseResult>,
    /// Begin and length of the samples of each phase of the load, in seconds.
    sampled: BTreeMap<SamplePhase, (f64, f64)>,
}

impl PhaseSpans {
    /// Goes on with the phases of a run that was interrupted. Its measured phase has not ended by itself.
    pub fn go_on(&mut self, run: &InterruptedRun) {
        self.earlier.clone_from(&run.result.phases);
        let measured = |phase: &&PhaseResult| phase.name == Phase::Measuring.name();
        let known_s: f64 = self
            .earlier
            .iter()
            .filter(measured)
            .map(|one| one.duration_s)
            .sum();
        let duration_s = run.totals.measured_s() - known_s;
        let begun_s = (run.ends_s - duration_s).max(0.0);
        if duration_s > 0.0 {
            self.earlier.push(PhaseResult {
                name: Phase::Measuring.name().to_owned(),
                started: time_at(&run.result.started, begun_s),
                duration_s,
            });
        }
    }

    /// Notes when a phase begins.
    pub fn begin(&mut self, phase: Phase, now_ns: u64) {
        self.open = Some((phase, now_ns));
    }

    /// The present phase, if any, ends.
    pub fn end(&mut self, now_ns: u64) {
        if let Some((phase, begun_ns)) = self.open.take() {
            self.ended.push((phase, begun_ns, now_ns));
        }
    }

    /// Notes the time that a sample covers. The samples of a phase come in order.
    pub fn note_sample(&mut self, sample: &Sample) {
        let span = self.sampled.entry(sample.phase);
        span.or_insert((sample.begins_s, 0.0)).1 += sample.length_s;
    }

    /// The phases that have ended, of a run that was started at this time (RFC 3339).
    pub fn results(&self, started: &str) -> Vec<PhaseResult> {
        let mut free_from_s: f64 = 0.0;
        let result = |&(phase, begun_ns, ended_ns): &(Phase, u64, u64)| {
            let (begun_s, ended_s) = (begun_ns as f64 / 1e9, ended_ns as f64 / 1e9);
            let of_load = Some(phase.of_samples()).filter(|phase| OF_LOAD.contains(phase));
            let sampled = of_load.and_then(|phase| self.sampled.get(&phase));
            let (begun_s, duration_s) = sampled.copied().unwrap_or_else(|| {
                let begun_s = begun_s.max(free_from_s);
                (begun_s, (ended_s - begun_s).max(0.0))
            });
            free_from_s = begun_s + duration_s;
            PhaseResult {
                name: phase.name().to_owned(),
                started: time_at(started, begun_s),
                duration_s,
            }
        };
        let ended = self.ended.iter().map(result);
        self.earlier.iter().cloned().chain(ended).collect()
    }
}

/// The time so many seconds after a start; both RFC 3339. Empty when the start is none.
fn time_at(started: &str, seconds: f64) -> String {
    let at = || {
        let started: jiff::Timestamp = started.parse().ok()?;
        let since = Duration::try_from_secs_f64(seconds).ok()?;
        started.checked_add(since).ok()
    };
    at().map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::sample::{DatabaseMeters, Layout};
    use std::sync::Arc;

    fn sample(phase: SamplePhase, begins_s: f64, length_s: f64) -> Sample {
        let layout = Arc::new(Layout::new(["a"], ["read"]));
        Sample {
            databases: DatabaseMeters::for_layout(&layout),
            layout,
            number: 0,
            phase,
            phase_number: 0,
            begins_s,
            length_s,
            host: None,
            array: None,
        }
    }

    #[test]
    fn a_phase_that_ends_late_is_as_long_as_its_samples() {
        let mut spans = PhaseSpans::default();
        let second = 1_000_000_000;
        for (phase, begins_s, ends_s) in [
            (Phase::Opening, 0, 1),
            (Phase::WarmingUp, 1, 6),
            (Phase::Measuring, 6, 26),
            (Phase::Closing, 26, 31),
        ] {
            spans.begin(phase, begins_s * second);
            spans.end(ends_s * second);
        }
        // Ordered to end at 26 s, it ended at 30.5 s.
        for sample in [
            sample(SamplePhase::Build, 0.0, 1.0),
            sample(SamplePhase::WarmUp, 1.0, 5.5),
            sample(SamplePhase::Measured, 6.5, 10.0),
            sample(SamplePhase::Measured, 16.5, 14.0),
            sample(SamplePhase::Close, 30.5, 0.5),
        ] {
            spans.note_sample(&sample);
        }
        let results = spans.results("2025-03-01T12:00:00Z");
        let found: Vec<_> = results
            .iter()
            .map(|one| (one.name.as_str(), one.started.as_str(), one.duration_s))
            .collect();
        assert_eq!(
            found,
            [
                ("open", "2025-03-01T12:00:00Z", 1.0),
                ("warm-up", "2025-03-01T12:00:01Z", 5.5),
                ("measured", "2025-03-01T12:00:06.5Z", 24.0),
                ("close", "2025-03-01T12:00:30.5Z", 0.5),
            ]
        );
    }

    #[test]
    fn a_phase_without_samples_is_as_long_as_it_was_ordered() {
        let mut spans = PhaseSpans::default();
        spans.begin(Phase::WarmingUp, 5);
        spans.end(2_000_000_005);
        spans.begin(Phase::Measuring, 2_000_000_005);
        let results = spans.results("");
        assert_eq!(results.len(), 1, "the second one has not ended");
        assert_eq!(
            (results[0].started.as_str(), results[0].duration_s),
            ("", 2.0)
        );
    }
}

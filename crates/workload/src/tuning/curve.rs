//! Response time against load: steps at given parts of a rate.

use measure::result::{CheckId, TuningStep};

use super::cycle::CycleOutcome;

/// The steps of a curve, those that were judged and those to come.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    /// Parts of the rate in percent, in their order.
    parts_percent: Vec<f64>,
    steps: Vec<TuningStep>,
}

impl Curve {
    /// A curve over these parts of a rate.
    #[must_use]
    pub fn new(parts_percent: &[f64]) -> Self {
        let mut parts_percent = parts_percent.to_vec();
        parts_percent.sort_by(f64::total_cmp);
        parts_percent.dedup();
        Self {
            parts_percent,
            steps: Vec::new(),
        }
    }

    /// The next part to try, in percent; `None` when all were.
    #[must_use]
    pub fn next_percent(&self) -> Option<f64> {
        self.parts_percent.get(self.steps.len()).copied()
    }

    /// Number of steps in all, and of those that were judged.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.parts_percent.len(), self.steps.len())
    }

    /// Takes the outcome of the step that [`Curve::next_percent`] asked for.
    pub fn judged(&mut self, judged: &CycleOutcome, sessions: u32, rate_iops: f64) {
        let percent = self.next_percent();
        self.steps.push(TuningStep {
            percent,
            ..judged.entry(sessions, Some(rate_iops))
        });
    }

    /// The steps that were judged.
    #[must_use]
    pub fn steps(&self) -> &[TuningStep] {
        &self.steps
    }

    /// The step with the highest rate among those that kept every level and have no step below that
    /// did not.
    #[must_use]
    pub fn highest_kept(&self) -> Option<&TuningStep> {
        self.steps.iter().take_while(|step| step.kept).last()
    }

    /// The first step that did not keep every level.
    #[must_use]
    pub fn first_missed(&self) -> Option<(&TuningStep, Option<CheckId>)> {
        let step = self.steps.iter().find(|step| !step.kept)?;
        Some((step, step.missed))
    }

    /// The rate at the knee: where the ratio of achieved rate to average read latency, which Kleinrock
    /// (1979) calls power, is highest. `None` with fewer than three steps.
    #[must_use]
    pub fn knee_iops(&self) -> Option<f64> {
        if self.steps.len() < 3 {
            return None;
        }
        let power = |step: &TuningStep| {
            let latency_ms = step.average_database_read_ms.filter(|ms| *ms > 0.0)?;
            Some((step.achieved_iops, step.achieved_iops / latency_ms))
        };
        let powers = self.steps.iter().filter_map(power);
        let knee = powers.max_by(|a, b| a.1.total_cmp(&b.1));
        knee.map(|(iops, _)| iops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with a service time of 5 ms, at these parts of 200 IOPS.
    fn queue(parts_percent: &[f64]) -> Curve {
        let mut curve = Curve::new(parts_percent);
        while let Some(percent) = curve.next_percent() {
            let achieved_iops = 2.0 * percent;
            let latency_ms = 5.0 / (1.0 - percent / 100.0).max(0.01);
            let judged = CycleOutcome {
                steady: true,
                kept: latency_ms <= 20.0,
                comfortable: false,
                missed: (latency_ms > 20.0).then_some(CheckId::DatabaseReadAverage),
                achieved_iops,
                database_read_ms: Some(latency_ms),
                database_read_p99_ms: None,
                log_write_ms: None,
                log_write_p99_ms: None,
                stalls_per_second: 0.0,
                finding: String::new(),
                judged_s: 120.0,
                duration_s: 150.0,
            };
            curve.judged(&judged, 64, achieved_iops);
        }
        curve
    }

    #[test]
    fn the_knee_of_a_single_server_is_at_half_its_rate() {
        let curve = queue(&[90.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 100.0]);
        assert_eq!(curve.counts(), (10, 10));
        assert_eq!(curve.knee_iops(), Some(100.0));
        let highest = curve.highest_kept().unwrap();
        assert_eq!(
            (highest.percent, highest.rate_iops),
            (Some(70.0), Some(140.0))
        );
        let (missed, id) = curve.first_missed().unwrap();
        assert_eq!(
            (missed.percent, id),
            (Some(80.0), Some(CheckId::DatabaseReadAverage))
        );
    }

    #[test]
    fn two_steps_have_no_knee() {
        assert_eq!(queue(&[10.0, 50.0]).knee_iops(), None);
        assert_eq!(Curve::new(&[]).next_percent(), None);
    }
}

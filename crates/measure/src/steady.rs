//! Steady state by the rule of the SNIA Solid State Storage Performance Test Specification
//! (PTS 2.0.2, 2020): over a window of five rounds, the tracked variable may range over 20 % of its
//! average at most, and the best straight line through the rounds may rise or fall by 10 % of the
//! average at most.
//!
//! Two things follow from it:
//!
//! - Whether the measured phase as a whole was steady. Its rounds are five equal parts of the
//!   phase, because the averages that are judged cover the whole phase too.
//! - When steadiness was first reached and when it was lost, from a window of five shorter rounds
//!   that slides over the samples. This is an alarm, not a verdict.

use serde::{Deserialize, Serialize};

use crate::result::SteadyState;

/// The rule with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SteadyRule {
    /// Rounds in the window (SNIA PTS: 5).
    pub rounds: usize,
    /// Largest allowed (highest - lowest round) / mean (SNIA PTS: 0.20).
    pub range_fraction: f64,
    /// Largest allowed rise or fall of the best line across the window / mean (SNIA PTS: 0.10).
    pub slope_fraction: f64,
    /// Length of a round of the sliding window that raises the alarm.
    pub alarm_round_s: f64,
    /// Whether a run that was not steady is inconclusive; otherwise it is only warned about.
    pub required: bool,
}

impl Default for SteadyRule {
    fn default() -> Self {
        SteadyRule {
            rounds: 5,
            range_fraction: 0.20,
            slope_fraction: 0.10,
            alarm_round_s: 60.0,
            required: true,
        }
    }
}

/// How far one window is from being steady.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Window {
    mean: f64,
    range_fraction: f64,
    slope_fraction: f64,
}

impl Window {
    /// `None` when the mean is zero, so that nothing can be compared with it.
    fn of(rounds: &[f64]) -> Option<Window> {
        let count = rounds.len() as f64;
        let mean = rounds.iter().sum::<f64>() / count;
        if mean <= 0.0 {
            return None;
        }
        let highest = rounds.iter().copied().fold(f64::MIN, f64::max);
        let lowest = rounds.iter().copied().fold(f64::MAX, f64::min);
        // Least squares over the round numbers, taken from their middle.
        let middle = (count - 1.0) / 2.0;
        let (mut upper, mut lower) = (0.0, 0.0);
        for (index, value) in rounds.iter().enumerate() {
            let x = index as f64 - middle;
            upper += x * (value - mean);
            lower += x * x;
        }
        let rise = upper / lower * (count - 1.0);
        Some(Window {
            mean,
            range_fraction: (highest - lowest) / mean,
            slope_fraction: rise.abs() / mean,
        })
    }
}

impl SteadyRule {
    /// Fewest samples that can be judged: one for each round, and two rounds make a line.
    pub fn fewest_samples(&self) -> usize {
        self.rounds.max(2)
    }

    /// The rule as a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "SNIA PTS rule over {} equal rounds of the measured phase: the highest and the lowest \
             round differ by at most {:.0} % of the mean, and the best straight line rises or falls \
             by at most {:.0} % of the mean.",
            self.fewest_samples(),
            100.0 * self.range_fraction,
            100.0 * self.slope_fraction,
        )
    }

    /// Whether counts of independent events in rounds of equal length are steady by the rule, or by
    /// no more away from it than chance: the standard deviation of a count is its square root. Over
    /// five rounds the range exceeds 4 and the fitted rise 3 standard deviations in 4 % and 2 % of
    /// the cases. Rounds without any event are steady.
    #[must_use]
    pub fn allows_counts(&self, counts: &[f64]) -> bool {
        Window::of(counts).is_none_or(|window| {
            let deviation = window.mean.sqrt() / window.mean;
            let rule = SteadyRule {
                range_fraction: self.range_fraction.max(4.0 * deviation),
                slope_fraction: self.slope_fraction.max(3.0 * deviation),
                ..self.clone()
            };
            rule.allows(window)
        })
    }

    fn allows(&self, window: Window) -> bool {
        // A hair of tolerance, so that a value exactly at the limit passes after rounding.
        let hair = 1e-9;
        window.range_fraction <= self.range_fraction + hair
            && window.slope_fraction <= self.slope_fraction + hair
    }

    /// Judges the samples of the tracked variable. `variable` is its name with the unit;
    /// `samples` are of equal length, `interval_s` seconds.
    pub fn judge(&self, variable: &str, samples: &[f64], interval_s: f64) -> SteadyState {
        let mut state = SteadyState {
            rule: self.sentence(),
            variable: variable.to_owned(),
            ..SteadyState::default()
        };
        let count = self.fewest_samples();
        if samples.len() < count {
            return state;
        }
        state.rounds = rounds_of(samples, count);
        if let Some(window) = Window::of(&state.rounds) {
            state.mean = window.mean;
            state.range_fraction = window.range_fraction;
            state.slope_fraction = window.slope_fraction;
            state.steady = Some(self.allows(window));
        }
        (state.reached_at_s, state.left_at_s) = self.alarm(samples, interval_s);
        state
    }

    /// When the sliding window was first steady, and when it first was not after that; in seconds
    /// from the first sample, at the end of the window.
    fn alarm(&self, samples: &[f64], interval_s: f64) -> (Option<f64>, Option<f64>) {
        let per_round = (self.alarm_round_s / interval_s).ceil().max(1.0) as usize;
        let length = per_round.saturating_mul(self.fewest_samples());
        // sums[i] is the sum of the first i samples, so that a round is one subtraction.
        let mut sums = vec![0.0; samples.len() + 1];
        for (index, value) in samples.iter().enumerate() {
            sums[index + 1] = sums[index] + value;
        }
        let mut reached_at_s = None;
        for end in length..=samples.len() {
            let rounds: Vec<f64> = (end - length..end)
                .step_by(per_round)
                .map(|begin| (sums[begin + per_round] - sums[begin]) / per_round as f64)
                .collect();
            let steady = Window::of(&rounds).is_some_and(|w| self.allows(w));
            let at_s = end as f64 * interval_s;
            match (steady, reached_at_s) {
                (true, None) => reached_at_s = Some(at_s),
                (false, Some(_)) => return (reached_at_s, Some(at_s)),
                _ => {}
            }
        }
        (reached_at_s, None)
    }
}

/// Means of `count` parts of as equal length as can be.
fn rounds_of(samples: &[f64], count: usize) -> Vec<f64> {
    assert!(
        count > 0 && samples.len() >= count,
        "{} samples, {count} rounds",
        samples.len()
    );
    (0..count)
        .map(|r| {
            let part = &samples[r * samples.len() / count..(r + 1) * samples.len() / count];
            part.iter().sum::<f64>() / part.len() as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steady(samples: &[f64]) -> Option<bool> {
        SteadyRule::default().judge("IOPS", samples, 60.0).steady
    }

    #[test]
    fn the_limits_are_those_of_the_standard() {
        // Range exactly 20 % of the mean without any slope.
        assert_eq!(steady(&[90.0, 110.0, 100.0, 110.0, 90.0]), Some(true));
        assert_eq!(steady(&[89.0, 111.0, 100.0, 111.0, 89.0]), Some(false));
        // A straight rise of exactly 10 %, and a little more.
        assert_eq!(steady(&[95.0, 97.5, 100.0, 102.5, 105.0]), Some(true));
        assert_eq!(steady(&[94.9, 97.45, 100.0, 102.55, 105.1]), Some(false));
        assert_eq!(steady(&[105.2, 102.6, 100.0, 97.4, 94.8]), Some(false));
    }

    #[test]
    fn rounds_range_and_slope_are_as_the_standard_computes_them() {
        // Rounds of two or three samples: 3, 6, 10, 7.5 and 9.
        let samples = [
            2.0, 4.0, 5.0, 7.0, 9.0, 10.0, 11.0, 7.0, 8.0, 8.0, 9.0, 10.0,
        ];
        let state = SteadyRule::default().judge("IOPS", &samples, 15.0);
        assert_eq!(state.rounds, [3.0, 6.0, 10.0, 7.5, 9.0]);
        assert_eq!(
            (state.variable.as_str(), state.steady),
            ("IOPS", Some(false))
        );
        assert!((state.mean - 7.1).abs() < 1e-12);
        assert!((state.range_fraction - 7.0 / 7.1).abs() < 1e-12);
        // The line rises by 1.35 a round: (-2 x 3 - 6 + 7.5 + 2 x 9) / 10.
        assert!((state.slope_fraction - 4.0 * 1.35 / 7.1).abs() < 1e-12);
        assert!(
            state.rule.contains("over 5 equal rounds")
                && state.rule.contains("differ by at most 20 % of the mean")
                && state.rule.contains("by at most 10 % of the mean"),
            "{}",
            state.rule
        );
    }

    #[test]
    fn the_alarm_is_raised_at_the_end_of_its_window() {
        let rule = |alarm_round_s| SteadyRule {
            alarm_round_s,
            ..SteadyRule::default()
        };
        // A round of 40 s takes three samples of 15 s, so a window has 15 of them.
        let mut samples = vec![10.0, 500.0];
        samples.extend(vec![1_000.0; 16]);
        let state = rule(40.0).judge("IOPS", &samples, 15.0);
        assert_eq!((state.reached_at_s, state.left_at_s), (Some(255.0), None));
        // A round is never shorter than a sample.
        let state = rule(1.0).judge("IOPS", &samples, 15.0);
        assert_eq!((state.reached_at_s, state.left_at_s), (Some(105.0), None));
        let state = rule(1.0).judge("IOPS", &samples[..6], 15.0);
        assert_eq!((state.reached_at_s, state.left_at_s), (None, None));
    }

    #[test]
    fn too_few_samples_or_no_load_say_nothing() {
        assert_eq!(steady(&[100.0; 4]), None);
        assert_eq!(steady(&[0.0; 10]), None);
        assert_eq!(steady(&[100.0; 5]), Some(true));
    }

    #[test]
    fn few_events_may_differ_by_chance_and_many_may_not() {
        let allows = |counts: &[f64]| SteadyRule::default().allows_counts(counts);
        // The limits of the rule hold where chance is small: a range of 20 %, a slope of 10 %.
        assert!(allows(&[9_000.0, 11_000.0, 10_000.0, 11_000.0, 9_000.0]));
        assert!(!allows(&[8_900.0, 11_100.0, 10_000.0, 11_100.0, 8_900.0]));
        assert!(allows(&[9_500.0, 9_750.0, 10_000.0, 10_250.0, 10_500.0]));
        assert!(!allows(&[9_400.0, 9_700.0, 10_000.0, 10_300.0, 10_600.0]));
        // With a mean of 16 the range may be 4 x 4 and the slope 3 x 4.
        assert!(allows(&[8.0, 24.0, 16.0, 24.0, 8.0]));
        assert!(!allows(&[7.0, 25.0, 16.0, 25.0, 7.0]));
        assert!(allows(&[10.0, 13.0, 16.0, 19.0, 22.0]));
        assert!(!allows(&[9.0, 12.5, 16.0, 19.5, 23.0]));
        assert!(allows(&[0.0; 5]));
    }

    #[test]
    fn leaving_the_steady_state_is_noticed_with_the_time() {
        let rule = SteadyRule {
            alarm_round_s: 30.0,
            ..SteadyRule::default()
        };
        // Two samples make a round, so ten samples a window: first steady after 150 s.
        let mut samples = vec![1000.0; 20];
        samples.extend([200.0; 4]);
        let state = rule.judge("IOPS", &samples, 15.0);
        assert_eq!(state.reached_at_s, Some(150.0));
        assert_eq!(state.left_at_s, Some(315.0));
        let state = rule.judge("IOPS", &samples[..20], 15.0);
        assert_eq!((state.reached_at_s, state.left_at_s), (Some(150.0), None));
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(
            samples in prop::collection::vec(1.0f64..1000.0, 5..100),
            factor in 0.001f64..1000.0,
        ) {
            let scaled: Vec<f64> = samples.iter().map(|s| s * factor).collect();
            let rule = SteadyRule::default();
            let (a, b) = (rule.judge("a", &samples, 15.0), rule.judge("a", &scaled, 15.0));
            prop_assert!((a.range_fraction - b.range_fraction).abs() < 1e-9);
            prop_assert!((a.slope_fraction - b.slope_fraction).abs() < 1e-9);
        }
    }
}

//! When the warm-up is over, and when the measured phase is over before its time.

use std::sync::Arc;

use super::RunController;
use crate::controller::listener::RunListener;
use crate::controller::outcome::steady_state;
use crate::profile::TimeSpan;
use measure::display::number::duration;
use measure::precision::Precision;
use measure::sample::{Phase, Sample};

/// A sample shorter than this part of the usual length is only the rest of a phase.
const FULL_SAMPLE: f64 = 0.99;

/// What is known of the latencies, and what is enough.
pub(super) struct Known {
    precision: Precision,
    enough_percent: f64,
    /// Whether a sample has come since that was asked.
    is_new: bool,
}

impl Known {
    pub(super) fn new(enough_percent: f64) -> Self {
        Self {
            precision: Precision::default(),
            enough_percent,
            is_new: false,
        }
    }

    /// The half-width of the confidence intervals in percent, once it is small enough.
    fn enough(&mut self) -> Option<f64> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        let percent = self.precision.half_width_fraction()? * 100.0;
        (percent <= self.enough_percent).then_some(percent)
    }
}

impl RunController {
    pub(super) fn is_warm(&mut self, now_ns: u64, listener: &mut dyn RunListener) -> bool {
        let elapsed = TimeSpan(now_ns - self.stage_begun_ns);
        let plan = Arc::clone(&self.plan);
        let (warm_up, wanted_percent) = (plan.warm_up, plan.run.warm_up.cache_fill_percent);
        let fill = self.least_fill();
        if fill >= wanted_percent / 100.0 {
            let filled_ns = *self.filled_ns.get_or_insert(now_ns);
            if elapsed < warm_up.shortest {
                return false;
            }
            if !warm_up.until_steady || self.steady_load.is_steady() {
                return true;
            }
            let waited = TimeSpan(now_ns - filled_ns);
            if elapsed < warm_up.longest && waited < plan.run.duration {
                return false;
            }
            listener.note("The load was not steady yet at the end of the warm-up.");
            return true;
        }
        if elapsed < warm_up.longest {
            return false;
        }
        let text = format!(
            "The caches were {:.0} % full at the end of the longest warm-up, target {:.0} %. \
             The read rate may fall as they fill.",
            fill * 100.0,
            wanted_percent
        );
        listener.note(&text);
        self.account.warn(text);
        true
    }

    /// Counts a sample of the measured phase.
    pub(super) fn count_known(&mut self, sample: &Sample) {
        let interval_s = self.collector.totals().interval_s();
        let is_full = sample.length_s >= interval_s * FULL_SAMPLE;
        if let Some(known) = &mut self.known
            && sample.phase == Phase::Measured
            && is_full
        {
            known.precision.add(sample);
            known.is_new = true;
        }
    }

    /// Whether the latencies are known as well as was asked for, in a measured phase that is steady where it has to
    /// be: otherwise the verdict would be open. Says so when they are.
    pub(super) fn knows_enough(
        &mut self,
        elapsed: TimeSpan,
        listener: &mut dyn RunListener,
    ) -> bool {
        let Some(percent) = self.known.as_mut().and_then(Known::enough) else {
            return false;
        };
        let has_to_be_steady = self.plan.run.steady_state.rule().required;
        if has_to_be_steady
            && steady_state(&self.plan, self.collector.totals()).steady != Some(true)
        {
            return false;
        }
        let text = format!(
            "The measured phase ended after {} of {}: mean and p99 of the latencies were known to {percent:.2} %, \
             with a confidence of 95 %.",
            duration(elapsed.as_seconds()),
            duration(self.plan.run.duration.as_seconds()),
        );
        listener.note(&text);
        self.account.note(text);
        true
    }
}

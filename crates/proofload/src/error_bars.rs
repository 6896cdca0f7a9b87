//! Error bars: a prediction on a calibrated array is made with every parameter set of the calibration.
//!
//! A bar holds 90 % of what the parameter sets give, each changed by the errors of the tests that took no
//! part in the fit ([`CalibrationResult`]).

use std::time::Duration;

use array::description::Description;
use execution::Error;
use execution::clock::Stopwatch;
use measure::display::number::duration;
use measure::result::{CalibrationResult, HeldOut, RunResult, Verdict};
use workload::controller::RunListener;
use workload::progress::{Phase, StopRequest};

use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::workers;

/// Between two reports of how far they are.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The predictions that a calibration asks for.
pub struct ParameterSets {
    scenarios: Vec<Scenario>,
    rate_ratios: Vec<f64>,
    latency_ratios: Vec<f64>,
    p99_ratios: Vec<f64>,
}

impl ParameterSets {
    /// Those of an array that was calibrated; `None` of any other. What the scenario sets counts more than
    /// a parameter set.
    #[must_use]
    pub fn of(scenario: &Scenario, description: &Description) -> Option<Self> {
        let calibration = description.calibration()?;
        let scenarios = description.parameter_sets().map(|set| {
            let set = set.into_iter();
            let set = set.map(|(path, value)| {
                let literal = config::Value::Number(value).literal();
                Setting::at(format!("array.{path}"), literal.as_str())
            });
            Scenario {
                settings: set.chain(scenario.settings.iter().cloned()).collect(),
                ..scenario.clone()
            }
        });
        Some(Self {
            scenarios: scenarios.collect(),
            rate_ratios: calibration.rate_ratios.clone(),
            latency_ratios: calibration.latency_ratios.clone(),
            p99_ratios: calibration.p99_ratios.clone(),
        })
    }

    /// The plan in words.
    #[must_use]
    pub fn describe(&self) -> String {
        format!(
            "Calibration: predicted with each of {} parameter sets, too, for error bars\n",
            self.scenarios.len()
        )
    }

    /// Whether each of them can be predicted.
    ///
    /// # Errors
    /// That of the first one that cannot.
    pub fn check(&self, check: impl Fn(&Scenario) -> Result<(), Error>) -> Result<(), Error> {
        let mut numbered = self.scenarios.iter().enumerate();
        numbered.try_for_each(|(number, scenario)| {
            check(scenario).map_err(|error| Error::at_point(name_of(number), error))
        })
    }

    /// Enters the bars into the result of the best parameter set, which is not concluded yet. Somebody who
    /// asks for an early `stop` gets none.
    ///
    /// # Errors
    /// That of the first prediction that fails.
    pub fn enter(
        &self,
        result: &mut RunResult,
        jobs: usize,
        stop: &StopRequest,
        listener: &mut dyn RunListener,
        predict: impl Fn(&Scenario) -> Result<RunResult, Error> + Sync,
    ) -> Result<(), Error> {
        let is_judged = matches!(
            result.verdict,
            Verdict::Pass | Verdict::Fail | Verdict::Inconclusive
        );
        if !is_judged || stop.is_stopped() {
            return Ok(());
        }
        listener.phase(Phase::ParameterSets, None);
        let of = self.scenarios.len();
        let (began, mut reported, mut done) = (Stopwatch::start(), Duration::ZERO, 0);
        let work = |_: usize, number: usize| predict(&self.scenarios[number]);
        let report = |ended: Option<(usize, &RunResult)>| {
            done += usize::from(ended.is_some());
            let spent = began.elapsed();
            if done > 0 && done < of && spent >= reported + REPORT_INTERVAL {
                reported = spent;
                let left_s = spent.as_secs_f64() / done as f64 * (of - done) as f64;
                listener.doing(&format!(
                    "{done} of {of}, about {} left",
                    duration(left_s.ceil())
                ));
            }
        };
        let ended = workers::compute(jobs, of, stop, work, report)?;
        let ended: Vec<RunResult> = ended.into_iter().flatten().collect();
        if ended.len() < of || stop.is_stopped() {
            let reason = format!(
                "Somebody stopped the prediction before all {of} parameter sets of the calibration were \
                 predicted. With the best one: {}",
                result.verdict_reason
            );
            result.set_verdict(Verdict::Interrupted, reason);
            return Ok(());
        }
        let mut judged: Vec<RunResult> = Vec::new();
        for one in ended {
            match one.verdict {
                // What was counted until then is not what the others have counted.
                Verdict::Error => result.warnings.push(format!(
                    "A parameter set of the calibration is in no error bar: {}",
                    one.verdict_reason
                )),
                _ => judged.push(one),
            }
        }
        let held_out = HeldOut {
            rate_ratios: &self.rate_ratios,
            latency_ratios: &self.latency_ratios,
            p99_ratios: &self.p99_ratios,
        };
        result.calibration = Some(CalibrationResult::of(result, &judged, held_out));
        Ok(())
    }
}

/// What errors of a parameter set are headed with.
fn name_of(number: usize) -> String {
    format!("parameter set {} of the calibration", number + 1)
}

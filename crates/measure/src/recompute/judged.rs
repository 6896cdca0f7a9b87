//! The result that follows from the samples: the figures, and the verdict on them.

use super::Criteria;
use super::samples::SampleTotals;
use crate::attribution::attribute;
use crate::headline;
use crate::metric::Stream;
use crate::result::{Check, CheckId, LatencyFigures, RunResult, SteadyState, Verdict};
use crate::sample::RunTotals;
use crate::service_level::{Measured, add_checks, checks_of_tests, evaluate, judge};

/// The setting that the seed of a result is.
const SEED: &str = "run.seed";

/// A result in which everything that follows from the samples has been recomputed; all else is as it
/// was recorded.
pub(super) struct RecomputedResult {
    pub(super) result: RunResult,
    /// Why the verdict could not be reached again, as a sentence.
    pub(super) unexplained: Option<String>,
}

/// Recomputes a result. Without terms it is not judged.
///
/// Facts that are in no sample are taken as recorded: errors, outages of a server, the target rate,
/// whether somebody stopped the run.
pub(super) fn recomputed(
    recorded: &RunResult,
    recount: &SampleTotals,
    terms: Option<&Criteria>,
) -> RecomputedResult {
    let totals = &recount.totals;
    let mut result = recorded.clone();
    totals.fill(&mut result);
    result.throughput.operations_per_second = recount.operations_per_second;
    keep_saturated(recorded, &mut result);
    let Some(terms) = terms else {
        let unexplained =
            Some("The verdict was not recomputed, as there are no limits to judge by.");
        return RecomputedResult {
            result,
            unexplained: unexplained.map(str::to_owned),
        };
    };
    result.workload.settings.clone_from(&terms.settings);
    let seed = terms.settings.get(SEED).and_then(serde_json::Value::as_u64);
    result.seed = seed.unwrap_or(result.seed);
    let steady = recorded
        .steady_state
        .as_ref()
        .map(|recorded| steady_state(recorded, totals, terms));
    result.steady_state.clone_from(&steady);
    if recorded.has_measured_phase() && totals.measured_s() <= 0.0 {
        let unexplained = "Nothing was measured, so the verdict does not follow from samples.";
        return RecomputedResult {
            result,
            unexplained: Some(unexplained.to_owned()),
        };
    }
    let hung = recorded
        .checks
        .iter()
        .any(|check| check.id == CheckId::HungRequests);
    let measured = Measured {
        totals,
        planned_s: Some(terms.planned_s),
        target_iops: recorded.throughput.target_iops,
        errors: &recorded.errors,
        error_counts: &recorded.error_counts,
        hung_after_s: hung.then_some(terms.hung_after_s),
        interrupted: recorded.verdict == Verdict::Interrupted,
        tests: &recorded.tests,
        must_be_steady: steady.as_ref().filter(|_| terms.steady.required),
    };
    let mut checks = evaluate(&terms.levels, &measured);
    checks.extend(checks_of_tests(recorded));
    let judgement = judge(&terms.levels, &measured, &checks);
    judgement.enter(checks, &mut result);
    add_checks(&mut result, checks_of_the_workload(recorded));
    if was_attributed(recorded) {
        attribute(&mut result);
    } else {
        result.causes.clear();
    }
    let unexplained = outside_samples(recorded, &result);
    if unexplained.is_some() {
        result.set_verdict(recorded.verdict, "");
    }
    if recorded.complete {
        // Of the figures as they were recorded, which are rounded alike.
        result.headline = headline::compose(recorded, terms.load.as_deref());
    }
    // The reason is words about figures that have been compared.
    result.verdict_reason.clone_from(&recorded.verdict_reason);
    RecomputedResult {
        result,
        unexplained,
    }
}

/// Whether the run looked for causes: it does so when the checks have passed or failed, and where the
/// causes then leave it inconclusive, it names them. A run that was inconclusive before has none.
fn was_attributed(recorded: &RunResult) -> bool {
    match recorded.verdict {
        Verdict::Pass | Verdict::Fail => true,
        Verdict::Inconclusive => !recorded.causes.is_empty(),
        Verdict::Built | Verdict::Interrupted | Verdict::Error => false,
    }
}

/// A verdict that says less than the samples would allow: what else the run knew is not in them.
fn outside_samples(recorded: &RunResult, result: &RunResult) -> Option<String> {
    let is_weaker = match recorded.verdict {
        Verdict::Inconclusive => matches!(result.verdict, Verdict::Pass | Verdict::Error),
        Verdict::Built | Verdict::Interrupted => true,
        Verdict::Error => result.verdict == Verdict::Pass,
        Verdict::Pass | Verdict::Fail => false,
    };
    (is_weaker && recorded.verdict != result.verdict).then(|| {
        format!(
            "The verdict `{}` has a reason that is not in the samples, which alone would give `{}`: {}",
            recorded.verdict, result.verdict, recorded.verdict_reason
        )
    })
}

/// Checks of what only the workload knows, compared with their limits again.
fn checks_of_the_workload(recorded: &RunResult) -> Vec<Check> {
    let checks = recorded.checks.iter();
    let added = checks.filter(|one| matches!(one.id, CheckId::TransactionRate | CheckId::Downtime));
    added
        .map(|check| Check {
            passed: check
                .value
                .map(|value| check.bound.allows(value, check.limit)),
            ..check.clone()
        })
        .collect()
}

/// The steady state by the variable that gives the recorded rounds; by the rate when none does.
fn steady_state(recorded: &SteadyState, totals: &RunTotals, terms: &Criteria) -> SteadyState {
    let judge = |samples: &[f64]| {
        let interval_s = totals.interval_s();
        terms.steady.judge(&recorded.variable, samples, interval_s)
    };
    let by_rate = judge(totals.iops_by_sample());
    let by_latency = judge(&totals.average_ms_by_sample(Stream::DatabaseRead));
    let distance = |state: &SteadyState| (state.mean - recorded.mean).abs();
    if distance(&by_latency) < distance(&by_rate) {
        by_latency
    } else {
        by_rate
    }
}

/// How many latencies were above an hour is in no sample.
fn keep_saturated(recorded: &RunResult, result: &mut RunResult) {
    let keep = |from: Option<LatencyFigures>, to: &mut Option<LatencyFigures>| {
        if let (Some(from), Some(to)) = (from, to) {
            to.saturated = from.saturated;
        }
    };
    let totals = (&recorded.totals, &mut result.totals);
    let databases = recorded.databases.iter().map(|one| &one.figures);
    let own = result.databases.iter_mut().map(|one| &mut one.figures);
    for (from, to) in databases.zip(own).chain([totals]) {
        for stream in Stream::ALL {
            keep(
                from.stream(stream).latency,
                &mut to.stream_mut(stream).latency,
            );
        }
    }
    for (from, to) in recorded.operations.iter().zip(&mut result.operations) {
        keep(from.service_time, &mut to.service_time);
        keep(from.response_time, &mut to.response_time);
    }
}

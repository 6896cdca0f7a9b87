//! Rules about the load and the run itself: cache, target rate, steadiness, length.

use measure::attribution::{few_requests, other_io_at_devices};
use measure::display::LoadWords;
use measure::metric::{Metric, Unit};
use measure::result::{Bound, CauseId, CheckId, CheckKind, RunKind, RunResult, Verdict};
use measure::units;

use super::evidence::host_average;
use super::{Advice, AdviceId, host};
use crate::number::{bounded, count, figure, latency, percent, quantity};
use crate::table::measured_value;
use crate::words::was_measured;

/// Fewer samples than this say little about a storage system.
pub(super) const FEW_SAMPLES: u64 = 20;
/// A response time that is this many times the service time includes much queueing.
const QUEUEING: f64 = 3.0;
/// A shorter wait may come from timers and this host's scheduler; it is also the limit of an average
/// database read.
const NOTABLE_WAIT_MS: f64 = 20.0;
/// A load this many times the one that was asked for is another load.
const FAR_ABOVE_TARGET: f64 = 1.5;

/// At a held rate, operations wait for a thread before they start.
pub(super) fn waits_before_start(result: &RunResult) -> Option<Advice> {
    let rate = result.throughput.rate_iops?;
    let late = result.operations.iter().find_map(|operation| {
        let service_ms = operation.service_time?.p99_ms;
        let response_ms = operation.response_time?.p99_ms;
        let much = response_ms > service_ms * QUEUEING;
        let is_late = much && response_ms - service_ms >= NOTABLE_WAIT_MS;
        is_late.then_some((&operation.name, service_ms, response_ms))
    });
    let (name, service_ms, response_ms) = late?;
    let mut failed = result.failed_checks();
    let is_missed = failed.any(|check| check.kind() == CheckKind::Throughput);
    let what_helps = match is_missed {
        true => {
            "The rate was missed: either it is too high for this storage, or there are too few \
             threads to hold it. Raise --threads first, and lower the rate if that does not help."
        }
        false => {
            "Operations are due at random moments, and wait when every thread is busy; more \
             --threads may shorten that wait."
        }
    };
    Some(Advice::new(
        AdviceId::WAITS_BEFORE_START,
        "Operations wait before they start",
        format!(
            "At the held rate of {}, {name} has a p99 response time of {} including that wait, but a \
             p99 service time of only {}. {what_helps}",
            bounded(rate, Unit::Iops),
            latency(response_ms),
            latency(service_ms)
        ),
    ))
}

/// A run that was stopped.
pub(super) fn interrupted(result: &RunResult) -> Option<Advice> {
    let is_of_workload = result.kind.is_of_workload();
    (result.verdict == Verdict::Interrupted && is_of_workload).then(|| {
        let figures = match was_measured(result) {
            true => {
                "The figures cover the time until the run was stopped, which is too short for a \
                 verdict."
            }
            false => "The run was stopped before it measured anything.",
        };
        Advice::new(
            AdviceId::INTERRUPTED,
            "The run was stopped",
            format!(
                "{figures} Run again; --reuse takes the databases that are already built, if they \
                 were kept with --keep."
            ),
        )
    })
}

/// The engine ran out of free pages.
pub(super) fn page_fault_stalls(result: &RunResult) -> Option<Advice> {
    let mut failed = result.failed_checks();
    let failed = failed.find(|check| check.id == CheckId::PageFaultStalls)?;
    Some(Advice::new(
        AdviceId::CACHE_TOO_SMALL,
        "The cache is too small for this load",
        format!(
            "Reads waited for a free page of the cache ({}): dirty pages were not written back as \
             fast as new ones were needed. With low latencies the load is the cause: use fewer \
             --threads, hold the required rate with --rate, or give the engine a larger cache. With \
             high write latencies the storage is the cause.",
            measured_value(failed)
        ),
    ))
}

/// The load was much higher than the one that was asked for.
pub(super) fn above_target(result: &RunResult) -> Option<Advice> {
    let throughput = &result.throughput;
    let share = throughput
        .achieved_fraction
        .filter(|share| share.is_finite())?;
    let target = throughput.target_iops.filter(|target| target.is_finite())?;
    let is_free = throughput.rate_iops.is_none();
    (is_free && share >= FAR_ABOVE_TARGET).then(|| {
        Advice::new(
            AdviceId::LOAD_ABOVE_TARGET,
            "The load was far above the one asked for",
            format!(
                "The threads reached {}, {} times the {} asked for, and the latencies are those of \
                 this load. Hold the rate with --rate {target:.0}, or use fewer threads, to see those \
                 of the load that was asked for.",
                bounded(throughput.achieved_iops, Unit::Iops),
                figure(share),
                bounded(target, Unit::Iops)
            ),
        )
    })
}

/// The wanted rate was not reached.
pub(super) fn target_missed(result: &RunResult) -> Option<Advice> {
    let mut failed = result.failed_checks();
    let failed = failed.find(|check| check.kind() == CheckKind::Throughput)?;
    let slow = result.failed_checks().any(|check| {
        matches!(
            check.kind(),
            CheckKind::Latency | CheckKind::Percentile | CheckKind::Spike
        )
    });
    let facts = format!(
        "Achieved {}, required {}.",
        measured_value(failed),
        bounded(failed.limit, failed.unit)
    );
    if slow {
        return Some(Advice::new(
            AdviceId::SATURATED,
            "The target rate was not achieved, and latency exceeds its limit",
            format!(
                "{facts} The storage is saturated: more threads would add queueing, not throughput. \
                 Use faster storage, or less load per volume."
            ),
        ));
    }
    let of_load = [CauseId::IdleSessions, CauseId::FewThreads];
    let mut causes = result.causes.iter();
    let cause = causes.find(|cause| of_load.contains(&cause.id));
    let busy = host_average(result, Metric::CpuBusy).filter(|value| *value >= 85.0);
    let text = match (cause, busy) {
        (Some(cause), _) => format!(
            "{facts} It need not have been the storage: {} {}",
            cause.text, cause.remedy
        ),
        (None, Some(busy)) => format!(
            "{facts} Latency is within its limits, but the CPUs of this host are {} % busy: the \
             host could not issue more. {}",
            figure(busy),
            host::whose(result)
        ),
        (None, None) => {
            let threads = result.throughput.threads.map_or(String::new(), |threads| {
                format!(" The run had {} threads.", count(threads))
            });
            format!(
                "{facts}{threads} Latency is within its limits, so the storage was not saturated: \
                 raise --threads, or let --threads auto find the number."
            )
        }
    };
    Some(Advice::new(
        AdviceId::TARGET_MISSED,
        "The target rate was not achieved, although latency is within its limits",
        text,
    ))
}

/// The measured phase was not in steady state.
pub(super) fn not_steady(result: &RunResult) -> Option<Advice> {
    let state = result
        .steady_state
        .as_ref()
        .filter(|state| state.steady == Some(false))?;
    // Where it went up and down, first and last round do not show a direction.
    let has_trend = state.slope_fraction.abs() >= state.range_fraction / 2.0;
    let ends = (state.rounds.first(), state.rounds.last());
    let direction = match ends {
        _ if !has_trend => "",
        (Some(first), Some(last)) if last < first => " It fell during the run.",
        (Some(first), Some(last)) if last > first => " It rose during the run.",
        _ => "",
    };
    Some(Advice::new(
        AdviceId::NOT_STEADY,
        "The run did not reach steady state",
        format!(
            "The tracked variable{} has a range of {} % and a slope of {} % of its \
             mean.{direction} {}",
            if state.variable.is_empty() {
                String::new()
            } else {
                format!(" ({})", state.variable)
            },
            percent(state.range_fraction),
            percent(state.slope_fraction),
            why_not_steady(result)
        ),
    ))
}

/// What is known of the reason, or usual reasons, and what helps.
fn why_not_steady(result: &RunResult) -> &'static str {
    let mut events = result.events.iter();
    let is_disturbed = !result.causes.is_empty() || host::busy(result).is_some();
    match result.kind {
        _ if events.any(|event| event.planned) => match is_required(result) {
            true => {
                "Failures were asked for in this prediction, so no steady state is to be expected: judge it \
                 without one (`--set run.steady_state.required=false`)."
            }
            false => {
                "Failures were asked for in this prediction, so no steady state is to be expected."
            }
        },
        RunKind::Prediction => {
            "Usual causes are a load that the array does not keep up with, cache fill and tier \
             migration. Predict a longer time (--duration), or less load."
        }
        _ if is_disturbed => "Remove what is named above first; it may be the reason.",
        _ => {
            "Usual causes are cache fill, SSD garbage collection and tier migration. Run longer \
             (--duration), or warm up longer, until the curves are level."
        }
    }
}

fn is_required(result: &RunResult) -> bool {
    let required = result.workload.settings.get("run.steady_state.required");
    required.and_then(serde_json::Value::as_bool) != Some(false)
}

/// Too short to sign off storage: few samples, or levels that were met by few requests.
pub(super) fn too_short(result: &RunResult) -> Option<Advice> {
    let samples = &result.samples;
    let requests = requests_behind_a_met_level(result);
    let is_short = samples.count < FEW_SAMPLES || requests.is_some();
    let is_judged = !matches!(
        result.verdict,
        Verdict::Error | Verdict::Built | Verdict::Interrupted
    );
    // How long programs use an array is their affair.
    let is_judged = is_judged && result.kind != RunKind::Served;
    (is_short && is_judged && result.has_measured_phase()).then(|| {
        let taken = match samples.count {
            0 => "No full sample was taken.".to_owned(),
            1 => "One sample was taken.".to_owned(),
            samples => format!("{} samples were taken.", count(samples)),
        };
        let remedy = match result.kind {
            RunKind::Run => {
                " To sign off storage, run at least 2 hours, and 24 hours to include cache fill, SSD \
                 garbage collection and nightly jobs."
            }
            RunKind::Prediction => {
                " A longer time (--duration) gives narrower confidence intervals."
            }
            RunKind::Trace | RunKind::Served => "",
        };
        Advice::new(
            AdviceId::SHORT_RUN,
            match result.kind {
                RunKind::Trace => "The trace is short",
                _ => "The run is short",
            },
            format!("{taken}{}{remedy}", requests.unwrap_or_default()),
        )
    })
}

/// A sentence about the level that was met with the smallest part of the requests that it needs.
fn requests_behind_a_met_level(result: &RunResult) -> Option<String> {
    let met = result
        .checks
        .iter()
        .filter(|check| check.passed == Some(true));
    let few = met.filter_map(|check| Some((few_requests(result, check)?, check)));
    let ((requests, fewest), check) =
        few.min_by_key(|((requests, fewest), _)| requests * 1_000 / fewest)?;
    Some(format!(
        " The {} of {} was met by {} only; fewer than {} show little.",
        check.name,
        check.place,
        units::count(requests, "request"),
        count(fewest)
    ))
}

/// Maintenance takes much of the device.
pub(super) fn maintenance_share(result: &RunResult) -> Option<Advice> {
    if !result
        .failed_checks()
        .any(|check| check.kind() == CheckKind::Latency)
    {
        return None;
    }
    let maintenance = result.totals.maintenance_reads.bytes_per_second();
    let totals = [
        &result.totals.reads,
        &result.totals.writes,
        &result.totals.log_writes,
    ];
    let rest: f64 = totals
        .iter()
        .map(|figures| figures.bytes_per_second())
        .sum();
    (maintenance.is_finite() && maintenance > rest && rest > 0.0).then(|| {
        Advice::new(
            AdviceId::MAINTENANCE_SHARE,
            "Background maintenance moves more data than the workload",
            format!(
                "It reads {}, all other I/O together moves {}. It is part of the real load, so it \
                 counts in the verdict; a run with it disabled shows how much of the latency it \
                 causes.",
                quantity(maintenance, Unit::BytesPerSecond),
                quantity(rest, Unit::BytesPerSecond)
            ),
        )
    })
}

/// Other programs use the devices.
pub(super) fn other_traffic(result: &RunResult) -> Option<Advice> {
    let mut causes = result.causes.iter();
    if causes.any(|cause| cause.id == CauseId::OtherIo) {
        return None;
    }
    let seen = other_io_at_devices(result)?;
    Some(Advice::new(
        AdviceId::OTHER_IO,
        "Other I/O on these devices",
        format!(
            "{} Find out what else uses it (backups, swap, other machines on the same disks) and run again \
             without it.",
            units::sentence(&seen)
        ),
    ))
}

/// How close a passed run came to its nearest limit.
pub(super) fn headroom(result: &RunResult, words: &LoadWords) -> Option<Advice> {
    let share = |check: &&measure::result::Check| {
        let value = check.value.filter(|value| value.is_finite())?;
        let of_latency = matches!(check.kind(), CheckKind::Latency | CheckKind::Percentile);
        let at_most = check.bound == Bound::AtMost && of_latency;
        (at_most && check.limit > 0.0).then(|| value / check.limit)
    };
    let checks = result.checks.iter();
    let (used, nearest) = checks
        .filter_map(|check| Some((share(&check)?, check)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "The check nearest to its limit is the {} of {}: {}, which is {} % of the limit of {}.",
        nearest.name,
        nearest.place,
        measured_value(nearest),
        percent(used),
        bounded(nearest.limit, nearest.unit)
    );
    let is_little = used > 0.8;
    let next = match (is_little, result.kind) {
        (true, RunKind::Run) => {
            "That is little headroom for growth, a rebuild or a failed path; test those too before \
             signing off."
                .to_owned()
        }
        (true, _) => "That is little headroom for growth, a rebuild or a failed path.".to_owned(),
        (false, RunKind::Run) => format!(
            "{} Before signing off, run 24 hours, and once more with a failed disk or path.",
            words.to_find_most
        ),
        (false, _) => words.to_find_most.to_owned(),
    };
    let text = format!("{text} {next}");
    Some(Advice::new(AdviceId::HEADROOM, "Headroom", text))
}

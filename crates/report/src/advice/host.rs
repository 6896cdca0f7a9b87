//! Rules about the CPUs of the host.

use measure::attribution::{PAUSE_MS, PAUSE_SHARE};
use measure::host::SHORTEST_PAUSE_MS;
use measure::metric::Metric;
use measure::result::{CauseId, CheckKind, RunResult, Verdict};

use super::evidence::host_average;
use super::{Advice, AdviceId};
use crate::number::{duration, figure, percent};
use crate::run::{Run, Sample};

/// A host this busy (percent) delays what it does.
const BUSY_PERCENT: f64 = 90.0;
/// A run that takes less than this share of the CPUs, in percent, did not make them busy.
const OWN_SHARE_PERCENT: f64 = 40.0;

/// CPUs that were busy in a run whose levels were met: what they delayed is in its figures.
pub(super) fn busy(result: &RunResult) -> Option<Advice> {
    let is_answer = matches!(result.verdict, Verdict::Pass | Verdict::Inconclusive);
    let mut failed = result.failed_checks();
    let is_of_speed = |kind| !matches!(kind, CheckKind::Integrity | CheckKind::Mix);
    let has_failed = failed.any(|check| is_of_speed(check.kind()));
    if !is_answer || has_failed || !result.causes.is_empty() {
        return None;
    }
    let busy_percent = host_average(result, Metric::CpuBusy)?;
    (busy_percent >= BUSY_PERCENT).then(|| {
        Advice::new(
            AdviceId::HOST_BUSY,
            "The CPUs of this host were busy",
            format!(
                "They were {} % busy on average, so the latencies may include waiting for a CPU, \
                 and the rate may be lower than the storage allows. {}",
                figure(busy_percent),
                whose(result)
            ),
        )
    })
}

/// Proofload did not run for a while: latencies and rates of that time are not those of the storage,
/// whether a level was missed by it or not.
pub(super) fn paused(run: &Run) -> Option<Advice> {
    let causes = &run.result.causes;
    if causes.iter().any(|cause| cause.id == CauseId::Paused) {
        return None;
    }
    let share = host_average(&run.result, Metric::Paused).unwrap_or(0.0) / 100.0;
    let is_much = share >= PAUSE_SHARE;
    let counts = |sample: &Sample, pause_ms: f64| {
        pause_ms >= PAUSE_MS || (is_much && sample.get(Metric::Paused) > 0.0)
    };
    let pauses = run.timeline.iter().map(|sample| {
        let pause_ms = sample.get(Metric::LongestPause);
        (pause_ms, sample)
    });
    let pauses: Vec<_> = pauses.filter(|(ms, one)| counts(one, *ms)).collect();
    let (longest_ms, sample) = pauses.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let mut more = match pauses.len() {
        1 => String::new(),
        samples => format!(
            " {samples} samples have a pause of {} or more.",
            duration(if is_much { SHORTEST_PAUSE_MS } else { PAUSE_MS } / 1e3)
        ),
    };
    if is_much {
        more += &format!(" Pauses take {} % of the measured phase.", percent(share));
    }
    Some(Advice::new(
        AdviceId::PAUSED,
        "Proofload did not run for a while",
        format!(
            "A thread that was due did not run for {}, between {} and {} after the start of the run: \
             proofload was paused, the machine was suspended, or no CPU was free.{more} Latencies and \
             rates of that time include it. Run again without such pauses.",
            duration(*longest_ms / 1e3),
            duration(sample.ends_s - sample.length_s),
            duration(sample.ends_s)
        ),
    ))
}

/// Whether it is the run or something else that keeps the CPUs busy, and what helps.
pub(super) fn whose(result: &RunResult) -> String {
    let share_percent = host_average(result, Metric::ProcessCpu)
        .filter(|_| result.server.is_none())
        .map(|percent| percent / result.host.cpus.max(1) as f64);
    match share_percent {
        Some(share_percent) if share_percent < OWN_SHARE_PERCENT => format!(
            "Proofload itself used only {} % of them: other programs used the rest. Stop them, and \
             run again.",
            percent(share_percent / 100.0)
        ),
        _ => "Stop other programs, or use a bigger host.".to_owned(),
    }
}

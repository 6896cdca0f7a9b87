//! Rules about the CPUs of the host.

use measure::metric::Metric;
use measure::result::{CheckKind, RunResult, Verdict};

use super::evidence::host_average;
use super::{Advice, AdviceId};
use crate::number::{figure, percent};

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

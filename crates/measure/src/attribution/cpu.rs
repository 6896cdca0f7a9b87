//! Who kept the CPUs of the host busy.

use super::evidence::Evidence;
use crate::display::number::percent;
use crate::metric::Metric;
use crate::result::Check;

/// A host whose processors are this busy, in percent, delays what it does.
const BUSY_PERCENT: f64 = 90.0;
/// A load generator with this share of the busy time makes the processors busy itself.
const MOST_OF_CPU: f64 = 0.5;

/// Who kept the CPUs busy when they were too busy.
struct Busy {
    /// How busy they were, in percent of all of them.
    percent: f64,
    /// The share of Proofload in it.
    own_share: f64,
    /// The share of the database server in it; 0 when that is not known.
    server_share: f64,
}

fn busy(evidence: &Evidence<'_>) -> Option<Busy> {
    let busy_percent = evidence.average(Metric::CpuBusy)?;
    let own_percent = evidence.average(Metric::ProcessCpu)?;
    let server = evidence.result.server.as_ref();
    let server_percent = server.and_then(|server| server.cpu_percent).unwrap_or(0.0);
    let cpus = evidence.result.host.cpus.max(1) as f64;
    let share = |percent_of_core: f64| percent_of_core / cpus / busy_percent;
    (busy_percent >= BUSY_PERCENT).then(|| Busy {
        percent: busy_percent,
        own_share: share(own_percent),
        server_share: share(server_percent),
    })
}

pub(super) fn load_generator_busy(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let busy = busy(evidence)?;
    (busy.own_share >= MOST_OF_CPU).then(|| {
        format!(
            "the CPUs were {:.0} % busy, {} % of it with proofload itself.",
            busy.percent,
            percent(busy.own_share)
        )
    })
}

pub(super) fn server_busy(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let busy = busy(evidence)?;
    (busy.own_share < MOST_OF_CPU && busy.server_share >= MOST_OF_CPU).then(|| {
        format!(
            "the CPUs were {:.0} % busy, {} % of it with the database server.",
            busy.percent,
            percent(busy.server_share)
        )
    })
}

pub(super) fn host_busy(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let busy = busy(evidence)?;
    // Where the share of the server is not known, it may be the server.
    let server = evidence.result.server.as_ref();
    let whom = match server.is_some_and(|server| server.cpu_percent.is_none()) {
        true => "the database server or other programs",
        false => "other programs",
    };
    let is_known = busy.own_share >= MOST_OF_CPU || busy.server_share >= MOST_OF_CPU;
    (!is_known).then(|| {
        format!(
            "the CPUs were {:.0} % busy, most of it with {whom}.",
            busy.percent
        )
    })
}

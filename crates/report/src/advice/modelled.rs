//! Rules about a modelled array: its busiest disks, and what failed in it.

use measure::metric::{IoMetric, Stream};
use measure::result::{ArrayResult, DatabaseResult, EventResult};
use measure::sample::Phase;

use super::{Advice, AdviceId};
use crate::number::{duration, figure, latency, percent};
use crate::run::{Run, Sample};

/// Disks that are busy for this share of the time have queues.
const BUSY_DISKS: f64 = 0.8;
/// A latency is said to have risen when it is this many times what it was.
const RISEN: f64 = 1.1;

/// Database reads are too slow: because of the disks?
pub(super) fn database_reads(
    array: &ArrayResult,
    slow: &DatabaseResult,
    read_ms: f64,
    fewer: &str,
) -> Option<Advice> {
    let groups = array.groups.iter();
    let group = groups.max_by(|a, b| a.max_busy_fraction.total_cmp(&b.max_busy_fraction))?;
    let facts = format!(
        "{} has an average read latency of {}. The busiest disk group is {} ({} x {}): its disks are \
         {} % busy on average, the busiest {} %, with {} requests inside each disk on average",
        slow.name,
        latency(read_ms),
        group.name,
        group.disks,
        group.disk,
        percent(group.average_busy_fraction),
        percent(group.max_busy_fraction),
        figure(group.average_disk_queue_depth)
    );
    if group.max_busy_fraction >= BUSY_DISKS {
        let title = format!("The disks of {} are the bottleneck", group.name);
        let text = format!(
            "{facts}. More or faster disks, SSDs in front of them (--find min-flash finds how many) or \
             fewer {fewer} help."
        );
        return Some(Advice::new(AdviceId::DISKS_BUSY, &title, text));
    }
    let busiest = |of: fn(&measure::result::ArrayController) -> f64| {
        let busy = array.controllers.iter().map(of).fold(0.0, f64::max);
        percent(busy)
    };
    Some(Advice::new(
        AdviceId::DISKS_BUSY,
        "Database reads are too slow, and the disks are not busy all the time",
        format!(
            "{facts}. The busiest controller's CPU is {} % busy, its link to the partner {} %. Find in \
             the charts of the array what is busy when the latency is high.",
            busiest(|one| one.cpu_busy_fraction),
            busiest(|one| one.link_busy_fraction)
        ),
    ))
}

/// The events that are failures; the others are repairs, and what follows from either.
const FAILURES: [&str; 6] = [
    "disk-fails",
    "disk-slows",
    "sectors-unreadable",
    "credits-spent",
    "controller-fails",
    "cache-battery-fails",
];

/// Failures that the prediction was asked for, with the read latency before and after the first.
pub(super) fn failures(run: &Run) -> Option<Advice> {
    let is_failure = |event: &&EventResult| event.planned && FAILURES.contains(&&*event.what);
    let events = run.result.events.iter();
    let failed: Vec<&EventResult> = events.filter(is_failure).collect();
    let first = failed.first()?;
    let texts = failed.iter().map(|event| {
        let at = duration(event.measured_at_s.max(0.0));
        format!("After {at} of the measured phase: {}", event.text)
    });
    let mut texts: Vec<String> = texts.collect();
    let measured = run.timeline.iter();
    let measured: Vec<&Sample> = measured
        .filter(|sample| sample.phase == Phase::Measured)
        .collect();
    let (before, after): (Vec<&Sample>, Vec<&Sample>) = measured
        .into_iter()
        .partition(|sample| sample.ends_s <= first.at_s);
    if let (Some(before_ms), Some(after_ms)) = (average_read_ms(&before), average_read_ms(&after)) {
        let (before, after) = (latency(before_ms), latency(after_ms));
        texts.push(match after_ms >= before_ms * RISEN {
            true => format!("The average database read latency rose from {before} to {after}."),
            false => {
                format!("The average database read latency was {before} before and {after} after.")
            }
        });
    }
    let title = "Parts of the array failed or slowed down, as asked for";
    Some(Advice::new(
        AdviceId::PLANNED_FAILURE,
        title,
        texts.join(" "),
    ))
}

/// The average over samples, each with the weight of its reads; `None` without reads.
fn average_read_ms(samples: &[&Sample]) -> Option<f64> {
    let sums = samples.iter().map(|sample| {
        let of = |metric| sample.io(Stream::DatabaseRead, metric);
        let reads = of(IoMetric::Rate) * sample.length_s;
        (reads, reads * of(IoMetric::Average))
    });
    let known = sums.filter(|(reads, sum_ms)| *reads > 0.0 && sum_ms.is_finite());
    let (reads, sum_ms) = known.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    (reads > 0.0).then(|| sum_ms / reads)
}

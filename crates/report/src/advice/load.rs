//! Rules about the load and the run itself: errors, cache, target rate, steadiness, length.

use measure::result::{Bound, CheckKind, DeviceResult, ErrorKind, ErrorRecord, RunResult, Verdict};

use super::Advice;
use super::evidence::{own_processor_percent, processor_percent};
use crate::number::{count, figure, limit, percent};
use crate::words::was_measured;

/// Fewer samples than this say little about a storage system.
const FEW_SAMPLES: u64 = 20;
/// An operation that ends this many times later than it took has waited for its turn.
const PILING_UP: f64 = 3.0;
/// A shorter wait is nothing that anybody feels, and may be the grain of timers and of this host's
/// scheduler; it is also the limit of an average database read.
const FELT_MS: f64 = 20.0;
/// A run that takes less than this share of busy processors, in percent, did not make them busy.
const OWN_SHARE: f64 = 40.0;
/// A device that serves this many times the requests of the run serves somebody else too.
const OTHER_TRAFFIC: f64 = 1.25;

/// Errors come before any number.
pub(super) fn errors(result: &RunResult) -> Option<Advice> {
    let Some(first) = result.errors.first() else {
        return failed_requests(result);
    };
    match first.kind {
        ErrorKind::OutOfSpace => return Some(out_of_space(result, first)),
        ErrorKind::Unavailable => return Some(server_gone(first)),
        ErrorKind::Books => return Some(super::books::do_not_balance(result, first)),
        _ => {}
    }
    let page = first
        .page
        .map_or(String::new(), |page| format!(", page {}", count(page)));
    let what = if first.operation.is_empty() {
        "The run"
    } else {
        &first.operation
    };
    Some(Advice::new(
        "Settle the errors before looking at any number",
        format!(
            "{} failed on {}{page}: {} Look at the kernel log of this time, at the counters of \
             the device and at the event log of the storage{}.",
            capital(what),
            first.file,
            sentence(&first.error),
            if is_database(first) {
                format!(
                    "; `proofload edb check {}` reads every page again",
                    first.file
                )
            } else {
                String::new()
            }
        ),
    ))
}

/// Whether an error is about a database, which can be checked, and not about a log or another file.
fn is_database(error: &ErrorRecord) -> bool {
    error.page.is_some() || error.file.ends_with(".edb")
}

/// A full disk says nothing against the storage.
fn out_of_space(result: &RunResult, error: &ErrorRecord) -> Advice {
    if result.array.is_some() {
        return Advice::new(
            "Make the volumes larger, then predict again",
            format!(
                "There was no space left for {}: more messages came in than the volume was sized \
                 for. Give the databases larger volumes with `--set \
                 array.volumes.database_size_gb=N`, hold a `--rate`, or predict a shorter time.",
                error.file
            ),
        );
    }
    if result.server.is_some() {
        return Advice::new(
            "Make room, then run again",
            format!(
                "There was no space left for {}: {}. `proofload run --dry-run` says how much is \
                 needed where.",
                error.file,
                error.error.trim_end_matches('.')
            ),
        );
    }
    let (place, _) = error.file.rsplit_once('/').unwrap_or((".", &error.file));
    let remedy = if is_database(error) {
        "Databases grow while messages come in: make room there for all of the run, or run for a \
         shorter time or with a smaller --target-size"
    } else {
        "Every commit writes to the log: make room there, or let old log files be used again with \
         engine.circular_logging"
    };
    Advice::new(
        "Make room, then run again",
        format!(
            "There was no space left for {} in {place}. {remedy}. `proofload run --dry-run` says \
             how much is needed where. What the databases held is safe: --reuse recovers them and \
             goes on.",
            error.file
        ),
    )
}

/// A server that is gone says nothing yet about the storage, which may be why it went.
fn server_gone(error: &ErrorRecord) -> Advice {
    Advice::new(
        "See why the server is gone, then run again",
        format!(
            "It was waited for while {}: {} Its own log tells why it ended, and the kernel's log \
             whether memory ran out or the storage failed. What was measured before is in the \
             tables; whether the books balance is not known.",
            error.operation,
            sentence(&error.error)
        ),
    )
}

/// Failed requests that were counted, but of which no record tells more.
fn failed_requests(result: &RunResult) -> Option<Advice> {
    let failed = result
        .failed_checks()
        .find(|check| check.kind == CheckKind::Integrity)?;
    Some(Advice::new(
        "Settle the errors before looking at any number",
        format!(
            "{} {} were counted. Look at log.txt beside the report, at the kernel log of this time \
             and at the event log of the storage.",
            failed.value.map_or_else(String::new, limit),
            failed.unit
        ),
    ))
}

/// A held rate that the storage does not keep up with: operations start late.
pub(super) fn piling_up(result: &RunResult) -> Option<Advice> {
    let rate = result.throughput.rate_iops?;
    let late = result.operations.iter().find(|operation| {
        let (Some(service), Some(due)) = (operation.service, operation.from_intended_start) else {
            return false;
        };
        let late_ms = due.p99_ms - service.p99_ms;
        due.p99_ms > service.p99_ms * PILING_UP && late_ms >= FELT_MS
    })?;
    let due = late
        .from_intended_start
        .map_or(f64::NAN, |latency| latency.p99_ms);
    let service = late.service.map_or(f64::NAN, |latency| latency.p99_ms);
    Some(Advice::new(
        "Operations start late",
        format!(
            "At the held rate of {} 1/s, one {} of a hundred ended {} ms after it was due, but took \
             only {} ms itself: work piles up before it starts. Users feel the longer time. Either \
             the rate is more than this storage carries, or there are too few sessions to keep it: \
             raise --threads first, and lower the rate if that does not help.",
            limit(rate),
            late.name,
            figure(due),
            figure(service)
        ),
    ))
}

/// A run that was stopped.
pub(super) fn interrupted(result: &RunResult) -> Option<Advice> {
    (result.verdict == Verdict::Interrupted).then(|| {
        let figures = match was_measured(result) {
            true => {
                "The figures cover the time until the run was stopped; they are right, but too \
                 short to judge by."
            }
            false => "The run was stopped before it measured anything.",
        };
        Advice::new(
            "Let a run finish",
            format!(
                "{figures} Run again; --reuse takes the databases that are already built, if they \
                 were kept with --keep."
            ),
        )
    })
}

/// The engine ran out of free pages.
pub(super) fn page_fault_stalls(result: &RunResult) -> Option<Advice> {
    let failed = result
        .failed_checks()
        .find(|check| check.kind == CheckKind::Resource)?;
    let value = failed.value.map_or(String::new(), |value| {
        format!(" ({} {})", figure(value), failed.unit)
    });
    Some(Advice::new(
        "The cache is too small for this load",
        format!(
            "Reads had to wait until a page of the cache became free{value}: changed pages could \
             not be written back as fast as new ones were needed. With good latencies this says \
             more about the load than about the storage: use fewer --threads, hold the rate that is \
             really needed with --rate, or give the engine a larger cache. With bad write latencies \
             the storage is what holds the cache back."
        ),
    ))
}

/// The wanted rate was not reached.
pub(super) fn target_missed(result: &RunResult) -> Option<Advice> {
    let failed = result
        .failed_checks()
        .find(|check| check.kind == CheckKind::Throughput)?;
    let slow = result
        .failed_checks()
        .any(|check| matches!(check.kind, CheckKind::Latency | CheckKind::Spike));
    let achieved = failed.value.map_or_else(String::new, figure);
    let facts = format!(
        "{achieved} {} of at least {} were reached.",
        failed.unit,
        limit(failed.limit)
    );
    if slow {
        return Some(Advice::new(
            "The target rate was not reached, and latency is over its limit",
            format!(
                "{facts} The storage is saturated: more threads would add waiting, not work. It \
                 needs to be faster, or the load per volume smaller."
            ),
        ));
    }
    let busy = processor_percent(result).filter(|value| *value >= 85.0);
    let text = busy.map_or_else(
        || {
            let threads = result.throughput.threads.map_or(String::new(), |threads| {
                format!(" The run had {} sessions.", count(threads))
            });
            format!(
                "{facts}{threads} Latency is within its limits, so the storage was not asked for \
                 more: raise --threads, or let --threads auto find the number."
            )
        },
        |busy| {
            format!(
                "{facts} Latency is within its limits, but the processors of this host are busy \
                 {} % of the time: the host could not ask for more. {}",
                figure(busy),
                whose_processors(result)
            )
        },
    );
    Some(Advice::new(
        "The target rate was not reached, although latency is good",
        text,
    ))
}

/// Whether it is the run or something else that keeps the processors busy, and what helps.
fn whose_processors(result: &RunResult) -> String {
    let share = own_processor_percent(result)
        .filter(|_| result.server.is_none())
        .map(|percent| percent / result.host.cpus.max(1) as f64);
    match share {
        Some(share) if share < OWN_SHARE => format!(
            "The run itself took only {} % of them: other programs took the rest. Stop them, and \
             run again.",
            figure(share)
        ),
        _ => "Stop other programs, or use a bigger host.".to_owned(),
    }
}

/// The load drifted during the measured phase.
pub(super) fn not_steady(result: &RunResult) -> Option<Advice> {
    let state = result
        .steady_state
        .as_ref()
        .filter(|state| state.steady == Some(false))?;
    // Where it went up and down, its two ends tell nothing of its course.
    let has_trend = state.slope_fraction.abs() >= state.range_fraction / 2.0;
    let ends = (state.rounds.first(), state.rounds.last());
    let course = match ends {
        _ if !has_trend => "",
        (Some(first), Some(last)) if last < first => "It fell while the run went on: ",
        (Some(first), Some(last)) if last > first => "It rose while the run went on: ",
        _ => "",
    };
    Some(Advice::new(
        "The run was not steady",
        format!(
            "The rate ({}) spread over {} % of its mean, with a trend of {} %. {course}caches fill, \
             flash starts to collect garbage, tiers move data. Run longer (--duration), until the curves \
             are level; what counts is what the storage does on an ordinary day.",
            if state.variable.is_empty() {
                "as tracked"
            } else {
                &state.variable
            },
            percent(state.range_fraction),
            percent(state.slope_fraction)
        ),
    ))
}

/// Too short to judge.
pub(super) fn too_few_samples(result: &RunResult) -> Option<Advice> {
    let samples = &result.samples;
    let short = samples.count < FEW_SAMPLES && result.verdict != Verdict::Interrupted;
    let is_run = !matches!(result.verdict, Verdict::Error | Verdict::Built);
    (short && is_run).then(|| {
        Advice::new(
            "The run is short",
            format!(
                "{} taken. That shows that everything works; to sign off storage, run \
                 at least 2 hours, and 24 hours to see what caches, flash and nightly jobs do.",
                match samples.count {
                    1 => "One sample was".to_string(),
                    samples => format!("{} samples were", count(samples)),
                }
            ),
        )
    })
}

/// Maintenance takes much of the device.
pub(super) fn maintenance_share(result: &RunResult) -> Option<Advice> {
    if !result
        .failed_checks()
        .any(|check| check.kind == CheckKind::Latency)
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
            "Background maintenance moves more data than the users",
            format!(
                "It reads {} per second, all other requests together move {}. It is part of the \
                 real load, so it stays in the verdict; a run with it switched off shows how much \
                 of the latency it causes.",
                crate::number::bytes(maintenance),
                crate::number::bytes(rest)
            ),
        )
    })
}

/// Somebody else uses the device.
pub(super) fn other_traffic(result: &RunResult) -> Option<Advice> {
    let all = crate::table::causes(result);
    let own: f64 = all
        .iter()
        .map(|(_, figures)| figures.bytes_per_second())
        .sum();
    let seen: f64 = lowest_devices(result)
        .map(|one| one.read_bytes_per_second + one.write_bytes_per_second)
        .sum();
    let much = seen > own * OTHER_TRAFFIC && seen - own > 1_048_576.0;
    (own > 0.0 && seen.is_finite() && much).then(|| {
        Advice::new(
            "Somebody else uses these devices",
            format!(
                "The devices moved {} per second, the run only {}. Find out what else works on \
                 them (backups, swap, other machines on the same disks) and run again without it.",
                crate::number::bytes(seen),
                crate::number::bytes(own)
            ),
        )
    })
}

/// The devices that do not lie on other ones of the list: what a loop device or a partition moves,
/// the disk below it has moved too.
fn lowest_devices(result: &RunResult) -> impl Iterator<Item = &DeviceResult> {
    let devices = &result.host.devices;
    let is_listed = |name: &String| devices.iter().any(|one| one.name == *name);
    devices
        .iter()
        .filter(move |one| !one.lies_on.iter().any(is_listed))
}

/// How close a passed run came to its nearest limit.
pub(super) fn room_left(result: &RunResult) -> Option<Advice> {
    let share = |check: &&measure::result::Check| {
        let value = check.value.filter(|value| value.is_finite())?;
        let at_most = check.bound == Bound::AtMost && check.kind == CheckKind::Latency;
        (at_most && check.limit > 0.0).then(|| value / check.limit)
    };
    let checks = result.checks.iter();
    let (used, nearest) = checks
        .filter_map(|check| Some((share(&check)?, check)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "The level nearest to its limit is the {} of {}: {} of {} {}, {} % of what is allowed.",
        nearest.name,
        nearest.place,
        figure(nearest.value.unwrap_or(f64::NAN)),
        limit(nearest.limit),
        nearest.unit,
        percent(used)
    );
    let next = if used > 0.8 {
        " That is little room for growth, a rebuild or a failed path; test those too before \
         signing off."
    } else if result.server.is_some() {
        " More --users show how much more it carries. Before signing off, run 24 hours, and once \
         more with a failed disk or path."
    } else {
        " --threads auto finds how much more it carries. Before signing off, run 24 hours, and once \
         more with a failed disk or path."
    };
    Some(Advice::new("How much room is left", text + next))
}

/// An error text ends like a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) {
        text.to_string()
    } else {
        format!("{text}.")
    }
}

/// The text with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_end_like_sentences() {
        assert_eq!(sentence("the disk is full"), "the disk is full.");
        assert_eq!(sentence("Bad page. "), "Bad page.");
    }
}

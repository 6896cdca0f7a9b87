//! Rules about latency: is it the device, the path to it, the log, or one place alone?

use measure::display::LoadWords;
use measure::metric::Metric;
use measure::result::{
    CheckKind, DatabaseResult, DeviceResult, RunKind, RunResult, Scope, Verdict,
};

use super::evidence::{average_ms, database, host_average, latency_failed, median, worst_failed};
use super::{Advice, AdviceId, modelled};
use crate::number::{figure, latency, percent};

/// A host this busy (percent) delays its requests.
const BUSY_PROCESSOR_PERCENT: f64 = 85.0;
/// The device explains a latency when it accounts for at least this share of it.
const DEVICE_SHARE: f64 = 0.6;
/// A request that takes this long is noticed by users, whatever the averages are.
const LONG_REQUEST_MS: f64 = 1_000.0;
/// A database differs when it is this many times as slow as the median of all.
const DIFFERS: f64 = 1.5;

/// Database reads are too slow: in a modelled array, at the device, or above it?
pub(super) fn database_reads(result: &RunResult, words: &LoadWords) -> Option<Advice> {
    let check = worst_failed(result, CheckKind::Latency, Scope::Database)?;
    let slow = database(result, &check.place)?;
    let engine_ms = average_ms(&slow.figures.reads)?;
    if let Some(array) = &result.array {
        return modelled::database_reads(array, slow, engine_ms, words.fewer);
    }
    let Some(device) = result.device_under(&slow.path) else {
        return Some(Advice::new(
            AdviceId::NO_DEVICE,
            "Database reads are too slow, and there is no block device to compare with",
            format!(
                "{} has an average read latency of {}. The kernel shows no block device under {}, \
                 so the time cannot be split into device and host. Compare with the counters of \
                 the storage system or file server itself.",
                slow.name,
                latency(engine_ms),
                slow.path
            ),
        ));
    };
    let device_ms = device.average_read_ms.filter(|value| value.is_finite())?;
    if device_ms >= engine_ms * DEVICE_SHARE {
        return Some(device_is_slow(words, slow, engine_ms, device, device_ms));
    }
    Some(host_is_slow(result, slow, engine_ms, device, device_ms))
}

fn device_is_slow(
    words: &LoadWords,
    slow: &DatabaseResult,
    engine_ms: f64,
    device: &DeviceResult,
    device_ms: f64,
) -> Advice {
    let load = words.fewer;
    let kind = if device.rotational == Some(true) {
        format!("More or faster disks, flash in front of them, or fewer {load} help.")
    } else {
        format!(
            "Check whether the device is throttled, nearly full or shared; otherwise use a faster \
             one, or fewer {load} on it."
        )
    };
    Advice::new(
        AdviceId::DEVICE_SLOW,
        "The device itself is too slow for this load",
        format!(
            "{} has an average read latency of {}. All reads of device {} took {} on average, at a queue \
             depth of {} and {} % utilization: the time is spent in the storage, not in the host. \
             {kind} A run with {} finds the load that it sustains.",
            slow.name,
            latency(engine_ms),
            device.name,
            latency(device_ms),
            figure(device.average_queue_depth),
            percent(device.busy_fraction),
            words.to_sustain
        ),
    )
}

fn host_is_slow(
    result: &RunResult,
    slow: &DatabaseResult,
    engine_ms: f64,
    device: &DeviceResult,
    device_ms: f64,
) -> Advice {
    let facts = format!(
        "{} has an average read latency of {}, but device {} only {}.",
        slow.name,
        latency(engine_ms),
        device.name,
        latency(device_ms)
    );
    match host_average(result, Metric::CpuBusy) {
        Some(busy) if busy >= BUSY_PROCESSOR_PERCENT => Advice::new(
            AdviceId::HOST_BUSY,
            "The host is the bottleneck, not the storage",
            format!(
                "{facts} The CPUs are {} % busy, so requests wait for the host. Stop other programs, \
                 use a bigger host, or lower --threads, and run again before judging the storage.",
                figure(busy)
            ),
        ),
        _ => Advice::new(
            AdviceId::QUEUE_ABOVE_DEVICE,
            "Requests queue above the device",
            format!(
                "{facts} The difference is queueing above it: in the file system, in multipath, in \
                 a hypervisor, or at a queue depth limit of the path. Check the queue depth limits \
                 and the I/O scheduler ({}), and try fewer threads.",
                if device.scheduler.is_empty() {
                    "unknown"
                } else {
                    &device.scheduler
                }
            ),
        ),
    }
}

/// Log writes are too slow although the database reads are fine.
pub(super) fn log_slow_database_fast(result: &RunResult) -> Option<Advice> {
    if latency_failed(result, Scope::Database) {
        return None;
    }
    let check = worst_failed(result, CheckKind::Latency, Scope::Log)?;
    let slow = database(result, &check.place)?;
    let log_ms = average_ms(&slow.figures.log_writes)?;
    let read_ms = average_ms(&slow.figures.reads).map_or(String::new(), |value| {
        format!(", its database reads only {}", latency(value))
    });
    Some(Advice::new(
        AdviceId::LOG_SLOW,
        "Log writes are slow, database reads are not",
        format!(
            "Log writes of {} take {} on average{read_ms}. A log write is small and must be on \
             stable storage before a commit returns, so it shows the cost of a flush: check for a \
             write cache that is disabled or has lost its battery, for a device without power-loss \
             protection, and for log and database on one device (--log-on puts the log \
             elsewhere).",
            slow.name,
            latency(log_ms)
        ),
    ))
}

/// Both are too slow on one device.
pub(super) fn log_and_database_slow(result: &RunResult) -> Option<Advice> {
    if !latency_failed(result, Scope::Database) {
        return None;
    }
    let check = worst_failed(result, CheckKind::Latency, Scope::Log)?;
    let slow = database(result, &check.place)?;
    let under_database = result.device_under(&slow.path)?;
    let under_log = result.device_under(&slow.log_path)?;
    (under_database.name == under_log.name).then(|| {
        Advice::new(
            AdviceId::SHARED_DEVICE,
            "Log and database share one device",
            format!(
                "Both are too slow, and both are on {}. Small synchronous log writes queue behind \
                 large random database requests there. Put the logs on a separate device with \
                 --log-on and compare the two runs.",
                under_log.name
            ),
        )
    })
}

/// One database is much slower than the others.
pub(super) fn one_place_differs(result: &RunResult) -> Option<Advice> {
    if result.databases.len() < 3 {
        return None;
    }
    let averages = result
        .databases
        .iter()
        .map(|database| average_ms(&database.figures.reads));
    let averages: Vec<f64> = averages.map(|value| value.unwrap_or(f64::NAN)).collect();
    let middle = median(averages.clone())?;
    let far = |value: f64| value > middle * DIFFERS && value > middle + 1.0;
    let slow: Vec<&DatabaseResult> = result
        .databases
        .iter()
        .zip(&averages)
        .filter(|(_, average)| far(**average))
        .map(|(database, _)| database)
        .collect();
    if slow.is_empty() || slow.len() * 4 > result.databases.len() {
        return None;
    }
    let names: Vec<String> = slow
        .iter()
        .map(|one| {
            let average = average_ms(&one.figures.reads).unwrap_or(f64::NAN);
            format!("{} ({}, {})", one.name, latency(average), one.path)
        })
        .collect();
    Some(Advice::new(
        AdviceId::DATABASE_DIFFERS,
        if slow.len() == 1 {
            "One database differs"
        } else {
            "A few databases differ"
        },
        format!(
            "Much slower reads than the median of {}: {}. All databases have the same load, so \
             check what differs below: the volume, its disks, a rebuild, the path to it.",
            latency(middle),
            names.join(", ")
        ),
    ))
}

/// The average is within its limit, single samples are not.
pub(super) fn spikes(result: &RunResult) -> Option<Advice> {
    let find = |scope| {
        worst_failed(result, CheckKind::Latency, scope)
            .is_none()
            .then(|| worst_failed(result, CheckKind::Spike, scope))
            .flatten()
    };
    let check = find(Scope::Database).or_else(|| find(Scope::Log))?;
    let what = if check.scope() == Scope::Log {
        "log writes"
    } else {
        "database reads"
    };
    let highest = database(result, &check.place)
        .and_then(|one| {
            if check.scope() == Scope::Log {
                one.figures.log_writes.latency
            } else {
                one.figures.reads.latency
            }
        })
        .map_or(String::new(), |figures| {
            format!(
                " The highest sample average is {}.",
                latency(figures.max_sample_average_ms)
            )
        });
    Some(Advice::new(
        AdviceId::LATENCY_SPIKES,
        "Latency spikes: the average is within its limit, single samples are not",
        format!(
            "The {what} of {} exceed the limit for single samples.{highest} Find the time in the \
             chart of latency over time and compare it with the storage system's event log: patrol \
             read, rebuild, snapshot, a full cache, another host. Spikes at regular intervals are \
             usually a scheduled job or a cache flush.",
            check.place
        ),
    ))
}

/// No level was missed, and a single request took very long.
pub(super) fn long_request(result: &RunResult) -> Option<Advice> {
    let is_real = result.kind == RunKind::Run;
    let is_met = matches!(result.verdict, Verdict::Pass | Verdict::Inconclusive);
    if !is_real || !is_met || result.failed_checks().next().is_some() {
        return None;
    }
    let of = |one: &DatabaseResult| {
        let reads = ("A database read", one.figures.reads.latency);
        let log_writes = ("A log write", one.figures.log_writes.latency);
        let name = one.name.clone();
        [reads, log_writes]
            .into_iter()
            .filter_map(move |(what, figures)| Some((figures?.max_ms, what, name.clone())))
    };
    let all = result.databases.iter().flat_map(of);
    let long = all.filter(|(max_ms, ..)| *max_ms >= LONG_REQUEST_MS);
    let (max_ms, what, name) = long.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Advice::new(
        AdviceId::LONG_REQUEST,
        "A single request took long",
        format!(
            "{what} of {name} took {}, and no level judges single requests. Find the time in the chart of \
             latency over time and compare it with the event log of the storage system: a path that failed \
             over, a controller that restarted, a rebuild.",
            latency(max_ms)
        ),
    ))
}

/// The average is within its limit, the 99th percentile is not.
pub(super) fn slow_tail(result: &RunResult) -> Option<Advice> {
    let find = |scope| {
        let average = worst_failed(result, CheckKind::Latency, scope);
        average
            .is_none()
            .then(|| worst_failed(result, CheckKind::Percentile, scope))
            .flatten()
    };
    let check = find(Scope::Database).or_else(|| find(Scope::Log))?;
    let what = if check.scope() == Scope::Log {
        "log writes"
    } else {
        "database reads"
    };
    Some(Advice::new(
        AdviceId::TAIL_LATENCY,
        "Tail latency: the average is within its limit, p99 is not",
        format!(
            "The p99 latency of the {what} of {} is {}, although their average is within its limit. \
             Look for a mixture: cache hits and misses, fast and slow tiers, a few slow disks in a \
             stripe, or SSD garbage collection.",
            check.place,
            latency(check.value.unwrap_or(f64::NAN))
        ),
    ))
}

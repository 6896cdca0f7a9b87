//! Rules about latency: is it the device, the way to it, the log, or one place alone?

use measure::result::{CheckKind, DatabaseResult, DeviceResult, RunResult, Scope};

use super::Advice;
use super::evidence::{
    average_ms, database, device_under, latency_failed, median, processor_percent, worst_failed,
    worst_failed_percentile,
};
use crate::number::{figure, percent};

/// A host this busy (percent) delays its own requests.
const BUSY_PROCESSOR_PERCENT: f64 = 85.0;
/// The device explains a latency when it accounts for at least this share of it.
const DEVICE_SHARE: f64 = 0.6;
/// A database differs when it is this many times as slow as the median of all.
const DIFFERS: f64 = 1.5;

/// Database reads are too slow: at the device, or above it?
pub(super) fn database_reads(result: &RunResult) -> Option<Advice> {
    let check = worst_failed(result, CheckKind::Latency, Scope::Database)?;
    let slow = database(result, &check.place)?;
    let engine_ms = average_ms(&slow.reads)?;
    let Some(device) = device_under(result, &slow.path) else {
        return Some(Advice::new(
            "Database reads are too slow, and the host shows no device to blame",
            format!(
                "{} reads in {} ms on average. The kernel has no block device under {}, so the \
                 time cannot be split into device and host. Compare with the counters of the \
                 storage system or file server itself.",
                slow.name,
                figure(engine_ms),
                slow.path
            ),
        ));
    };
    let device_ms = device.average_read_ms.filter(|value| value.is_finite())?;
    if device_ms >= engine_ms * DEVICE_SHARE {
        return Some(device_is_slow(result, slow, engine_ms, device, device_ms));
    }
    Some(host_is_slow(result, slow, engine_ms, device, device_ms))
}

fn device_is_slow(
    result: &RunResult,
    slow: &DatabaseResult,
    engine_ms: f64,
    device: &DeviceResult,
    device_ms: f64,
) -> Advice {
    let is_mail = result.server.is_none();
    let load = if is_mail { "mailboxes" } else { "users" };
    let kind = if device.rotational == Some(true) {
        format!("More or faster disks, flash in front of them, or fewer {load} would help.")
    } else {
        format!(
            "Check whether the device is throttled, nearly full or shared; otherwise it needs a \
             faster one, or fewer {load} on it."
        )
    };
    Advice::new(
        "The device itself is too slow for this load",
        format!(
            "{} reads in {} ms on average, of which device {} takes {} ms, with {} requests in \
             flight and busy {} % of the time: the time is spent in the storage, not in the host. \
             {kind} A run with {} finds the load it does carry.",
            slow.name,
            figure(engine_ms),
            device.name,
            figure(device_ms),
            figure(device.average_queue_depth),
            percent(device.busy_fraction),
            if is_mail {
                "--threads auto"
            } else {
                "fewer --users"
            }
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
        "{} reads in {} ms on average, but device {} answers in {} ms.",
        slow.name,
        figure(engine_ms),
        device.name,
        figure(device_ms)
    );
    match processor_percent(result) {
        Some(busy) if busy >= BUSY_PROCESSOR_PERCENT => Advice::new(
            "The host is the bottleneck, not the storage",
            format!(
                "{facts} The processors are busy {} % of the time, so requests wait for the host. \
                 Stop other programs, use a bigger host, or lower --threads, and run again before \
                 judging the storage.",
                figure(busy)
            ),
        ),
        _ => Advice::new(
            "Requests wait above the device",
            format!(
                "{facts} The difference is waiting above it: a queue in the file system, in \
                 multipath or in a virtual machine monitor, or more requests at once than the path \
                 takes. Look at queue depth limits and the I/O scheduler ({}), and try fewer \
                 threads.",
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
    let log_ms = average_ms(&slow.log_writes)?;
    let read_ms = average_ms(&slow.reads).map_or(String::new(), |value| {
        format!(" while its database reads take {} ms", figure(value))
    });
    Some(Advice::new(
        "The log is slow, the database is not",
        format!(
            "Log writes of {} take {} ms on average{read_ms}. A log write is small and must be on \
             stable storage before a commit returns, so it shows what a flush costs: look for a \
             write cache that is off or has lost its battery, for a device without power-loss \
             protection, and for log and database sharing one device (--log-on puts the log \
             elsewhere).",
            slow.name,
            figure(log_ms)
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
    let under_database = device_under(result, &slow.path)?;
    let under_log = device_under(result, &slow.log_path)?;
    (under_database.name == under_log.name).then(|| {
        Advice::new(
            "Log and database share one device",
            format!(
                "Both are too slow, and both lie on {}. Small synchronous log writes queue behind \
                 large random database requests there. Put the logs on a device of their own with \
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
        .map(|database| average_ms(&database.reads));
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
            let average = average_ms(&one.reads).unwrap_or(f64::NAN);
            format!("{} ({} ms, {})", one.name, figure(average), one.path)
        })
        .collect();
    Some(Advice::new(
        if slow.len() == 1 {
            "One database differs"
        } else {
            "A few databases differ"
        },
        format!(
            "{} reads much slower than the others, whose median is {} ms. All carry the same load, \
             so look at what is different below: the volume, its disks, a rebuild, the path to it.",
            names.join(", "),
            figure(middle)
        ),
    ))
}

/// The average is fine, single samples are not.
pub(super) fn spikes(result: &RunResult) -> Option<Advice> {
    let find = |scope| {
        worst_failed(result, CheckKind::Latency, scope)
            .is_none()
            .then(|| worst_failed(result, CheckKind::Spike, scope))
            .flatten()
    };
    let check = find(Scope::Database).or_else(|| find(Scope::Log))?;
    let what = if check.scope == Scope::Log {
        "log writes"
    } else {
        "database reads"
    };
    let highest = database(result, &check.place)
        .and_then(|one| {
            if check.scope == Scope::Log {
                one.log_writes.latency
            } else {
                one.reads.latency
            }
        })
        .map_or(String::new(), |latency| {
            format!(
                " The slowest sample averaged {} ms.",
                figure(latency.highest_sample_ms)
            )
        });
    Some(Advice::new(
        "The average is good, but some samples are not",
        format!(
            "The {what} of {} break the rule for single samples.{highest} Find the time in the \
             chart of latency over time and compare it with what the storage did then: a patrol \
             read, a rebuild, a snapshot, a cache that filled up, another host. A spike at the same \
             distance again and again is usually a scheduled job or a flush of a cache.",
            check.place
        ),
    ))
}

/// The average is fine, one request of a hundred is not.
pub(super) fn slow_tail(result: &RunResult) -> Option<Advice> {
    let find = |scope| {
        let average = worst_failed(result, CheckKind::Latency, scope);
        average
            .is_none()
            .then(|| worst_failed_percentile(result, scope))
            .flatten()
    };
    let check = find(Scope::Database).or_else(|| find(Scope::Log))?;
    let what = if check.scope == Scope::Log {
        "log writes"
    } else {
        "database reads"
    };
    Some(Advice::new(
        "The average is good, the slow requests are too slow",
        format!(
            "One in a hundred of the {what} of {} takes {} ms or longer, although their average is \
             within its limit. Look for two kinds of requests in one stream: hits and misses of a \
             cache, fast and slow tiers, a few slow disks in a stripe, or garbage collection.",
            check.place,
            figure(check.value.unwrap_or(f64::NAN))
        ),
    ))
}

//! What explains a level that was not met without the storage.

use super::caches::{cache_filling, cache_shrunk};
use super::cpu::{host_busy, load_generator_busy, server_busy};
use super::evidence::Evidence;
use super::other_io::other_io;
use super::placement;
use super::server::{few_storage_waits, lock_waits, not_available};
use crate::display::number::{beside_limit, count, figure, latency, limit, percent, quantity};
use crate::metric::{Metric, Unit};
use crate::result::{CauseId, Check, CheckId, CheckKind, RunResult, Scope, SearchEnd};
use crate::units;

/// Threads wait for processors when their wait is this much, in percent of one processor, and at
/// least half of the time that they ran.
const RUN_QUEUE_PERCENT: f64 = 25.0;
/// A thread that runs for this share of the time has none left for more, in percent.
const BUSIEST_THREAD_PERCENT: f64 = 95.0;
/// A hypervisor that takes this much of the time, in percent.
const STEAL_PERCENT: f64 = 10.0;
/// Tasks that wait for memory for this share of the time, in percent.
const MEMORY_PERCENT: f64 = 10.0;
/// Swap traffic that is no accident.
const SWAP_BYTES_PER_SECOND: f64 = 1_048_576.0;
/// A pause that is longer than any limit of a sample.
pub const PAUSE_MS: f64 = 1_000.0;
/// Pauses of this share of the measured phase show in averages and rates.
pub const PAUSE_SHARE: f64 = 0.01;
/// Requests wait above a device whose own latency is less than this share of the read latency.
const ABOVE_DEVICE_SHARE: f64 = 0.3;
/// Sessions that work for less than this share of the time have time for more.
const WORKING_SHARE: f64 = 0.5;
/// Fewest requests behind an average.
const FEWEST_OF_AVERAGE: u64 = 100;
/// Fewest requests behind a 99th percentile: ten lie above it.
const FEWEST_OF_P99: u64 = 1_000;
/// Fewest requests behind the average of a sample.
const FEWEST_OF_SAMPLE: u64 = 10;

/// A cause, and how it is seen.
pub(super) struct Rule {
    pub(super) id: CauseId,
    /// Whether it holds although a device accounts for the latency.
    pub(super) holds_against_device: fn(&Check) -> bool,
    /// What was seen, as a sentence; `None` when the cause is not there.
    pub(super) seen: fn(&Evidence<'_>, &Check) -> Option<String>,
    pub(super) remedy: &'static str,
    /// When it holds, for the documentation.
    pub(super) condition: &'static str,
}

fn always(_: &Check) -> bool {
    true
}

fn never(_: &Check) -> bool {
    false
}

/// A pause shows in single requests, which the average of a device hides.
fn of_single_requests(check: &Check) -> bool {
    matches!(check.kind(), CheckKind::Spike | CheckKind::Percentile)
}

/// A busy device, too, does no more for a thread that can ask for no more.
fn of_rate(check: &Check) -> bool {
    check.kind() == CheckKind::Throughput
}

/// Only the rule about the mix has something to say of its shares.
fn of_mix(check: &Check) -> bool {
    check.kind() == CheckKind::Mix
}

/// The causes, the most convincing first: its sentence gives the reason of the verdict. A host that has
/// no CPU or memory to spare comes before what may follow from that, such as a load that is not steady.
pub(super) const RULES: &[Rule] = &[
    Rule {
        id: CauseId::FilesElsewhere,
        holds_against_device: never,
        seen: placement::files_elsewhere,
        remedy: placement::REMEDY,
        condition: "a database server on this machine has its WAL or redo log, or tables of the test, on another \
                    file system than that of --on or --log-on",
    },
    Rule {
        id: CauseId::Paused,
        holds_against_device: of_single_requests,
        seen: paused,
        remedy: "Run again on a machine that is not suspended, and whose processes nobody pauses.",
        condition: "a thread that was due to run did not for 1 s or more (for averages and rates: and for 1 % of \
                    the measured phase), or for 1 % of the time in pauses of 200 ms or more",
    },
    Rule {
        id: CauseId::OtherIo,
        holds_against_device: always,
        seen: other_io,
        remedy: "Stop what else uses the device (backups, other databases, swap, other machines on the same \
                 disks), and run again.",
        condition: "other programs had mail.other_io_percent of the bytes of a device under the databases or logs, \
                    and 1 MiB/s, or of its reads, and 100 per second; with a database server, other processes had \
                    more than brokerage.service_levels.other_io_percent; or a disk below, such as that of a \
                    partition, did so much more than the devices of the run that lie on it",
    },
    Rule {
        id: CauseId::LoadGeneratorBusy,
        holds_against_device: never,
        seen: load_generator_busy,
        remedy: "Use fewer threads (--threads), a held rate (--rate), or a bigger host.",
        condition: "the CPUs were 90 % busy, at least half of it with Proofload",
    },
    Rule {
        id: CauseId::ServerBusy,
        holds_against_device: never,
        seen: server_busy,
        remedy: "Use fewer users, a held rate (--rate), or a bigger host for the server.",
        condition: "the CPUs were 90 % busy, at least half of it with the database server",
    },
    Rule {
        id: CauseId::HostBusy,
        holds_against_device: never,
        seen: host_busy,
        remedy: "Stop other programs or use a bigger host, and run again.",
        condition: "the CPUs were 90 % busy, less than half of it with Proofload, and less than half \
                    with the database server",
    },
    Rule {
        id: CauseId::CpuSteal,
        holds_against_device: never,
        seen: cpu_steal,
        remedy: "Run on a virtual machine with reserved CPUs.",
        condition: "a hypervisor took 10 % of the CPU time or more",
    },
    Rule {
        id: CauseId::RunQueue,
        holds_against_device: never,
        seen: run_queue,
        remedy: "Use fewer threads (--threads), stop other programs, or raise the CPU limit.",
        condition: "threads of Proofload waited for a CPU 25 % of the time or more, and at least half \
                    as long as they ran",
    },
    Rule {
        id: CauseId::ThreadBusy,
        holds_against_device: of_rate,
        seen: thread_busy,
        remedy: "Use more databases (--databases), which have threads of their own, a held rate (--rate), or a \
                 host with faster CPUs.",
        condition: "one thread of Proofload ran 95 % of the time or more",
    },
    Rule {
        id: CauseId::Swapping,
        holds_against_device: never,
        seen: swapping,
        remedy: "Use a smaller cache or more memory, or stop other programs.",
        condition: "1 MiB/s or more were swapped",
    },
    Rule {
        id: CauseId::MemoryPressure,
        holds_against_device: never,
        seen: memory_pressure,
        remedy: "Use a smaller cache or more memory, or stop other programs.",
        condition: "tasks waited for memory 10 % of the time or more",
    },
    Rule {
        id: CauseId::MaximumNotHeld,
        holds_against_device: always,
        seen: maximum_not_held,
        remedy: "Hold a part of it (--throughput-percent 90), or search in longer steps (--duration).",
        condition: "the run held the highest rate that its search found, and nobody asked for a rate",
    },
    Rule {
        id: CauseId::SearchLimit,
        holds_against_device: always,
        seen: search_limit,
        remedy: "Search longer (--duration, as a search takes no longer than the measured phase, and for more than an \
                 hour also --set tuning.total_limit=2h), allow more threads \
                 (--set tuning.maximum_threads=8192), let each load settle longer (--set tuning.settle_limit=20m), \
                 or use a larger cache.",
        condition: "the target rate was not reached, and the search for it ended by its longest time, by \
                    the largest load that is tried, or by page-fault stalls",
    },
    Rule {
        id: CauseId::IdleSessions,
        holds_against_device: never,
        seen: idle_sessions,
        remedy: "Run longer (--duration), so that the load settles at the rate, and without pauses of sessions.",
        condition: "the rate was not reached, and sessions worked for less than half of the time",
    },
    Rule {
        id: CauseId::FewThreads,
        holds_against_device: always,
        seen: few_threads,
        remedy: "Raise --threads, or let --threads auto find the number.",
        condition: "the rate was not reached with a number of threads that was given, and every latency, that \
                    of database reads among them, was within its limit",
    },
    Rule {
        id: CauseId::TooFewSamples,
        holds_against_device: always,
        seen: too_few_samples,
        remedy: "Run longer (--duration), or sample more often (--set run.sample_interval=1s).",
        condition: "fewer samples than service_levels.fewest_samples",
    },
    Rule {
        id: CauseId::TooFewRequests,
        holds_against_device: always,
        seen: too_few_requests,
        remedy: "Run longer (--duration), or with data that does not fit the cache.",
        condition: "fewer than 100 requests behind an average, 1,000 behind a p99, or 10 for each \
                    sample of a maximum",
    },
    Rule {
        id: CauseId::NotSteady,
        holds_against_device: always,
        seen: not_steady,
        remedy: "Run longer (--duration), or warm up longer (--set run.warm_up.minimum=20m).",
        condition: "a steady state is required and was not reached",
    },
    Rule {
        id: CauseId::CacheFilling,
        holds_against_device: always,
        seen: cache_filling,
        remedy: "Warm up longer (--set run.warm_up.maximum=1h), or use a smaller cache.",
        condition: "the caches of the engine were less full than run.warm_up.cache_fill_percent when \
                    measuring began",
    },
    Rule {
        id: CauseId::CacheShrunk,
        holds_against_device: always,
        seen: cache_shrunk,
        remedy: "Free memory (of a container: raise its limit), or set a smaller engine.cache_size_per_database, and \
                 run again.",
        condition: "memory was short, and for a time a cache of the engine had less than \
                    run.warm_up.cache_fill_percent of its largest size",
    },
    Rule {
        id: CauseId::ServerNotAvailable,
        holds_against_device: always,
        seen: not_available,
        remedy: "Leave the server alone while a run uses it, or allow it more connections (max_connections), and \
                 run again.",
        condition: "the level that was not met is the downtime, a rate of transactions that was reached while \
                    the server was up, or a percentile of their times, where those that waited for the server \
                    can be the slow ones; and each outage began with a command to the server, or with \
                    all of its connections in use",
    },
    Rule {
        id: CauseId::LockWaits,
        holds_against_device: never,
        seen: lock_waits,
        remedy: "End transactions of other clients that hold locks, and use fewer users, or more customers: \
                 the data is too small for so many sessions.",
        condition: "30 % of the busy sessions of the server waited for locks, and fewer for storage",
    },
    Rule {
        id: CauseId::FewStorageWaits,
        holds_against_device: never,
        seen: few_storage_waits,
        remedy: "Use fewer users, or a bigger host for the server, and look at what its sessions do.",
        condition: "a level of transactions was not met, and fewer than 30 % of the busy sessions of the \
                    server waited for storage; without wait events, no device was busy for 30 % of the time",
    },
    Rule {
        id: CauseId::AboveDevice,
        holds_against_device: never,
        seen: above_device,
        remedy: "Use fewer threads (--threads auto finds their number), and look for a limit of the \
                 queue depth, a hypervisor or a file system above the device.",
        condition: "the device accounts for less than 30 % of the read latency",
    },
    Rule {
        id: CauseId::WrongMix,
        holds_against_device: of_mix,
        seen: wrong_mix,
        remedy: "Run longer (--duration), so that transactions which others start later have their share.",
        condition: "the level that was not met is a share of the transaction mix: the load was not the one \
                    asked for",
    },
];

/// Whether a cause is the state of the host, which no level need have failed for.
pub(super) fn is_of_host(id: CauseId) -> bool {
    matches!(
        id,
        CauseId::LoadGeneratorBusy
            | CauseId::ServerBusy
            | CauseId::HostBusy
            | CauseId::CpuSteal
            | CauseId::RunQueue
            | CauseId::Swapping
            | CauseId::MemoryPressure
    )
}

/// Every rule as a row of documentation: identifier, and when it holds.
pub fn rule_sentences() -> impl Iterator<Item = (CauseId, &'static str)> {
    let host = RULES.iter().map(|rule| (rule.id, rule.condition));
    let others = super::cached::CONDITIONS.iter().copied();
    host.chain(others).chain([super::calibrated::CONDITION])
}

fn maximum_not_held(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let tuning = evidence.result.tuning.as_ref()?;
    let held = evidence.result.throughput.rate_iops?;
    let chose = tuning.finds_maximum && tuning.maximum_iops.is_some();
    (chose && !tuning.misses_target()).then(|| {
        format!(
            "the {} that the search chose kept every level in its step, and not over the measured phase.",
            quantity(held, Unit::Iops)
        )
    })
}

fn search_limit(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let tuning = evidence.result.tuning.as_ref()?;
    let is_other = match tuning.ended {
        SearchEnd::Time | SearchEnd::LargestLoad => true,
        SearchEnd::ServiceLevel => tuning.stopped_by == Some(CheckId::PageFaultStalls),
        SearchEnd::RateReached | SearchEnd::Unknown => false,
    };
    let stopped_by = tuning.stopped_by()?;
    let is_rate = check.kind() == CheckKind::Throughput;
    (is_rate && is_other && tuning.misses_target())
        .then(|| format!("the search for the load was stopped by {stopped_by}."))
}

/// Sessions that wait for their next transaction could do more: the load that was asked of them was too small, as
/// while a rate settles. Reading ahead, transactions that failed and those that were not done in time are not in the
/// times of operations; where these wait for storage, its device is busy.
fn idle_sessions(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let working = evidence.working_share()?;
    (of_rate(check) && working < WORKING_SHARE).then(|| {
        format!(
            "the sessions worked for {} % of the time, and waited for their next transactions otherwise.",
            percent(working)
        )
    })
}

/// How much more threads would have reached is not known as long as latencies are within their limits.
fn few_threads(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let result = evidence.result;
    let threads = result.throughput.threads?;
    let is_given = result.tuning.is_none();
    let of_reads = |one: &Check| one.id == CheckId::DatabaseReadAverage && one.value.is_some();
    let is_judged = result.checks.iter().any(of_reads);
    let is_slow = result.failed_checks().any(|one| !of_rate(one));
    (of_rate(check) && is_given && is_judged && !is_slow).then(|| {
        format!(
            "{} reached no more, and every latency was within its limit.",
            units::count(threads, "thread")
        )
    })
}

fn too_few_samples(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let fewest = evidence.number("service_levels.fewest_samples")?;
    let samples = evidence.result.samples.count;
    ((samples as f64) < fewest).then(|| {
        let noun = if samples == 1 {
            "sample was"
        } else {
            "samples were"
        };
        format!(
            "only {} {noun} taken and {fewest} are needed.",
            count(samples)
        )
    })
}

fn too_few_requests(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let (requests, fewest) = few_requests(evidence.result, check)?;
    Some(format!(
        "the {} of {} rests on {} requests, and {} are needed.",
        check.name,
        check.place,
        count(requests),
        count(fewest)
    ))
}

/// The requests of the measured phase behind a level, and how many are needed, where they are fewer.
#[must_use]
pub fn few_requests(result: &RunResult, check: &Check) -> Option<(u64, u64)> {
    let fewest = match check.kind() {
        CheckKind::Latency => FEWEST_OF_AVERAGE,
        CheckKind::Percentile if check.scope() != Scope::Run => FEWEST_OF_P99,
        CheckKind::Spike => FEWEST_OF_SAMPLE * result.samples.count.max(1),
        _ => return None,
    };
    // Those of the whole phase also for one sample: where storage stalls, few requests end in a sample.
    let stream = Evidence::stream(check);
    let database = Evidence::of(result).database(check)?;
    let requests = database.figures.stream(stream).count;
    (requests < fewest).then_some((requests, fewest))
}

fn not_steady(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let state = evidence.missed_steady_state()?;
    Some(format!(
        "the measured phase was not steady: {} has a range of {} % and a slope of {} % of the mean.",
        state.variable,
        percent(state.range_fraction),
        percent(state.slope_fraction)
    ))
}

fn paused(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let longest_ms = evidence.maximum(Metric::LongestPause)?;
    let paused_percent = evidence.average(Metric::Paused).unwrap_or(0.0);
    let samples = &evidence.result.samples;
    let measured_ms = samples.count as f64 * samples.interval_s * 1e3;
    let is_long = longest_ms >= PAUSE_MS
        && (of_single_requests(check) || longest_ms >= PAUSE_SHARE * measured_ms);
    (is_long || paused_percent >= PAUSE_SHARE * 100.0).then(|| {
        let share = match paused_percent {
            0.0 => String::new(),
            percent => format!(", and for {} % of the time in all", figure(percent)),
        };
        format!(
            "proofload did not run for {} at a time{share}: it was paused, or the machine was suspended.",
            latency(longest_ms)
        )
    })
}

fn cpu_steal(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let steal_percent = evidence.average(Metric::CpuSteal)?;
    (steal_percent >= STEAL_PERCENT).then(|| {
        format!("the hypervisor gave {steal_percent:.0} % of the CPU time to other machines.")
    })
}

fn run_queue(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let waited_percent = evidence.average(Metric::RunQueueDelay)?;
    let ran_percent = evidence.average(Metric::ProcessCpu)?;
    (waited_percent >= RUN_QUEUE_PERCENT && waited_percent >= ran_percent / 2.0).then(|| {
        format!(
            "threads of proofload waited for a CPU for {waited_percent:.0} % of the time and ran for \
             {ran_percent:.0} % (of one CPU)."
        )
    })
}

fn thread_busy(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let busiest_percent = evidence.average(Metric::BusiestThread)?;
    (busiest_percent >= BUSIEST_THREAD_PERCENT)
        .then(|| format!("one thread of proofload ran for {busiest_percent:.0} % of the time."))
}

fn swapping(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let rate = evidence.average(Metric::Swap)?;
    (rate >= SWAP_BYTES_PER_SECOND).then(|| {
        format!(
            "the machine swapped {}.",
            quantity(rate, Unit::BytesPerSecond)
        )
    })
}

fn memory_pressure(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let pressure_percent = evidence.average(Metric::MemoryPressure)?;
    (pressure_percent >= MEMORY_PERCENT)
        .then(|| format!("tasks waited for memory for {pressure_percent:.0} % of the time."))
}

fn above_device(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    if check.scope() != Scope::Database || check.kind() == CheckKind::Resource {
        return None;
    }
    let (engine_ms, device_ms) = evidence.latencies_ms(check)?;
    (device_ms < engine_ms * ABOVE_DEVICE_SHARE).then(|| {
        format!(
            "reads of {} took {} on average, of which the block device took {}: they waited above it.",
            check.place,
            latency(engine_ms),
            latency(device_ms)
        )
    })
}

/// All shares that are off are one cause; the one that is furthest off stands for them.
fn wrong_mix(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    if !of_mix(check) {
        return None;
    }
    let shares = evidence.result.failed_checks().filter(|one| of_mix(one));
    let worst = shares.max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
    Some(format!(
        "the {} differed from the profile by {} (allowed: {}).",
        worst.subject,
        beside_limit(worst.value?, worst.limit, worst.unit),
        limit(worst.limit)
    ))
}

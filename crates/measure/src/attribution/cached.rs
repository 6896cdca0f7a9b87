//! Whether a run that passes has measured a cache.

use super::evidence::Evidence;
use crate::display::number::{bytes, percent};
use crate::metric::Stream;
use crate::result::{Cause, CauseId, RunResult, Verdict};

/// Fewer bytes than this share of those read came from the device.
const LEAST_AT_DEVICE: f64 = 0.5;

const REMEDY: &str = "Use more data (--target-size), or allow it with --allow-cached.";

/// The same where that was allowed.
const REMEDY_WHEN_ALLOWED: &str = "Use more data (--target-size) to test the storage.";

const REMEDY_OF_LOOP: &str =
    "Set it up with 'losetup --direct-io=on', or allow it with --allow-cached.";

const REMEDY_OF_MOUNT: &str = "Mount it with barriers, and run again.";

/// When each of the causes holds, for the documentation.
pub(super) const CONDITIONS: &[(CauseId, &str)] = &[
    (
        CauseId::EngineCache,
        "the databases are not larger than the cache of the engine",
    ),
    (
        CauseId::HostMemory,
        "the data of a database server is not larger than the memory of its host, which caches it",
    ),
    (
        CauseId::ArrayCache,
        "the databases are not larger than the cache that --array-cache names",
    ),
    (
        CauseId::FewReadsAtDevice,
        "less than half of the bytes that were read came from the block device",
    ),
    (
        CauseId::BufferedLoop,
        "a loop device under the databases or logs goes through the page cache of its file",
    ),
    (
        CauseId::NoFlushes,
        "the file system of the databases or logs is mounted without flushes (nobarrier, barrier=0), and a device \
         below it reports a volatile write cache; --allow-cached does not allow it",
    ),
];

/// Whether the user can allow it: a server may have the same caches in service, but what it was said to be durable
/// has to be.
fn can_be_allowed(id: CauseId) -> bool {
    id != CauseId::NoFlushes
}

/// Enters the causes of a run that passes, and makes it inconclusive unless a cache is allowed.
pub(super) fn attribute_success(result: &mut RunResult) {
    let evidence = Evidence::of(result);
    let seen = [
        (CauseId::EngineCache, engine_cache(&evidence), REMEDY),
        (CauseId::HostMemory, host_memory(&evidence), REMEDY),
        (CauseId::ArrayCache, array_cache(&evidence), REMEDY),
        (
            CauseId::FewReadsAtDevice,
            few_reads_at_device(&evidence),
            REMEDY,
        ),
        (
            CauseId::BufferedLoop,
            buffered_loop(&evidence),
            REMEDY_OF_LOOP,
        ),
        (CauseId::NoFlushes, no_flushes(&evidence), REMEDY_OF_MOUNT),
    ];
    let is_allowed = |id| result.target.allow_cached && can_be_allowed(id);
    let causes: Vec<Cause> = seen
        .into_iter()
        .filter_map(|(id, text, remedy)| {
            Some(Cause {
                id,
                text: text?,
                remedy: match (id, is_allowed(id)) {
                    (CauseId::BufferedLoop, _) | (_, false) => remedy.to_owned(),
                    (_, true) => REMEDY_WHEN_ALLOWED.to_owned(),
                },
            })
        })
        .collect();
    if let Some(first) = causes.iter().find(|cause| !is_allowed(cause.id)) {
        let reason = format!(
            "{} But a cache may have been measured and not the storage: {} {}",
            result.verdict_reason, first.text, first.remedy
        );
        result.set_verdict(Verdict::Inconclusive, reason);
    }
    result.causes = causes;
}

/// The size of the data when the measured phase ended.
fn data_bytes(evidence: &Evidence<'_>) -> u64 {
    let result = evidence.result;
    let server = result.server.as_ref();
    let of_server = server.map(|one| one.size_end_bytes.unwrap_or(one.size_begin_bytes));
    of_server.unwrap_or(result.totals.size_end_bytes)
}

/// The data and a cache that it fits, as a sentence.
fn fits(evidence: &Evidence<'_>, cache_bytes: u64, whose: &str) -> Option<String> {
    let data_bytes = data_bytes(evidence);
    let fits = data_bytes > 0 && data_bytes <= cache_bytes;
    fits.then(|| {
        format!(
            "the data of {} fits the {} of {whose}.",
            bytes(data_bytes as f64),
            bytes(cache_bytes as f64)
        )
    })
}

fn engine_cache(evidence: &Evidence<'_>) -> Option<String> {
    let cache_bytes = evidence.result.target.engine_cache_bytes?;
    fits(evidence, cache_bytes, "the engine's cache")
}

fn host_memory(evidence: &Evidence<'_>) -> Option<String> {
    let result = evidence.result;
    // A server elsewhere has a memory that nobody here knows.
    if result.server.is_none() || result.target.databases.is_empty() {
        return None;
    }
    fits(evidence, result.host.memory_bytes, "memory of the host")
}

fn array_cache(evidence: &Evidence<'_>) -> Option<String> {
    let cache_bytes = evidence.result.target.array_cache_bytes?;
    fits(evidence, cache_bytes, "the array's cache")
}

fn few_reads_at_device(evidence: &Evidence<'_>) -> Option<String> {
    let result = evidence.result;
    // What a server reads was counted at the device already.
    if result.server.is_some() || result.host.devices.is_empty() {
        return None;
    }
    let streams = [
        Stream::DatabaseRead,
        Stream::MaintenanceRead,
        Stream::LogRead,
    ];
    let read: f64 = streams
        .map(|stream| result.totals.stream(stream).bytes_per_second())
        .iter()
        .sum();
    let under: Vec<&str> = result
        .databases
        .iter()
        .map(|one| result.device_under(&one.path).map(|one| one.name.as_str()))
        .collect::<Option<_>>()?;
    let devices = result.host.devices.iter();
    let devices = devices.filter(|device| under.contains(&device.name.as_str()));
    let at_device: f64 = devices.map(|device| device.read_bytes_per_second).sum();
    (read > 0.0 && at_device < read * LEAST_AT_DEVICE).then(|| {
        format!(
            "only {} % of the bytes that were read came from the block device.",
            percent(at_device / read)
        )
    })
}

/// Its writes are in memory when they end, and its reads may never reach the disk.
fn buffered_loop(evidence: &Evidence<'_>) -> Option<String> {
    let devices = evidence.result.host.devices.iter();
    let mut under_test = devices.filter(|device| !device.targets.is_empty());
    let name = under_test.find_map(|device| device.buffered_loops.first())?;
    Some(format!(
        "the loop device {name} goes through the page cache of this host."
    ))
}

/// A write is durable when the device has it, and such a device has it in memory.
fn no_flushes(evidence: &Evidence<'_>) -> Option<String> {
    let target = &evidence.result.target;
    let mut places = target.databases.iter().chain(&target.logs);
    let (path, option) = places.find_map(|one| Some((&one.path, one.unflushed_by.as_ref()?)))?;
    Some(format!(
        "the file system of {path} is mounted with '{option}', so writes that must be durable were only in the \
         volatile write cache of its device."
    ))
}

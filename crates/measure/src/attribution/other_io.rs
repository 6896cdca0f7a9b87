//! Whether other programs used the devices of a run.
//!
//! The kernel counts all that a block device does, the engine all that it asks for. Where the device did much
//! more, somebody else asked for the rest. What a database server asked for is not known from outside: its run
//! counts the requests of other processes itself. A disk below, such as that of a partition, is compared with
//! the devices of the run that lie on it.

use super::evidence::Evidence;
use crate::display::number::{count, limit, percent, quantity};
use crate::metric::{IoMetric, Metric, Stream, Unit};
use crate::result::{Check, DatabaseResult, DeviceResult, RunResult};
use crate::units;

/// Others use a device when this share of its bytes or of its reads is not the run's, in percent; of documents
/// without the setting.
const OTHER_PERCENT: f64 = 20.0;
/// Fewer bytes per second of others disturb nothing that is tested.
const LEAST_BYTES: f64 = 1_048_576.0;
/// The same of reads per second.
const LEAST_READS: f64 = 100.0;
/// A read of the run may reach the device as one request for each of these bytes.
const SMALLEST_PART_BYTES: f64 = 65_536.0;

/// What a device did, and how much of it the run can have asked for; per second.
#[derive(Debug, Clone, Copy)]
struct Use {
    bytes: f64,
    own_bytes: f64,
    reads: f64,
    /// The most that the reads of the run can have become.
    own_reads: f64,
}

/// What another program did at a device that the run uses, as a sentence; `None` when nothing of the kind
/// is seen. Of the run of a database server, which judges the volume itself, at the disks below.
#[must_use]
pub fn other_io_at_devices(result: &RunResult) -> Option<String> {
    let evidence = Evidence::of(result);
    match result.server {
        Some(_) => below_any_device(&evidence),
        None => at_any_device(&evidence),
    }
}

fn at_any_device(evidence: &Evidence<'_>) -> Option<String> {
    let mut devices = evidence.result.host.devices.iter();
    devices.find_map(|device| other_io_at(evidence, device))
}

/// What other programs did at a disk that a device of the run lies on, beside that device.
fn below_any_device(evidence: &Evidence<'_>) -> Option<String> {
    let devices = evidence.result.host.devices.iter();
    let mut below = devices.filter(|device| device.targets.is_empty());
    below.find_map(|device| other_io_at(evidence, device))
}

pub(super) fn other_io(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    if evidence.result.server.is_some() {
        return other_io_of_server(evidence).or_else(|| below_any_device(evidence));
    }
    let Some(device) = evidence.device(check) else {
        return at_any_device(evidence);
    };
    other_io_at(evidence, device).or_else(|| {
        let all = evidence.result.host.devices.iter();
        let mut below = all.filter(|other| other.targets.is_empty() && device.lies_on(other));
        below.find_map(|below| other_io_at(evidence, below))
    })
}

fn other_io_of_server(evidence: &Evidence<'_>) -> Option<String> {
    let other = evidence.result.server.as_ref()?.other_io.as_ref()?;
    let allowed_percent = evidence.number("brokerage.service_levels.other_io_percent")?;
    let what = match other.requests {
        Some(_) => "requests",
        None => "bytes",
    };
    (other.share_percent > allowed_percent).then(|| {
        format!(
            "other processes ({}) made {} % of the {what} of the volume (allowed: {} %).",
            other.processes.join(", "),
            units::figure(other.share_percent),
            limit(allowed_percent),
        )
    })
}

fn other_io_at(evidence: &Evidence<'_>, device: &DeviceResult) -> Option<String> {
    let Use {
        bytes,
        own_bytes,
        reads,
        own_reads,
    } = use_of(evidence, device)?;
    let allowed_percent = evidence
        .number("mail.other_io_percent")
        .or_else(|| evidence.number("brokerage.service_levels.other_io_percent"))
        .unwrap_or(OTHER_PERCENT);
    let is_much = |all: f64, own: f64, least: f64| {
        all.is_finite() && all - own >= (all * allowed_percent / 100.0).max(least)
    };
    if is_much(bytes, own_bytes, LEAST_BYTES) {
        return Some(format!(
            "device {} moved {}, the run only {} of it: other programs used the device for {} % of its \
             bytes.",
            device.name,
            quantity(bytes, Unit::BytesPerSecond),
            quantity(own_bytes, Unit::BytesPerSecond),
            percent((bytes - own_bytes) / bytes)
        ));
    }
    is_much(reads, own_reads, LEAST_READS).then(|| {
        format!(
            "device {} carried out {} reads/s, of which at most {} can be the run's: other programs \
             used the device.",
            device.name,
            count(reads.round() as u64),
            count(own_reads.round() as u64)
        )
    })
}

/// `None` where the run asked the device for nothing that is known.
fn use_of(evidence: &Evidence<'_>, device: &DeviceResult) -> Option<Use> {
    let figure = |metric: Metric, whole: f64| evidence.device_figure(device, metric, whole);
    let mut of_run = Use {
        bytes: figure(Metric::DeviceReadBytes, device.read_bytes_per_second)?
            + figure(Metric::DeviceWriteBytes, device.write_bytes_per_second)?,
        own_bytes: 0.0,
        reads: figure(Metric::DeviceReads, device.reads_per_second)?,
        own_reads: 0.0,
    };
    let result = evidence.result;
    if device.targets.is_empty() {
        add_devices_above(evidence, device, &mut of_run)?;
        return Some(of_run);
    }
    // The page cache between a loop device and its file reads ahead on its own.
    let mut devices = result.host.devices.iter();
    if devices.any(|one| !one.buffered_loops.is_empty() && one.lies_on(device)) {
        return None;
    }
    for database in &result.databases {
        for stream in Stream::ALL {
            if !may_reach(result, database, stream, device) {
                continue;
            }
            // Samples do not keep what the run asked for; that of the phase stands for it.
            let figures = database.figures.stream(stream);
            let bytes = figures.bytes_per_second();
            of_run.own_bytes += bytes;
            if stream.is_read() {
                let rate = figures.get(IoMetric::Rate)?;
                of_run.own_reads += rate + bytes / SMALLEST_PART_BYTES;
            }
        }
    }
    (of_run.own_bytes > 0.0).then_some(of_run)
}

/// Adds what the devices of the run that lie on this one have done. `None` where none is known to.
fn add_devices_above(
    evidence: &Evidence<'_>,
    below: &DeviceResult,
    of_run: &mut Use,
) -> Option<()> {
    let devices = evidence.result.host.devices.iter();
    let above = devices.filter(|one| !one.targets.is_empty() && one.lies_on(below));
    let mut is_known = false;
    for device in above {
        let figure = |metric: Metric, whole: f64| evidence.device_figure(device, metric, whole);
        let bytes = figure(Metric::DeviceReadBytes, device.read_bytes_per_second)?
            + figure(Metric::DeviceWriteBytes, device.write_bytes_per_second)?;
        let reads = figure(Metric::DeviceReads, device.reads_per_second)?;
        of_run.own_bytes += bytes;
        // A device below may take a large read in parts.
        of_run.own_reads += reads + bytes / SMALLEST_PART_BYTES;
        is_known = true;
    }
    is_known.then_some(())
}

/// Whether requests of a stream can go to a device. Of headers and copies only the database knows where they are.
fn may_reach(
    result: &RunResult,
    database: &DatabaseResult,
    stream: Stream,
    device: &DeviceResult,
) -> bool {
    let is_under = |path: &str| {
        let under = result.device_under(path);
        under.is_some_and(|one| one.name == device.name || one.lies_on(device))
    };
    match stream {
        Stream::DatabaseRead | Stream::DatabaseWrite | Stream::MaintenanceRead => {
            is_under(&database.path)
        }
        Stream::LogWrite | Stream::LogRead => is_under(&database.log_path),
        _ => true,
    }
}

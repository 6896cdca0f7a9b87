//! What follows from the facts: what makes a test impossible, what will distort it, and what to change.
//!
//! A rule is a function of the facts that gives findings. Each has an identifier that stays the same.

use measure::display::number::{bytes, figure, latency};
use measure::host::{BlockDevice, BlockDeviceKind, Mount};
use serde::Serialize;
use storage::{Examination, Obstacle, ObstacleKind};

use super::{HostReport, PlaceReport};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A run is refused, or would measure nothing of use.
    NotSuitable,
    /// A run is possible, and its figures would be distorted.
    Distorts,
    /// To be known before a run.
    Note,
}

/// Something that was found, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is, for programs.
    pub id: FindingId,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, as a sentence.
    pub message: String,
    /// What to do about it, as another; may be empty.
    pub remedy: String,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingId {
    /// A device has too large sectors.
    LargeSectors,
    /// There is no I/O driver.
    NoIoDriver,
    /// The I/O driver is the slower one.
    IoDriverThreads,
    /// The clock rate of the CPUs follows the load.
    CpuGovernor,
    /// Little memory is available.
    LittleMemory,
    /// Others use the devices.
    ForeignIo,
    /// Reads of idle storage already take long.
    SlowIdleReads,
    /// Some reads of idle storage take far longer than most.
    UnevenIdleReads,
    /// Reads of rotating disks come from a cache.
    CachedReads,
    /// A loop device goes through the page cache.
    BufferedLoop,
    /// An array lacks members.
    DegradedArray,
    /// An array copies data beside the test.
    BusyArray,
    /// Multipath has one path only.
    SinglePath,
    /// Pages begin within a physical sector.
    Misaligned,
    /// A scheduler reorders requests of a fast device.
    Scheduler,
    /// The device has a volatile write cache.
    VolatileWriteCache,
    /// Data is encrypted on the way.
    Encrypted,
    /// The file system is nearly full.
    NearlyFull,
    /// A mount option changes what the test measures.
    MountOption,
    /// The file system lies on other hosts, or below another file system.
    IndirectFileSystem,
    /// What a run would be refused for.
    #[serde(untagged)]
    Obstacle(ObstacleKind),
}

impl FindingId {
    /// The identifier as it is printed.
    #[must_use]
    pub fn text(self) -> String {
        let text = serde_json::to_value(self).ok();
        let text = text.as_ref().and_then(serde_json::Value::as_str);
        text.unwrap_or_default().to_owned()
    }
}

/// With less available memory than this a run may be swapped out or killed.
const LEAST_MEMORY_BYTES: u64 = 1 << 30;
/// Less free space than this share of a file system makes allocation slow.
const LEAST_FREE_SHARE: f64 = 0.1;
/// Others' requests per second from which on they count.
const MOST_FOREIGN_IOPS: f64 = 10.0;
/// Others' bytes per second from which on they count.
const MOST_FOREIGN_BYTES_PER_SECOND: f64 = 1e6;
/// Jetstress allows this average latency of database reads under load.
const SLOW_READ_MS: f64 = 20.0;
/// How far the slowest of a hundred reads of idle storage may lie from the median.
const MOST_UNEVEN: f64 = 20.0;
/// Below this the difference is that of the host's own interrupts.
const UNEVEN_FROM_MS: f64 = 5.0;
/// No rotating disk finds its data in less.
const SEEK_MS: f64 = 0.5;
/// Runs make requests of multiples of this.
const PAGE_BYTES: u64 = 4096;

fn found(
    id: FindingId,
    severity: Severity,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    Finding {
        id,
        severity,
        message: message.into(),
        remedy: remedy.into(),
    }
}

/// What was found of the machine.
pub(super) fn of_host(host: &HostReport) -> Vec<Finding> {
    let findings = [io_driver(host), governor(host), memory(host)];
    findings.into_iter().flatten().collect()
}

fn io_driver(host: &HostReport) -> Option<Finding> {
    let reason = host.io_driver_reason.as_ref()?;
    Some(match host.io_driver {
        None => found(
            FindingId::NoIoDriver,
            Severity::NotSuitable,
            format!("There is no I/O driver here: {reason}."),
            "",
        ),
        Some(_) => found(
            FindingId::IoDriverThreads,
            Severity::Note,
            "Requests go through threads instead of io_uring, at more CPU time for each.",
            format!("Where the CPU may be the limit: {reason}."),
        ),
    })
}

fn governor(host: &HostReport) -> Option<Finding> {
    let follows = |word: &&String| word.as_str() != "performance";
    let word = host.surroundings.cpu_governors.iter().find(follows)?;
    Some(found(
        FindingId::CpuGovernor,
        Severity::Distorts,
        format!(
            "The clock rate of the CPUs follows the load (governor {word}), and latency with it."
        ),
        "Run 'cpupower frequency-set --governor performance' for the test.",
    ))
}

fn memory(host: &HostReport) -> Option<Finding> {
    let available = host.surroundings.available_memory_bytes;
    (available > 0 && available < LEAST_MEMORY_BYTES).then(|| {
        found(
            FindingId::LittleMemory,
            Severity::Distorts,
            format!("Only {} MiB of memory are available.", available >> 20),
            "Stop other programs, or set a smaller engine.cache_size_per_database.",
        )
    })
}

/// What was found of a place.
pub(super) fn of_place(place: &PlaceReport, examination: &Examination) -> Vec<Finding> {
    let mut findings: Vec<Finding> = examination.obstacles.iter().map(obstacle).collect();
    findings.extend(foreign_traffic(place, examination));
    findings.extend(idle_reads(place));
    findings.extend(place.devices.iter().flat_map(of_device));
    findings.extend(nearly_full(place));
    findings.extend(place.mount.iter().flat_map(of_mount));
    findings.sort_by_key(|finding| finding.severity as u8);
    findings
}

fn obstacle(obstacle: &Obstacle) -> Finding {
    let severity = match obstacle.kind {
        // The storage is fine; another directory or an option is all that is needed.
        ObstacleKind::NotEmpty | ObstacleKind::KeptDatabases => Severity::Note,
        _ => Severity::NotSuitable,
    };
    found(
        FindingId::Obstacle(obstacle.kind),
        severity,
        obstacle.refusal.message.clone(),
        obstacle.refusal.help.clone(),
    )
}

fn foreign_traffic(place: &PlaceReport, examination: &Examination) -> Option<Finding> {
    if examination.has(ObstacleKind::InUse) {
        return None; // It is that of whoever uses the place.
    }
    let counts = |traffic: &&measure::host::DeviceTraffic| {
        traffic.iops > MOST_FOREIGN_IOPS || traffic.bytes_per_second > MOST_FOREIGN_BYTES_PER_SECOND
    };
    let busiest = place.foreign_traffic.iter().filter(counts);
    let busiest = busiest.max_by(|one, other| one.iops.total_cmp(&other.iops))?;
    Some(found(
        FindingId::ForeignIo,
        Severity::Distorts,
        format!(
            "Others use {}: {} IOPS, {}/s while nothing was tested.",
            busiest.device,
            figure(busiest.iops),
            bytes(busiest.bytes_per_second)
        ),
        "Find them with 'iotop' or 'pidstat -d', and stop them for the test.",
    ))
}

fn idle_reads(place: &PlaceReport) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(reads) = place.idle_reads.last() else {
        return findings;
    };
    let size = reads.block_bytes >> 10;
    if reads.p50_ms > SLOW_READ_MS {
        findings.push(found(
            FindingId::SlowIdleReads,
            Severity::Distorts,
            format!(
                "Reads of {size} KiB take {} (p50) although nothing else is tested: more than \
                 the {SLOW_READ_MS:.0} ms that database reads may take under load.",
                latency(reads.p50_ms)
            ),
            "See what else uses the storage or the path to it, and whether a disk is failing.",
        ));
    } else if reads.p99_ms > UNEVEN_FROM_MS && reads.p99_ms > MOST_UNEVEN * reads.p50_ms {
        findings.push(found(
            FindingId::UnevenIdleReads,
            Severity::Distorts,
            format!(
                "Reads of {size} KiB on idle storage take {} (p50), but p99 is {}.",
                latency(reads.p50_ms),
                latency(reads.p99_ms)
            ),
            "Something interferes: other I/O, power saving of disks or CPUs, or another virtual machine.",
        ));
    }
    let is_rotating = place
        .devices
        .last()
        .is_some_and(|disk| disk.rotational == Some(true));
    if is_rotating && reads.p50_ms < SEEK_MS {
        findings.push(found(
            FindingId::CachedReads,
            Severity::Note,
            format!(
                "The kernel reports the disks as rotational, but reads of {size} KiB take {} \
                 (p50): they come from a cache, or the disks are not what they seem.",
                latency(reads.p50_ms)
            ),
            "Test with more data than the caches hold; --array-cache says how large they are.",
        ));
    }
    findings
}

fn of_device(device: &BlockDevice) -> Vec<Finding> {
    let name = &device.name;
    let mut findings = Vec::new();
    let mut note = |is_so: bool, id, severity, message: String, remedy: &str| {
        if is_so {
            findings.push(found(id, severity, message, remedy));
        }
    };
    let logical = device.logical_sector_bytes.unwrap_or(0);
    note(
        logical > PAGE_BYTES,
        FindingId::LargeSectors,
        Severity::NotSuitable,
        format!(
            "{name} addresses sectors of {logical} bytes, and runs make requests of 4096 bytes."
        ),
        "Format it with sectors of at most 4096 bytes, or test another device.",
    );
    note(
        device.is_buffered,
        FindingId::BufferedLoop,
        Severity::Distorts,
        format!(
            "{name} is a loop device that goes through the page cache: memory is measured, too."
        ),
        "Set it up with 'losetup --direct-io=on'.",
    );
    note(
        device.missing_members > 0,
        FindingId::DegradedArray,
        Severity::Distorts,
        format!(
            "The array {name} lacks {} of its members.",
            device.missing_members
        ),
        "Replace them and wait until the array is rebuilt, unless that is what to test.",
    );
    note(
        !device.array_action.is_empty(),
        FindingId::BusyArray,
        Severity::Distorts,
        format!("The array {name} is busy with '{}'.", device.array_action),
        "Wait until it is done; /proc/mdstat shows how far it is.",
    );
    note(
        device.kind == BlockDeviceKind::Multipath && device.members.len() == 1,
        FindingId::SinglePath,
        Severity::Distorts,
        format!("{name} has one path only ({}).", device.members.join("")),
        "See what became of the others with 'multipath -ll'.",
    );
    note(
        device.misaligned_bytes > 0,
        FindingId::Misaligned,
        Severity::Distorts,
        format!(
            "{name} begins {} bytes behind the beginning of a sector or page: many requests touch one \
             more than they need.",
            device.misaligned_bytes
        ),
        "Make the partition again at a multiple of 1 MiB.",
    );
    let is_fast = device.kind == BlockDeviceKind::Disk && device.rotational == Some(false);
    note(
        is_fast && device.scheduler == "bfq",
        FindingId::Scheduler,
        Severity::Distorts,
        format!("The scheduler bfq limits the rate of the solid-state device {name}."),
        "Write 'none' or 'mq-deadline' into its queue/scheduler in /sys/block.",
    );
    note(
        device.kind == BlockDeviceKind::Disk && device.has_volatile_cache(),
        FindingId::VolatileWriteCache,
        Severity::Note,
        format!(
            "{name} reports a volatile write cache: each durable write is followed by a flush, or \
             carries force unit access."
        ),
        "",
    );
    note(
        device.kind == BlockDeviceKind::Encrypted,
        FindingId::Encrypted,
        Severity::Note,
        format!("{name} encrypts: its CPU time is part of each latency."),
        "",
    );
    findings
}

fn nearly_full(place: &PlaceReport) -> Option<Finding> {
    let target = place.target.as_ref()?;
    place.mount.as_ref()?;
    let (free, all) = (target.free_bytes as f64, target.capacity_bytes as f64);
    (all > 0.0 && free < LEAST_FREE_SHARE * all).then(|| {
        found(
            FindingId::NearlyFull,
            Severity::Distorts,
            format!(
                "Only {:.0} % of the file system of {} are free.",
                free / all * 100.0,
                place.given
            ),
            "Make room: file systems and solid-state devices become slow when they fill up.",
        )
    })
}

/// Options that change what durable or direct requests cost, with what they do.
const MOUNT_OPTIONS: [(&str, &str); 4] = [
    (
        "sync",
        "makes every write durable, also those that need not be",
    ),
    (
        "discard",
        "sends a discard for whatever is freed, amid the load",
    ),
    (
        "data=journal",
        "writes data twice and takes the page cache for direct writes",
    ),
    ("dax=always", "bypasses the block layer"),
];

/// File systems that send requests elsewhere.
const INDIRECT: [(&str, &str); 6] = [
    ("nfs", "network"),
    ("nfs4", "network"),
    ("cifs", "network"),
    ("smb3", "network"),
    ("overlay", "overlay"),
    ("fuse", "user-space"),
];

fn of_mount(mount: &Mount) -> Vec<Finding> {
    let options = MOUNT_OPTIONS.into_iter();
    let set = options.filter(|(option, _)| mount.options.iter().any(|set| set == option));
    let without_flushes = mount.option_without_flushes().map(|option| {
        (
            option,
            "leaves flushes away: durable writes are not durable",
        )
    });
    let mut findings: Vec<Finding> = set
        .chain(without_flushes)
        .map(|(option, effect)| {
            found(
                FindingId::MountOption,
                Severity::Distorts,
                format!(
                    "{} is mounted with '{option}', which {effect}.",
                    mount.mount_point
                ),
                "Mount it without, unless it is used so.",
            )
        })
        .collect();
    let kind = mount.file_system.split('.').next().unwrap_or_default();
    if let Some((_, what)) = INDIRECT.into_iter().find(|(name, _)| *name == kind) {
        findings.push(found(
            FindingId::IndirectFileSystem,
            Severity::Note,
            format!(
                "{} is a {what} file system ({}): what is below it is tested with it, and its devices \
                 are not seen.",
                mount.mount_point, mount.file_system
            ),
            "",
        ));
    }
    findings
}

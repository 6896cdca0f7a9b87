//! What `proofload doctor` found, as text and as JSON.

use measure::display::number::{bytes, figure, latency};
use measure::host::{BlockDevice, BlockDeviceKind};

use super::{DoctorReport, Finding, HostReport, PlaceReport, Severity};

/// Width of the names of facts.
const NAME_WIDTH: usize = 14;

/// Facts and findings for a terminal. One finding is one line: how much it matters, its identifier, what was
/// found, what to do.
#[must_use]
pub fn text(report: &DoctorReport) -> String {
    let mut lines = String::new();
    host(&report.host, &mut lines);
    for place in &report.places {
        lines.push_str(&format!("\n{}\n", place.given));
        facts_of_place(place, &mut lines);
        place
            .findings
            .iter()
            .for_each(|one| finding(one, &mut lines));
        lines.push_str(match is_suitable(&place.findings) {
            true => "  suitable for a run\n",
            false => "  not suitable for a run\n",
        });
    }
    lines
}

/// The same as one JSON document.
#[must_use]
pub fn json(report: &DoctorReport) -> String {
    // Only texts, numbers and lists: it cannot fail.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

fn is_suitable(findings: &[Finding]) -> bool {
    let mut findings = findings.iter();
    findings.all(|finding| finding.severity != Severity::NotSuitable)
}

fn fact(name: &str, value: &str, text: &mut String) {
    if !value.is_empty() {
        text.push_str(&format!("  {name:<NAME_WIDTH$}{value}\n"));
    }
}

fn finding(finding: &Finding, text: &mut String) {
    let severity = match finding.severity {
        Severity::NotSuitable => "not suitable",
        Severity::Distorts => "distorts",
        Severity::Note => "note",
    };
    let remedy = match finding.remedy.as_str() {
        "" => String::new(),
        remedy => format!(" {remedy}"),
    };
    let id = finding.id.text();
    text.push_str(&format!(
        "  {severity:<NAME_WIDTH$}{id}: {}{remedy}\n",
        finding.message
    ));
}

fn host(host: &HostReport, text: &mut String) {
    text.push_str("Host\n");
    let kernel = format!(
        "{}, {}, Linux {}",
        host.name, host.operating_system, host.kernel
    );
    fact("name", &kernel, text);
    fact("CPUs", &format!("{} x {}", host.cpus, host.cpu_model), text);
    fact(
        "governor",
        &host.surroundings.cpu_governors.join(", "),
        text,
    );
    let memory = format!(
        "{}, {} available",
        bytes(host.surroundings.memory_bytes as f64),
        bytes(host.surroundings.available_memory_bytes as f64)
    );
    fact("memory", &memory, text);
    let driver = match host.io_driver {
        Some("io-uring") => "io_uring",
        Some(other) => other,
        None => "none",
    };
    fact("I/O driver", driver, text);
    host.findings.iter().for_each(|one| finding(one, text));
}

fn facts_of_place(place: &PlaceReport, text: &mut String) {
    if let Some(mount) = &place.mount {
        let options = mount.options.join(",");
        let mounted = format!(
            "{}, {} at {} ({options})",
            mount.file_system, mount.source, mount.mount_point
        );
        fact("file system", &mounted, text);
    }
    if let Some(target) = &place.target {
        let room = format!(
            "{} of {} free",
            bytes(target.free_bytes as f64),
            bytes(target.capacity_bytes as f64)
        );
        fact("room", &room, text);
    }
    for device in &place.devices {
        fact("device", &device_text(device), text);
    }
    let direct = place
        .direct_io
        .map(|works| if works { "works" } else { "does not work" });
    fact("direct I/O", direct.unwrap_or_default(), text);
    for reads in &place.idle_reads {
        let latency = format!(
            "{} KiB: p50 {}, p99 {}, max {} ({} reads, one at a time)",
            reads.block_bytes >> 10,
            latency(reads.p50_ms),
            latency(reads.p99_ms),
            latency(reads.max_ms),
            reads.reads
        );
        fact("idle reads", &latency, text);
    }
    for traffic in &place.foreign_traffic {
        let rate = format!(
            "{}: {} IOPS, {}/s while nothing was tested",
            traffic.device,
            figure(traffic.iops),
            bytes(traffic.bytes_per_second)
        );
        fact("other I/O", &rate, text);
    }
}

fn device_text(device: &BlockDevice) -> String {
    let kind = match device.kind {
        BlockDeviceKind::Disk => match device.rotational {
            Some(true) => "rotational disk",
            Some(false) => "solid-state or virtual disk",
            None => "disk",
        },
        BlockDeviceKind::Partition => "partition",
        BlockDeviceKind::Loop => "loop device",
        BlockDeviceKind::LogicalVolume => "logical volume",
        BlockDeviceKind::Multipath => "multipath",
        BlockDeviceKind::Encrypted => "encrypted",
        BlockDeviceKind::Raid => "array (md)",
        BlockDeviceKind::Mapped => "mapped device",
    };
    let model = [&device.label, &device.vendor, &device.model];
    let model: Vec<&str> = model
        .into_iter()
        .map(String::as_str)
        .filter(|one| !one.is_empty())
        .collect();
    let mut parts = vec![format!("{}: {kind}", device.name)];
    parts.push(model.join(" "));
    parts.push(named("serial", &device.serial));
    parts.push(named("firmware", &device.firmware));
    parts.push(bytes(device.size_bytes as f64));
    parts.push(named("scheduler", &device.scheduler));
    if let (Some(logical), Some(physical)) =
        (device.logical_sector_bytes, device.physical_sector_bytes)
    {
        parts.push(format!("sectors of {logical}/{physical} bytes"));
    }
    parts.push(named("cache", &device.write_cache));
    parts.push(match device.misaligned_bytes {
        0 => "aligned".to_owned(),
        bytes => format!("misaligned by {bytes} bytes"),
    });
    if let Some(requests) = device.queue_requests {
        parts.push(format!("{requests} requests queued at most"));
    }
    if !device.members.is_empty() {
        parts.push(format!("on {}", device.members.join(", ")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn named(name: &str, value: &str) -> String {
    match value {
        "" => String::new(),
        value => format!("{name} {value}"),
    }
}

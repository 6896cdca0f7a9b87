//! What was measured, in words.

use std::path::Path;

use ::storage::{ProbeSite, TargetKind};
use calibrate::Probe;
use jiff::Timestamp;
use measure::host::{BlockDevice, block_stack, mount_under};
use measure::units;

/// From this share of zero blocks on a device may not have read what it returned.
pub(super) const MANY_ZEROS: f64 = 0.1;

/// A target with the disk below it.
#[derive(Debug)]
pub(super) struct Place {
    given: String,
    file_system: String,
    /// From the one at the top down to a disk.
    devices: Vec<BlockDevice>,
    size_bytes: Option<u64>,
}

impl Place {
    pub(super) fn of(given: &Path, site: &ProbeSite) -> Self {
        let path = site.path();
        let mount = mount_under(&path).filter(|_| !site.is_device());
        Self {
            given: given.display().to_string(),
            file_system: mount.map_or_else(String::new, |mount| mount.file_system),
            devices: block_stack(&path),
            size_bytes: device_bytes(site),
        }
    }

    /// The target and the disk at the bottom of it, on one line.
    pub(super) fn describe(&self) -> String {
        let on = match self.file_system.is_empty() {
            true => String::new(),
            false => format!(", {}", self.file_system),
        };
        let size = self
            .size_bytes
            .map_or_else(String::new, |bytes| format!(", {}", units::size(bytes)));
        let device = self.devices.last().map_or_else(String::new, |disk| {
            let above = self.devices.len() > 1;
            let top = self.devices.first().filter(|_| above);
            let top = top.map_or_else(String::new, |top| format!("{} on ", top.name));
            format!(", {top}{}", describe_device(disk))
        });
        format!("{}{on}{size}{device}", self.given)
    }
}

fn describe_device(device: &BlockDevice) -> String {
    let firmware = match device.firmware.is_empty() {
        true => String::new(),
        false => format!("firmware {}", device.firmware),
    };
    let kind = match device.rotational {
        Some(true) => "rotational",
        Some(false) => "not rotational",
        None => "",
    };
    let known = [
        &device.vendor,
        &device.model,
        &firmware,
        &units::size(device.size_bytes),
        kind,
    ];
    let known = known.into_iter().filter(|text| !text.is_empty());
    let known: Vec<&str> = known.map(str::trim).collect();
    format!("disk {} ({})", device.name, known.join(", "))
}

/// What was measured, as comments of a TOML file.
pub(super) fn about(
    place: &Place,
    begun: Timestamp,
    probes: &[Probe],
    span_bytes: u64,
    (io_driver, zero_share): (&str, Option<f64>),
) -> String {
    let time_s = probes.iter().map(|probe| probe.duration_ns).sum::<u64>() as f64 / 1e9;
    let writes = |probe: &Probe| probe.jobs.iter().any(|job| job.access.is_write());
    let kind = match probes.iter().any(writes) {
        true => "reads and writes",
        false => "reads",
    };
    let bytes = match zero_share {
        None => "random bytes laid out before".to_owned(),
        Some(share) => format!("what was there, {:.0} % zeros", share * 100.0),
    };
    // Names come from the system, and a line break would end the comment.
    let place: String = place
        .describe()
        .replace(|letter: char| letter.is_control(), " ");
    format!(
        "# Measured on {place}\n# at {begun:.0}: {} tests, {kind}, {time_s:.0} s altogether,\n# over {} ({bytes}), past \
         the page cache by {io_driver}.\n#\n",
        probes.len(),
        units::size(span_bytes),
    )
}

/// What is said where a device that is only read may hold nothing.
pub(super) fn zeros_notice(zero_share: f64) -> Option<String> {
    (zero_share >= MANY_ZEROS).then(|| {
        format!(
            "Of the blocks that are read {:.0} % hold zeros only. Solid-state disks and thin volumes answer reads \
             of blocks that were never written, or were discarded, without reading; where that is so, fill the \
             device first, or let the tests do so with --erase-device.",
            zero_share * 100.0
        )
    })
}

/// The capacity of a target that is a block device.
fn device_bytes(site: &ProbeSite) -> Option<u64> {
    match site.target().kind {
        TargetKind::Device { size_bytes } => Some(size_bytes),
        TargetKind::Directory => None,
    }
}

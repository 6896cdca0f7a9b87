//! Whether a run that was interrupted goes on on the storage on which it was begun.

use std::path::Path;

use measure::display::number::bytes;
use measure::host;
use measure::result::{DeviceResult, HostResult, RunResult, TargetPath};
use storage::Layout;

use super::base;
use crate::error::Error;

/// Refuses to go on with a run elsewhere: its figures and its verdict would be those of two storages, and its
/// report would name one. Devices are compared by their serial numbers where they have any, else by their
/// names, models and sizes; what lies on no device, by the type and the size of its file system.
///
/// # Errors
/// When a target is another one, or cannot be known as the same.
pub(super) fn refuse_other_storage(before: &RunResult, layout: &Layout) -> Result<(), Error> {
    let paths: Vec<&Path> = layout
        .targets
        .iter()
        .map(|one| one.path.as_path())
        .collect();
    let host = host::facts(&paths);
    let (databases, logs) = (base::data_targets(layout), base::log_targets(layout));
    let kinds = [
        (&before.target.databases, &databases),
        (&before.target.logs, &logs),
    ];
    for (before_of_kind, now_of_kind) in kinds {
        for (number, now) in now_of_kind.iter().enumerate() {
            let earlier = before_of_kind.get(number);
            let is_same =
                earlier.is_some_and(|earlier| is_same((earlier, &before.host), (now, &host)));
            if !is_same {
                let earlier = earlier.map(|one| describe(one, &before.host));
                return Err(refusal(earlier, &now.path, &describe(now, &host)));
            }
        }
    }
    Ok(())
}

fn refusal(earlier: Option<String>, path: &str, now: &str) -> Error {
    let earlier = earlier.unwrap_or_else(|| "no target".to_owned());
    Error::usage(
        format!(
            "The run was begun on {earlier}, and {path} is on {now}: as far as this host shows, these are \
             not the same, and a verdict would be about both."
        ),
        "Go on with it on the storage on which it was begun, or begin a new run with --reuse.",
    )
}

/// The device that a target lies on.
fn device<'a>(target: &TargetPath, host: &'a HostResult) -> Option<&'a DeviceResult> {
    let name = target.device.as_deref()?;
    host.devices.iter().find(|device| device.name == name)
}

fn is_same(
    (earlier, earlier_host): (&TargetPath, &HostResult),
    (now, now_host): (&TargetPath, &HostResult),
) -> bool {
    if earlier.kind != now.kind || earlier.file_system != now.file_system {
        return false;
    }
    match (device(earlier, earlier_host), device(now, now_host)) {
        (Some(a), Some(b)) => {
            let has_serial = !a.serial.is_empty() || !b.serial.is_empty();
            // Kernel names may be others after the host was started again.
            let is_named = has_serial && a.serial == b.serial || !has_serial && a.name == b.name;
            is_named && a.model == b.model && a.size_bytes == b.size_bytes
        }
        (None, None) => {
            earlier.device == now.device && earlier.capacity_bytes == now.capacity_bytes
        }
        _ => false,
    }
}

/// The device or the file system, as a person knows it.
fn describe(target: &TargetPath, host: &HostResult) -> String {
    let Some(device) = device(target, host) else {
        return format!(
            "{} of {}",
            target.described(),
            bytes(target.capacity_bytes as f64)
        );
    };
    let serial = match device.serial.as_str() {
        "" => "without a serial number".to_owned(),
        serial => format!("serial number {serial}"),
    };
    let model = match device.model.as_str() {
        "" => String::new(),
        model => format!("{model}, "),
    };
    let (name, size) = (&device.name, bytes(device.size_bytes as f64));
    format!("{name} ({model}{size}, {serial})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(name: &str, serial: &str, size_bytes: u64) -> (TargetPath, HostResult) {
        let target = TargetPath {
            device: Some(name.to_owned()),
            ..TargetPath::default()
        };
        let device = DeviceResult {
            name: name.to_owned(),
            serial: serial.to_owned(),
            size_bytes,
            ..DeviceResult::default()
        };
        let host = HostResult {
            devices: vec![device],
            ..HostResult::default()
        };
        (target, host)
    }

    fn same(a: &(TargetPath, HostResult), b: &(TargetPath, HostResult)) -> bool {
        is_same((&a.0, &a.1), (&b.0, &b.1))
    }

    #[test]
    fn a_device_is_known_by_its_serial_number_or_its_name() {
        let disk = on("sda", "S1", 100);
        assert!(same(&disk, &disk));
        assert!(same(&disk, &on("sdb", "S1", 100)));
        assert!(!same(&disk, &on("sda", "S2", 100)));
        assert!(!same(&disk, &on("sda", "", 100)));
        assert!(!same(&disk, &on("sda", "S1", 200)));
        let without = on("loop0", "", 100);
        assert!(same(&without, &without));
        assert!(!same(&without, &on("loop1", "", 100)));
        assert!(!same(&without, &on("loop0", "", 200)));
        assert_eq!(
            describe(&without.0, &without.1),
            "loop0 (100 B, without a serial number)"
        );
    }

    #[test]
    fn what_lies_on_no_device_is_known_by_its_file_system() {
        let share = |file_system: &str, capacity_bytes| {
            let target = TargetPath {
                file_system: file_system.to_owned(),
                capacity_bytes,
                ..TargetPath::default()
            };
            (target, HostResult::default())
        };
        let nfs = share("nfs4", 1_000);
        assert!(same(&nfs, &nfs));
        assert!(!same(&nfs, &share("overlay", 1_000)));
        assert!(!same(&nfs, &share("nfs4", 2_000)));
        assert!(!same(&nfs, &on("sda", "S1", 1_000)));
        assert_eq!(describe(&nfs.0, &nfs.1), "nfs4 of 1,000 B");
    }
}

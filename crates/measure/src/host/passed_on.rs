//! The devices further below a target that get the same requests, so that what others do there shows.

use std::path::{Path, PathBuf};

use super::block_stack::{BlockDeviceKind, block_device_kind};
use super::device::{DEEPEST_STACK, directly_below, directory_under, in_stack, is_buffered};
use crate::result::DeviceResult;

/// The devices below the one under a path to which its requests go on as they are: the disk of a partition,
/// the devices of a logical volume that is no snapshot, mirror or thin volume, of an encrypted device or of
/// several paths, and the device under the file of a loop device without page cache.
pub(super) fn passed_on_to(path: &Path) -> Vec<DeviceResult> {
    let (proc, sys) = (Path::new("/proc"), Path::new("/sys"));
    let Some(top) = directory_under(path, proc, sys) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    add_passed_on(&top, proc, sys, DEEPEST_STACK, &mut found);
    let devices = found.iter().filter_map(|at| in_stack(at, proc, sys));
    devices.collect()
}

fn add_passed_on(at: &Path, proc: &Path, sys: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let below = directly_below(at, proc, sys);
    let is_volume = |at: &PathBuf| block_device_kind(at) == BlockDeviceKind::LogicalVolume;
    let passes_on = match block_device_kind(at) {
        BlockDeviceKind::Disk | BlockDeviceKind::Raid | BlockDeviceKind::Mapped => false,
        BlockDeviceKind::Loop => !is_buffered(at),
        // The parts of a mirror, a snapshot or a thin volume are volumes again.
        BlockDeviceKind::LogicalVolume => !below.iter().any(is_volume),
        BlockDeviceKind::Partition | BlockDeviceKind::Multipath | BlockDeviceKind::Encrypted => {
            true
        }
    };
    if !passes_on || depth == 0 {
        return;
    }
    for device in below {
        if !found.contains(&device) {
            found.push(device.clone());
            add_passed_on(&device, proc, sys, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn requests_go_on_as_they_are_through_some_devices_only() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("devices/pci0/host0/block/sda");
        write(&disk.join("sda2/partition"), "2\n");
        let mapped = |name: &str, uuid: &str, on: &Path| {
            let at = root.path().join("devices/virtual/block").join(name);
            write(&at.join("dm/uuid"), uuid);
            fs::create_dir_all(at.join("slaves")).unwrap();
            symlink(on, at.join("slaves/below")).unwrap();
            at
        };
        let passed_on = |at: &Path| {
            let mut found = Vec::new();
            add_passed_on(at, Path::new("/proc"), root.path(), 16, &mut found);
            let names = found.iter().filter_map(|at| at.file_name());
            let names = names.map(|name| name.to_string_lossy().into_owned());
            names.collect::<Vec<_>>()
        };
        let partition = disk.join("sda2");
        assert_eq!(passed_on(&partition), ["sda"]);
        assert!(passed_on(&disk).is_empty());
        let encrypted = mapped("dm-0", "CRYPT-LUKS2-1", &partition);
        let volume = mapped("dm-1", "LVM-abc", &encrypted);
        assert_eq!(passed_on(&volume), ["dm-0", "sda2", "sda"]);
        let snapshot = mapped("dm-2", "LVM-def", &volume);
        assert!(passed_on(&snapshot).is_empty());
        let raid = root.path().join("devices/virtual/block/md0");
        fs::create_dir_all(raid.join("md")).unwrap();
        fs::create_dir_all(raid.join("slaves")).unwrap();
        symlink(&partition, raid.join("slaves/below")).unwrap();
        assert!(passed_on(&raid).is_empty());
    }
}

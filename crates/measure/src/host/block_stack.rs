//! The block devices that a path lies on, from the one at the top down to the disks, with what decides how
//! they serve requests.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::device::{
    SECTOR_BYTES, device_directories, first_text, is_buffered, of_directory, text,
};

/// What a block device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockDeviceKind {
    /// A disk, or what presents itself as one.
    Disk,
    /// A part of another device.
    Partition,
    /// A file that presents itself as a device.
    Loop,
    /// A logical volume (LVM).
    LogicalVolume,
    /// Several paths to one disk.
    Multipath,
    /// An encrypted device.
    Encrypted,
    /// An array of the kernel (md).
    Raid,
    /// Another device of the device mapper.
    Mapped,
}

/// A block device. Texts are empty and figures absent where the kernel does not show them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockDevice {
    /// Name in the kernel, such as `sda` or `dm-3`.
    pub name: String,
    /// The kind of the device.
    pub kind: BlockDeviceKind,
    /// Name that an administrator gave it, such as that of a logical volume; a RAID level such as `raid5`.
    pub label: String,
    /// Vendor as the device names itself.
    pub vendor: String,
    /// Model as the device names itself.
    pub model: String,
    /// Serial number as the device names it.
    pub serial: String,
    /// Revision of its firmware.
    pub firmware: String,
    /// Size of the device in bytes.
    pub size_bytes: u64,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: Option<bool>,
    /// The I/O scheduler in force.
    pub scheduler: String,
    /// What the kernel assumes of its cache: `write back` or `write through`.
    pub write_cache: String,
    /// The unit that it addresses.
    pub logical_sector_bytes: Option<u64>,
    /// The unit that it stores.
    pub physical_sector_bytes: Option<u64>,
    /// How far its beginning is from one of its physical sectors.
    pub misaligned_bytes: u64,
    /// Requests that the kernel keeps with it.
    pub queue_requests: Option<u64>,
    /// Whether it is read-only.
    pub read_only: bool,
    /// Members that an array lacks.
    pub missing_members: u64,
    /// What an array does beside serving requests, such as `resync`; empty when nothing.
    pub array_action: String,
    /// Whether it is a loop device that goes through the page cache of the file below it.
    pub is_buffered: bool,
    /// The file of a loop device.
    pub backing_file: String,
    /// Names of the devices directly below it.
    pub members: Vec<String>,
}

impl BlockDevice {
    /// Whether the kernel takes it for one whose writes are safe after a flush only.
    #[must_use]
    pub fn has_volatile_cache(&self) -> bool {
        self.write_cache == "write back"
    }
}

/// The devices that a path lies on, the one at the top first. Empty where there is none, as for a network
/// file system.
#[must_use]
pub fn block_stack(path: &Path) -> Vec<BlockDevice> {
    let directories = device_directories(path, Path::new("/proc"), Path::new("/sys"));
    let devices = directories.iter().filter_map(|at| describe(at));
    devices.collect()
}

fn describe(directory: &Path) -> Option<BlockDevice> {
    let facts = of_directory(directory)?;
    let disk = match directory.join("partition").exists() {
        true => directory.parent()?,
        false => directory,
    };
    let number = |file: &str| text(&disk.join(file))?.parse().ok();
    let kind = block_device_kind(directory);
    Some(BlockDevice {
        name: facts.name,
        label: first_text(directory, &["dm/name", "md/level"]),
        vendor: first_text(disk, &["device/vendor"]),
        model: facts.model,
        serial: facts.serial,
        firmware: facts.firmware,
        size_bytes: facts.size_bytes,
        rotational: facts.rotational,
        scheduler: facts.scheduler,
        write_cache: first_text(disk, &["queue/write_cache"]),
        logical_sector_bytes: number("queue/logical_block_size"),
        physical_sector_bytes: number("queue/physical_block_size"),
        misaligned_bytes: misaligned_bytes(directory),
        queue_requests: number("queue/nr_requests"),
        read_only: text(&directory.join("ro")).is_some_and(|ro| ro == "1"),
        missing_members: number("md/degraded").unwrap_or(0),
        array_action: text(&directory.join("md/sync_action"))
            .filter(|action| action != "idle")
            .unwrap_or_default(),
        is_buffered: is_buffered(directory),
        backing_file: text(&directory.join("loop/backing_file")).unwrap_or_default(),
        members: members(directory),
        kind,
    })
}

/// The kind of the device in a directory of `/sys`.
pub(super) fn block_device_kind(directory: &Path) -> BlockDeviceKind {
    let has = |name: &str| directory.join(name).exists();
    let identifier = text(&directory.join("dm/uuid")).unwrap_or_default();
    match identifier.split('-').next() {
        _ if has("partition") => BlockDeviceKind::Partition,
        _ if has("loop") => BlockDeviceKind::Loop,
        _ if has("md") => BlockDeviceKind::Raid,
        Some("LVM") => BlockDeviceKind::LogicalVolume,
        Some("mpath") => BlockDeviceKind::Multipath,
        Some("CRYPT") => BlockDeviceKind::Encrypted,
        _ if has("dm") => BlockDeviceKind::Mapped,
        _ => BlockDeviceKind::Disk,
    }
}

/// Pages of 4 KiB begin within a physical sector where the kernel says so, or where a partition begins so.
fn misaligned_bytes(directory: &Path) -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let number = |file: &str| text(&directory.join(file))?.parse::<u64>().ok();
    let offset = number("alignment_offset").filter(|offset| *offset < u64::from(u32::MAX));
    let start = number("start").map_or(0, |sectors| sectors * SECTOR_BYTES % PAGE_BYTES);
    offset.filter(|offset| *offset > 0).unwrap_or(start)
}

fn members(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("slaves"));
    let entries = entries.into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().replace('!', "/"))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A disk with 512-byte sectors over 4 KiB ones, and what stands on it.
    fn disk(root: &Path) -> std::path::PathBuf {
        let disk = root.join("sda");
        for (file, content) in [
            ("size", "2000\n"),
            ("ro", "0\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/nr_requests", "64\n"),
            ("device/vendor", "SEAGATE \n"),
            ("sda1/partition", "1\n"),
            ("sda1/size", "1000\n"),
            ("sda1/start", "63\n"),
            ("sda1/alignment_offset", "0\n"),
        ] {
            write(&disk.join(file), content);
        }
        disk
    }

    #[test]
    fn a_disk_and_a_partition_that_begins_within_a_sector() {
        let root = tempfile::tempdir().unwrap();
        let path = disk(root.path());
        let whole = describe(&path).unwrap();
        assert_eq!(whole.kind, BlockDeviceKind::Disk);
        assert_eq!(whole.vendor, "SEAGATE");
        assert_eq!(whole.write_cache, "write back");
        let sectors = (whole.logical_sector_bytes, whole.physical_sector_bytes);
        assert_eq!(sectors, (Some(512), Some(4096)));
        assert_eq!(
            (whole.queue_requests, whole.misaligned_bytes),
            (Some(64), 0)
        );
        let part = describe(&path.join("sda1")).unwrap();
        assert_eq!(part.kind, BlockDeviceKind::Partition);
        assert_eq!(part.write_cache, "write back");
        assert_eq!(part.misaligned_bytes, 63 * 512 % 4096);
        write(&path.join("sda1/start"), "2048\n");
        assert_eq!(describe(&path.join("sda1")).unwrap().misaligned_bytes, 0);
    }

    #[test]
    fn devices_on_devices_are_distinguished() {
        let root = tempfile::tempdir().unwrap();
        let kind = |name: &str, file: &str, content: &str| {
            let device = root.path().join(name);
            write(&device.join("size"), "8\n");
            write(&device.join(file), content);
            describe(&device).unwrap()
        };
        let volume = kind("dm-0", "dm/uuid", "LVM-abc\n");
        assert_eq!(volume.kind, BlockDeviceKind::LogicalVolume);
        assert_eq!(
            kind("dm-1", "dm/uuid", "mpath-3600\n").kind,
            BlockDeviceKind::Multipath
        );
        assert_eq!(
            kind("dm-2", "dm/uuid", "CRYPT-LUKS2-1\n").kind,
            BlockDeviceKind::Encrypted
        );
        assert_eq!(
            kind("dm-3", "dm/name", "striped\n").kind,
            BlockDeviceKind::Mapped
        );
        let looped = kind("loop0", "loop/dio", "0\n");
        assert_eq!(
            (looped.kind, looped.is_buffered),
            (BlockDeviceKind::Loop, true)
        );
        let array = root.path().join("md0");
        write(&array.join("md/degraded"), "1\n");
        write(&array.join("md/sync_action"), "recover\n");
        fs::create_dir_all(array.join("slaves/sdb")).unwrap();
        fs::create_dir_all(array.join("slaves/sda")).unwrap();
        let array = kind("md0", "md/level", "raid5\n");
        assert_eq!(
            (array.kind, array.label.as_str()),
            (BlockDeviceKind::Raid, "raid5")
        );
        assert_eq!(
            (array.missing_members, array.array_action.as_str()),
            (1, "recover")
        );
        assert_eq!(array.members, ["sda", "sdb"]);
    }

    #[test]
    fn memory_file_systems_have_no_devices() {
        assert!(block_stack(Path::new("/proc")).is_empty());
    }
}

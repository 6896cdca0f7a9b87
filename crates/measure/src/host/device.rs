//! The block device under a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::proc_text::mount_of;

/// Size of a sector in `/sys` and `/proc/diskstats`, whatever the device says of itself.
pub const SECTOR_BYTES: u64 = 512;

/// A block device as `/sys` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockDevice {
    /// Kernel name, as in `/proc/diskstats`; a partition has its own.
    pub name: String,
    /// Model as the device names itself; empty when it does not.
    pub model: String,
    /// Size of the device (of the partition, when it is one).
    pub size_bytes: u64,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: Option<bool>,
    /// The I/O scheduler in force; empty when unknown.
    pub scheduler: String,
}

impl BlockDevice {
    /// The block device under a file, a directory or a device node. `None` when there is none, as
    /// for an overlay, network or memory file system, or when the kernel does not show it.
    pub fn under(path: &Path) -> Option<BlockDevice> {
        BlockDevice::under_with_roots(path, Path::new("/proc"), Path::new("/sys"))
    }

    fn under_with_roots(path: &Path, proc: &Path, sys: &Path) -> Option<BlockDevice> {
        let metadata = fs::metadata(path).ok()?;
        let number = if metadata.file_type().is_block_device() {
            metadata.rdev()
        } else {
            metadata.dev()
        };
        BlockDevice::of_number(number, sys)
            .or_else(|| BlockDevice::of_number(mounted_device(path, proc)?, sys))
    }

    fn of_number(number: u64, sys: &Path) -> Option<BlockDevice> {
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let link = sys.join("dev/block").join(format!("{major}:{minor}"));
        BlockDevice::of_directory(&fs::canonicalize(link).ok()?)
    }

    /// Reads the directory of a device in `/sys`. A partition takes the facts of the whole disk,
    /// whose directory is its parent, but has its own size.
    fn of_directory(directory: &Path) -> Option<BlockDevice> {
        let disk = if directory.join("partition").exists() {
            directory.parent()?
        } else {
            directory
        };
        let sectors: u64 = text(&directory.join("size"))
            .and_then(|t| t.parse().ok())
            .unwrap_or(0);
        Some(BlockDevice {
            name: directory.file_name()?.to_string_lossy().replace('!', "/"),
            model: text(&disk.join("device/model")).unwrap_or_default(),
            size_bytes: sectors * SECTOR_BYTES,
            rotational: text(&disk.join("queue/rotational")).map(|t| t == "1"),
            scheduler: text(&disk.join("queue/scheduler")).map_or(String::new(), |t| chosen(&t)),
        })
    }
}

/// File systems such as btrfs give their files a device number of their own; what they are
/// mounted from still names the device.
fn mounted_device(path: &Path, proc: &Path) -> Option<u64> {
    let absolute: PathBuf = fs::canonicalize(path).ok()?;
    let mountinfo = fs::read_to_string(proc.join("self/mountinfo")).ok()?;
    let mount = mount_of(&mountinfo, absolute.to_str()?)?;
    let metadata = fs::metadata(&mount.source).ok()?;
    metadata
        .file_type()
        .is_block_device()
        .then(|| metadata.rdev())
}

/// The word in brackets of `none [mq-deadline] kyber`; the whole text when there is none.
fn chosen(schedulers: &str) -> String {
    let inside = schedulers
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(schedulers, |(name, _)| name).to_owned()
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|t| t.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A `/sys` with a disk and a partition on it.
    fn recorded_sys(root: &Path) {
        let disk = root.join("devices/pci0/host0/block/sda");
        write(&disk.join("size"), "2000\n");
        write(&disk.join("queue/rotational"), "1\n");
        write(&disk.join("queue/scheduler"), "none [mq-deadline] kyber\n");
        write(&disk.join("device/model"), "EXOS 7E8        \n");
        write(&disk.join("sda2/partition"), "2\n");
        write(&disk.join("sda2/size"), "1000\n");
        fs::create_dir_all(root.join("dev/block")).unwrap();
        symlink(&disk, root.join("dev/block/8:0")).unwrap();
        symlink(disk.join("sda2"), root.join("dev/block/8:2")).unwrap();
    }

    #[test]
    fn a_disk_and_its_partition_are_described() {
        let sys = tempfile::tempdir().unwrap();
        recorded_sys(sys.path());
        let disk = BlockDevice::of_number(rustix::fs::makedev(8, 0), sys.path()).unwrap();
        let expected = BlockDevice {
            name: "sda".to_owned(),
            model: "EXOS 7E8".to_owned(),
            size_bytes: 1_024_000,
            rotational: Some(true),
            scheduler: "mq-deadline".to_owned(),
        };
        assert_eq!(disk, expected);
        let partition = BlockDevice::of_number(rustix::fs::makedev(8, 2), sys.path()).unwrap();
        let expected = BlockDevice {
            name: "sda2".to_owned(),
            size_bytes: 512_000,
            ..expected
        };
        assert_eq!(partition, expected);
    }

    #[test]
    fn a_file_system_without_a_device_has_none() {
        let (sys, proc) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(
            &proc.path().join("self/mountinfo"),
            "1 1 0:42 / / rw - overlay overlay rw\n",
        );
        let found = BlockDevice::under_with_roots(sys.path(), proc.path(), sys.path());
        assert_eq!(found, None);
    }

    #[test]
    fn memory_file_systems_of_this_machine_have_no_device() {
        assert_eq!(BlockDevice::under(Path::new("/proc")), None);
        assert_eq!(BlockDevice::under(Path::new("/does/not/exist")), None);
    }
}

//! The block device under a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::proc_text::mount_of;
use crate::result::DeviceResult;

/// Size of a sector in `/sys` and `/proc/diskstats`, whatever the device says of itself.
pub const SECTOR_BYTES: u64 = 512;

/// Devices on devices on devices are looked through to this depth.
pub(super) const DEEPEST_STACK: usize = 16;

/// The block device under a file, a directory or a device node. `None` when there is none, as
/// for an overlay, network or memory file system, or when the kernel does not show it.
pub fn device_under(path: &Path) -> Option<DeviceResult> {
    under_with_roots(path, Path::new("/proc"), Path::new("/sys"))
}

fn under_with_roots(path: &Path, proc: &Path, sys: &Path) -> Option<DeviceResult> {
    in_stack(&directory_under(path, proc, sys)?, proc, sys)
}

/// The device in `directory`, with the names of those below it.
pub(super) fn in_stack(directory: &Path, proc: &Path, sys: &Path) -> Option<DeviceResult> {
    let mut device = of_directory(directory)?;
    let below = below(directory, proc, sys);
    device.underlying_devices = below.iter().filter_map(|at| kernel_name(at)).collect();
    let all = std::iter::once(directory).chain(below.iter().map(PathBuf::as_path));
    let buffered = all.filter(|at| is_buffered(at));
    device.buffered_loops = buffered.filter_map(kernel_name).collect();
    Some(device)
}

/// The directories in `/sys` of the device under a path and of all below it, the one at the top first.
pub(super) fn device_directories(path: &Path, proc: &Path, sys: &Path) -> Vec<PathBuf> {
    let Some(top) = directory_under(path, proc, sys) else {
        return Vec::new();
    };
    let below = below(&top, proc, sys);
    std::iter::once(top).chain(below).collect()
}

/// The directory in `/sys` of the device under a path.
pub(super) fn directory_under(path: &Path, proc: &Path, sys: &Path) -> Option<PathBuf> {
    let metadata = fs::metadata(path).ok()?;
    let number = if metadata.file_type().is_block_device() {
        metadata.rdev()
    } else {
        metadata.dev()
    };
    directory_of_number(number, sys)
        .or_else(|| directory_of_number(mounted_device(path, proc)?, sys))
}

/// Whether a device is a loop device that goes through the page cache of its file.
pub(super) fn is_buffered(directory: &Path) -> bool {
    text(&directory.join("loop/dio")).is_some_and(|dio| dio == "0")
}

/// Reads the directory of a device in `/sys`. A partition takes the facts of the whole disk,
/// whose directory is its parent, but has its own size.
pub(super) fn of_directory(directory: &Path) -> Option<DeviceResult> {
    let disk = if directory.join("partition").exists() {
        directory.parent()?
    } else {
        directory
    };
    let sectors: u64 = text(&directory.join("size"))
        .and_then(|t| t.parse().ok())
        .unwrap_or(0);
    Some(DeviceResult {
        name: kernel_name(directory)?,
        model: text(&disk.join("device/model")).unwrap_or_default(),
        serial: serial(disk),
        firmware: first_text(disk, &["device/firmware_rev", "device/rev", "device/fwrev"]),
        size_bytes: sectors * SECTOR_BYTES,
        rotational: text(&disk.join("queue/rotational")).map(|t| t == "1"),
        scheduler: text(&disk.join("queue/scheduler")).map_or(String::new(), |t| chosen(&t)),
        ..DeviceResult::default()
    })
}

/// The serial number of a disk: NVMe, virtio and MMC have it as text, SCSI as page 80h of the vital
/// product data, behind a head of four bytes.
fn serial(disk: &Path) -> String {
    let plain = first_text(disk, &["device/serial", "serial"]);
    if !plain.is_empty() {
        return plain;
    }
    let page = fs::read(disk.join("device/vpd_pg80")).unwrap_or_default();
    let text = page.get(4..).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .to_owned()
}

/// The text of the first of these files that holds any.
pub(super) fn first_text(disk: &Path, files: &[&str]) -> String {
    let texts = files.iter().filter_map(|file| text(&disk.join(file)));
    let mut texts = texts.filter(|text| !text.is_empty());
    texts.next().unwrap_or_default()
}

/// The directory of a device in `/sys`.
fn directory_of_number(number: u64, sys: &Path) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let link = sys.join("dev/block").join(format!("{major}:{minor}"));
    fs::canonicalize(link).ok()
}

fn kernel_name(directory: &Path) -> Option<String> {
    let name = directory.file_name()?;
    Some(name.to_string_lossy().replace('!', "/"))
}

/// The directories of the devices below the one in `directory`: the disk of a partition, the members of a
/// mapped device or an array, the device that the file of a loop device lies on; then those below them.
fn below(directory: &Path, proc: &Path, sys: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    add_below(directory, proc, sys, DEEPEST_STACK, &mut found);
    found
}

fn add_below(directory: &Path, proc: &Path, sys: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for device in directly_below(directory, proc, sys) {
        if !found.contains(&device) && depth > 0 {
            found.push(device.clone());
            add_below(&device, proc, sys, depth - 1, found);
        }
    }
}

/// The directories of the devices directly below.
pub(super) fn directly_below(directory: &Path, proc: &Path, sys: &Path) -> Vec<PathBuf> {
    let mut below = Vec::new();
    if directory.join("partition").exists() {
        below.extend(directory.parent().map(Path::to_owned));
    }
    let members = fs::read_dir(directory.join("slaves"));
    let members = members.into_iter().flatten().flatten();
    let mut members: Vec<PathBuf> = members
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .collect();
    members.sort();
    below.append(&mut members);
    if let Some(file) = text(&directory.join("loop/backing_file")) {
        let device = fs::metadata(&file).ok().map(|facts| facts.dev());
        let found = device.and_then(|number| directory_of_number(number, sys));
        let mounted = || directory_of_number(mounted_device(Path::new(&file), proc)?, sys);
        below.extend(found.or_else(mounted));
    }
    below
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

pub(super) fn text(path: &Path) -> Option<String> {
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
        write(&disk.join("device/rev"), "SN05\n");
        fs::write(disk.join("device/vpd_pg80"), b"\0\x80\0\x08ZA1B2C3D").unwrap();
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
        let device_of = |minor| {
            let number = rustix::fs::makedev(8, minor);
            of_directory(&directory_of_number(number, sys.path()).unwrap()).unwrap()
        };
        let disk = device_of(0);
        let expected = DeviceResult {
            name: "sda".to_owned(),
            model: "EXOS 7E8".to_owned(),
            serial: "ZA1B2C3D".to_owned(),
            firmware: "SN05".to_owned(),
            size_bytes: 1_024_000,
            rotational: Some(true),
            scheduler: "mq-deadline".to_owned(),
            ..DeviceResult::default()
        };
        assert_eq!(disk, expected);
        let partition = device_of(2);
        let expected = DeviceResult {
            name: "sda2".to_owned(),
            size_bytes: 512_000,
            ..expected
        };
        assert_eq!(partition, expected);
    }

    #[test]
    fn what_lies_below_a_device_is_found_down_to_the_disk() {
        let root = tempfile::tempdir().unwrap();
        recorded_sys(root.path());
        let blocks = root.path().join("devices/virtual/block");
        let (mapped, looped) = (blocks.join("dm-0"), blocks.join("loop3"));
        fs::create_dir_all(mapped.join("slaves")).unwrap();
        let partition = root.path().join("devices/pci0/host0/block/sda/sda2");
        symlink(&partition, mapped.join("slaves/sda2")).unwrap();
        // The file of the loop device lies on this machine's own device, which stands for dm-0.
        let file = root.path().join("image");
        write(&file, "");
        write(
            &looped.join("loop/backing_file"),
            &format!("{}\n", file.display()),
        );
        for (dio, expected) in [("0\n", true), ("1\n", false)] {
            write(&looped.join("loop/dio"), dio);
            assert_eq!(is_buffered(&looped), expected);
        }
        assert!(!is_buffered(&mapped));
        let number = fs::metadata(&file).unwrap().dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let link = root
            .path()
            .join("dev/block")
            .join(format!("{major}:{minor}"));
        let _ = fs::remove_file(&link);
        symlink(&mapped, link).unwrap();
        let below = |directory: &Path| {
            let found = super::below(directory, Path::new("/proc"), root.path());
            let names = found.iter().filter_map(|at| kernel_name(at));
            names.collect::<Vec<_>>()
        };
        assert_eq!(below(&looped), ["dm-0", "sda2", "sda"]);
        assert_eq!(below(&partition), ["sda"]);
        assert!(below(partition.parent().unwrap()).is_empty());
        let all = device_directories(&file, Path::new("/proc"), root.path());
        assert_eq!(all.first(), Some(&mapped));
        assert_eq!(
            all[1..],
            super::below(&mapped, Path::new("/proc"), root.path())
        );
    }

    #[test]
    fn a_stack_of_devices_is_looked_through_to_a_depth() {
        let root = tempfile::tempdir().unwrap();
        let device = |number: usize| root.path().join(format!("dm-{number}"));
        for number in 0..20 {
            let members = device(number).join("slaves");
            fs::create_dir_all(&members).unwrap();
            symlink(device(number + 1), members.join("below")).unwrap();
        }
        fs::create_dir_all(device(20)).unwrap();
        let below = |from: usize| {
            let found = super::below(&device(from), Path::new("/proc"), root.path());
            let names = found.iter().filter_map(|at| kernel_name(at));
            names.collect::<Vec<_>>()
        };
        assert_eq!(below(18), ["dm-19", "dm-20"]);
        assert_eq!((below(0).len(), below(4).len()), (16, 16));
        assert_eq!(below(0).last().unwrap(), "dm-16");
    }

    #[test]
    fn a_file_system_without_a_device_has_none() {
        let (sys, proc) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(
            &proc.path().join("self/mountinfo"),
            "1 1 0:42 / / rw - overlay overlay rw\n",
        );
        let found = under_with_roots(sys.path(), proc.path(), sys.path());
        assert_eq!(found, None);
    }

    /// A file system such as btrfs has a device number that belongs to no device.
    #[test]
    fn a_file_system_names_the_device_that_it_is_mounted_from() {
        let is_block = |entry: &fs::DirEntry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| kind.is_block_device())
        };
        let mut devices = fs::read_dir("/dev").unwrap().flatten();
        let Some(device) = devices.find(is_block) else {
            return test_support::skip("there is no block device in /dev");
        };
        let (here, proc) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mounted = |source: &Path| {
            let text = format!("1 1 0:42 / / rw - btrfs {} rw\n", source.display());
            write(&proc.path().join("self/mountinfo"), &text);
            mounted_device(here.path(), proc.path())
        };
        let number = fs::metadata(device.path()).unwrap().rdev();
        assert_eq!(mounted(&device.path()), Some(number));
        assert_eq!(mounted(Path::new("/dev/null")), None);
        assert_eq!(mounted(Path::new("overlay")), None);
    }

    #[test]
    fn memory_file_systems_of_this_machine_have_no_device() {
        assert_eq!(device_under(Path::new("/proc")), None);
        assert_eq!(device_under(Path::new("/does/not/exist")), None);
    }
}

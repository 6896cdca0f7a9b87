//! The part of a block device that lies under a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::event::Place;

/// A whole block device, or a partition as a stretch of its disk: the kernel's trace of requests
/// knows disks only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceExtent {
    /// Major number of the disk.
    pub major: u32,
    /// Minor number of the disk.
    pub minor: u32,
    /// First sector of 512 bytes.
    pub first_sector: u64,
    /// Length in sectors of 512 bytes.
    pub sectors: u64,
}

impl DeviceExtent {
    /// Whether both lie on one device.
    #[must_use]
    pub fn shares_device(&self, other: &DeviceExtent) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }

    /// Whether the device has a cache that forgets, as the kernel knows it: what is written is safe
    /// after a flush only.
    #[must_use]
    pub fn has_volatile_cache(&self) -> bool {
        self.has_volatile_cache_by_sys(Path::new("/sys"))
    }

    fn has_volatile_cache_by_sys(&self, sys: &Path) -> bool {
        let device = format!("dev/block/{}:{}", self.major, self.minor);
        let path = sys.join(device).join("queue/write_cache");
        fs::read_to_string(path).is_ok_and(|cache| cache.trim() == "write back")
    }

    /// What lies under a file or a directory, or is the device itself. `None` for file systems
    /// without one block device of their own (memory, network, overlays, several devices), and for
    /// devices that only pass requests on, which the kernel does not trace as requests.
    #[must_use]
    pub fn under(path: &Path) -> Option<DeviceExtent> {
        DeviceExtent::under_with_sys(path, Path::new("/sys"))
    }

    fn under_with_sys(path: &Path, sys: &Path) -> Option<DeviceExtent> {
        let metadata = fs::metadata(path).ok()?;
        let number = if metadata.file_type().is_block_device() {
            metadata.rdev()
        } else {
            metadata.dev()
        };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let link = sys.join("dev/block").join(format!("{major}:{minor}"));
        let directory = fs::canonicalize(link).ok()?;
        let sectors = number_in(&directory.join("size"))?;
        if !directory.join("partition").exists() {
            // Mapped devices and arrays have members; requests reach those, not them.
            let members = fs::read_dir(directory.join("slaves")).ok();
            let passes_on = members.is_some_and(|mut members| members.next().is_some());
            return (!passes_on).then_some(DeviceExtent {
                major,
                minor,
                first_sector: 0,
                sectors,
            });
        }
        let disk = fs::read_to_string(directory.parent()?.join("dev")).ok()?;
        let (major, minor) = disk.trim().split_once(':')?;
        Some(DeviceExtent {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            first_sector: number_in(&directory.join("start"))?,
            sectors,
        })
    }

    /// Whether a place is on the same device, in this part of it or in another.
    pub(super) fn is_on(&self, place: &Place) -> bool {
        (place.major, place.minor) == (self.major, self.minor)
    }

    pub(super) fn holds(&self, place: &Place) -> bool {
        self.is_on(place)
            && place.sector >= self.first_sector
            && place.sector - self.first_sector < self.sectors
    }
}

fn number_in(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_partition_is_a_stretch_of_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let number = fs::metadata(root.path()).unwrap().dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let partition = root.path().join("devices/sda/sda2");
        fs::create_dir_all(&partition).unwrap();
        fs::create_dir_all(root.path().join("dev/block")).unwrap();
        let link = root.path().join(format!("dev/block/{major}:{minor}"));
        symlink(&partition, link).unwrap();
        let write = |name: &str, text: &str| fs::write(partition.join(name), text).unwrap();
        write("size", "500\n");
        write("start", "2048\n");
        let whole = DeviceExtent::under_with_sys(root.path(), root.path()).unwrap();
        assert_eq!((whole.first_sector, whole.sectors), (0, 500));
        write("partition", "2\n");
        fs::write(root.path().join("devices/sda/dev"), "8:0\n").unwrap();
        let part = DeviceExtent {
            major: 8,
            minor: 0,
            first_sector: 2_048,
            sectors: 500,
        };
        let found = DeviceExtent::under_with_sys(root.path(), root.path());
        assert_eq!(found, Some(part));
    }

    #[test]
    fn a_device_that_passes_requests_on_is_not_traced() {
        let root = tempfile::tempdir().unwrap();
        let number = fs::metadata(root.path()).unwrap().dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let mapped = root
            .path()
            .join("dev/block")
            .join(format!("{major}:{minor}"));
        fs::create_dir_all(mapped.join("slaves")).unwrap();
        fs::write(mapped.join("size"), "500\n").unwrap();
        let found = || DeviceExtent::under_with_sys(root.path(), root.path());
        assert!(found().is_some());
        fs::create_dir(mapped.join("slaves/sda")).unwrap();
        assert_eq!(found(), None);
    }

    #[test]
    fn a_part_of_a_device_holds_its_own_sectors() {
        let part = DeviceExtent {
            major: 8,
            minor: 1,
            first_sector: 100,
            sectors: 50,
        };
        let place = |major, minor, sector| Place {
            major,
            minor,
            sector,
        };
        let held = [99, 100, 149, 150].map(|sector| part.holds(&place(8, 1, sector)));
        assert_eq!(held, [false, true, true, false]);
        assert!(!part.holds(&place(8, 0, 100)) && !part.holds(&place(9, 1, 100)));
        assert!(part.is_on(&place(8, 1, 0)) && !part.is_on(&place(8, 0, 100)));
        let other = DeviceExtent {
            first_sector: 0,
            ..part
        };
        assert!(part.shares_device(&other));
        assert!(!part.shares_device(&DeviceExtent { minor: 2, ..part }));
    }
    #[test]
    fn a_write_cache_that_forgets_is_known_by_its_word() {
        let root = tempfile::tempdir().unwrap();
        let device = DeviceExtent {
            major: 8,
            minor: 16,
            first_sector: 0,
            sectors: 500,
        };
        let queue = root.path().join("dev/block/8:16/queue");
        fs::create_dir_all(&queue).unwrap();
        let forgets = || device.has_volatile_cache_by_sys(root.path());
        assert!(!forgets());
        for (word, is_volatile) in [("write back\n", true), ("write through\n", false)] {
            fs::write(queue.join("write_cache"), word).unwrap();
            assert_eq!(forgets(), is_volatile, "{word}");
        }
    }
}

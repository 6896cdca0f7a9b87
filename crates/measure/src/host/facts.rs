//! What machine this is, and what a target stands on.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::block_stack::{BlockDevice, block_stack};
use super::device::device_under;
use super::passed_on::passed_on_to;
use super::proc_text::{Mount, memory_bytes, mount_of};
use crate::result::{DeviceResult, HostResult, TargetKind, TargetPath};

/// The facts of this host and of the block devices under `targets`. Counters and rates are left
/// empty; [`crate::sample::RunTotals::fill`] sets them.
pub fn facts<P: AsRef<Path>>(targets: &[P]) -> HostResult {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let uname = rustix::system::uname();
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    HostResult {
        name: uname.nodename().to_string_lossy().into_owned(),
        operating_system: operating_system(&read("/etc/os-release")),
        kernel: uname.release().to_string_lossy().into_owned(),
        cpu_model: cpu_model(&read("/proc/cpuinfo")),
        cpus,
        memory_bytes: memory_bytes(&read("/proc/meminfo"), "MemTotal").unwrap_or(0),
        devices: devices(targets),
        ..HostResult::default()
    }
}

/// The devices under the targets, each once, in the order of their first target; then those below to which
/// the same requests go.
fn devices<P: AsRef<Path>>(targets: &[P]) -> Vec<DeviceResult> {
    let mut devices: Vec<DeviceResult> = Vec::new();
    for target in targets {
        let target = target.as_ref();
        let Some(device) = device_under(target) else {
            continue;
        };
        let path = target.display().to_string();
        if let Some(known) = devices.iter_mut().find(|d| d.name == device.name) {
            if !known.targets.contains(&path) {
                known.targets.push(path);
            }
            continue;
        }
        devices.push(DeviceResult {
            targets: vec![path],
            ..device
        });
    }
    for target in targets {
        for device in passed_on_to(target.as_ref()) {
            if !devices.iter().any(|known| known.name == device.name) {
                devices.push(device);
            }
        }
    }
    devices
}

/// What `path` stands on. What cannot be found out is left empty.
pub fn describe_target(path: &Path) -> TargetPath {
    let device = device_under(path);
    let is_device = fs::metadata(path).is_ok_and(|m| m.file_type().is_block_device());
    let mut target = TargetPath {
        path: path.display().to_string(),
        kind: match is_device {
            true => TargetKind::BlockDevice,
            false => TargetKind::Directory,
        },
        ..TargetPath::default()
    };
    if is_device {
        let size_bytes = device.as_ref().map_or(0, |d| d.size_bytes);
        (target.capacity_bytes, target.free_bytes) = (size_bytes, size_bytes);
    } else {
        if let Some(mount) = mount_under(path) {
            let option = mount.option_without_flushes();
            target.unflushed_by = option
                .filter(|_| has_volatile_cache(path))
                .map(str::to_owned);
            target.file_system = mount.file_system;
        }
        if let Ok(space) = rustix::fs::statvfs(path) {
            target.capacity_bytes = space.f_blocks * space.f_frsize;
            target.free_bytes = space.f_bavail * space.f_frsize;
        }
    }
    target.device = device.map(|d| d.name);
    target
}

/// Whether one of the devices below a path has a write cache that a power cut empties, as the kernel knows it.
fn has_volatile_cache(path: &Path) -> bool {
    let devices = block_stack(path);
    devices.iter().any(BlockDevice::has_volatile_cache)
}

/// The mount that a path lies on; `None` where the kernel does not show it.
#[must_use]
pub fn mount_under(path: &Path) -> Option<Mount> {
    let absolute = fs::canonicalize(path).ok()?;
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").ok()?;
    mount_of(&mountinfo, absolute.to_str()?)
}

fn operating_system(os_release: &str) -> String {
    let name = os_release
        .lines()
        .find_map(|l| l.strip_prefix("PRETTY_NAME="));
    name.map_or_else(|| "Linux".to_owned(), |n| n.trim_matches('"').to_owned())
}

fn cpu_model(cpuinfo: &str) -> String {
    let model = cpuinfo.lines().find(|l| l.starts_with("model name"));
    let name = model
        .and_then(|l| l.split_once(':'))
        .map(|(_, name)| name.trim());
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_texts_are_read() {
        let os = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(operating_system(os), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(operating_system(""), "Linux");
        let cpu = "processor\t: 0\nmodel name\t: Xeon(R) Gold 6138 CPU @ 2.00GHz\n";
        assert_eq!(cpu_model(cpu), "Xeon(R) Gold 6138 CPU @ 2.00GHz");
    }

    #[test]
    fn this_machine_is_described() {
        let here = std::env::current_dir().unwrap();
        let facts = facts(&[&here, &here]);
        assert!(facts.cpus >= 1 && facts.memory_bytes > 1_000_000);
        assert!(!facts.kernel.is_empty());
        let own_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(facts.name, own_name.trim_end());
        let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        assert_eq!(facts.operating_system, operating_system(&os_release));
        let direct = facts.devices.iter().filter(|d| !d.targets.is_empty());
        let direct: Vec<_> = direct.collect();
        assert!(direct.len() <= 1, "one path twice is one device at most");
        assert!(facts.devices.iter().all(|d| d.size_bytes > 0));
        for found in direct {
            assert_eq!(found.targets.len(), 1);
            let device = device_under(&here).unwrap();
            assert_eq!((&found.name, &found.model), (&device.name, &device.model));
            assert_eq!(
                (found.rotational, &found.scheduler),
                (device.rotational, &device.scheduler)
            );
            assert_eq!(found.underlying_devices, device.underlying_devices);
        }
        let target = describe_target(&here);
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mount_of(&mounts, here.to_str().unwrap()).unwrap();
        assert_eq!(target.file_system, mount.file_system);
        let space = rustix::fs::statvfs(&here).unwrap();
        assert_eq!(target.capacity_bytes, space.f_blocks * space.f_frsize);
        assert_eq!(target.kind, TargetKind::Directory);
        assert!(target.capacity_bytes >= target.free_bytes && target.capacity_bytes > 0);
        assert_eq!(target.device, facts.devices.first().map(|d| d.name.clone()));
    }
}

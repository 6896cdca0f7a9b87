//! Targets that lie in memory: a test there would measure the memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Target;
use crate::kernel;
use crate::target::Identity;
use measure::host::{BlockDevice, block_stack};
use workload::Refusal;

/// File systems that live in memory, by the magic number of `statfs`.
const MEMORY_FILE_SYSTEMS: [(u32, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];

const HELP: &str = "Name a directory on the storage to test.";

/// The magic number of a file system that keeps what is written in a directory of another one.
const OVERLAY: u32 = 0x794c_7630;

/// Refuses a directory in memory, also one below a layered file system that writes to memory, or on a device
/// that is memory.
pub fn refuse(target: &Target) -> Result<(), Refusal> {
    let Some(name) = memory_below(&target.path, &target.identity) else {
        return refuse_device(target);
    };
    Err(Refusal::environment(
        format!(
            "{} is in memory ({name}), which has no direct I/O and is not storage.",
            target.given.display()
        ),
        HELP,
    ))
}

/// Refuses what is, or lies on, a RAM disk or a loop device with its file in memory.
pub fn refuse_device(target: &Target) -> Result<(), Refusal> {
    let devices = block_stack(&target.path);
    let Some(what) = devices.iter().find_map(memory_of) else {
        return Ok(());
    };
    let given = target.given.display();
    Err(Refusal::environment(
        format!("{given} is on {what}, which is not storage."),
        HELP,
    ))
}

fn memory_of(device: &BlockDevice) -> Option<String> {
    let name = &device.name;
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|c| c.is_ascii_digit());
    let mut kinds = ["ram", "zram"].iter();
    if kinds.any(|kind| name.strip_prefix(kind).is_some_and(is_number)) {
        return Some(format!("a RAM disk ({name})"));
    }
    let file_system = in_memory(magic(Path::new(&device.backing_file))?)?;
    Some(format!(
        "a loop device ({name}) whose file is in memory ({file_system})"
    ))
}

/// The name of the file system in memory that holds what is written below `path`.
fn memory_below(path: &Path, identity: &Identity) -> Option<String> {
    let magic = magic(path)?;
    if magic != OVERLAY {
        return in_memory(magic).map(str::to_owned);
    }
    // What the kernel names may lie outside of a container; then nothing is known about it.
    let upper = upper_directory(identity)?;
    let name = in_memory(self::magic(&upper)?)?;
    Some(format!("an overlay whose upper layer is on {name}"))
}

/// The kernel's number for the kind of file system at `path`.
fn magic(path: &Path) -> Option<u32> {
    let facts = rustix::fs::statfs(path).ok()?;
    // The magic number has 32 bits; its type in the kernel's answer differs between machines.
    Some(facts.f_type as u32)
}

fn in_memory(magic: u32) -> Option<&'static str> {
    let mut known = MEMORY_FILE_SYSTEMS.iter();
    let found = known.find(|(number, _)| *number == magic);
    found.map(|(_, name)| *name)
}

/// Where the overlay that a directory lies on keeps what is written.
fn upper_directory(identity: &Identity) -> Option<PathBuf> {
    let Identity::Directory { file_system, .. } = identity else {
        return None;
    };
    let text = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts = kernel::mounts(&text);
    let own = kernel::packed(*file_system);
    let mount = mounts.into_iter().find(|mount| mount.device == own)?;
    mount.option("upperdir").map(PathBuf::from)
}

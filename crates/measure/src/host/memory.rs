//! The memory that this process can have.

use std::fs;
use std::path::{Path, PathBuf};

use super::proc_text::memory_bytes;

/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";

/// What the machine has, or, if that is less, the control groups that the process is in, as of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What there is in all.
    pub size_bytes: u64,
    /// What this process can have beside what it has, without others being swapped out.
    pub available_bytes: u64,
}

impl Memory {
    /// That of now; `None` where it is not known.
    #[must_use]
    pub fn now() -> Option<Self> {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let of_machine = Self {
            size_bytes: memory_bytes(&meminfo, "MemTotal")?,
            available_bytes: memory_bytes(&meminfo, "MemAvailable")?,
        };
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let of_groups = groups(&own, Path::new(GROUPS)).filter_map(|group| group.memory());
        Some(of_groups.fold(of_machine, |least, one| Self {
            size_bytes: least.size_bytes.min(one.size_bytes),
            available_bytes: least.available_bytes.min(one.available_bytes),
        }))
    }
}

/// The files of a control group's memory, which differ between the two versions.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat` of file pages that the kernel takes back first.
    inactive: &'static str,
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
};
const VERSION_2: Files = Files {
    limit: "memory.max",
    usage: "memory.current",
    inactive: "inactive_file",
};

struct Group {
    directory: PathBuf,
    files: &'static Files,
}

impl Group {
    /// Its limit and what is left of it; `None` if it has no limit.
    fn memory(&self) -> Option<Memory> {
        let read = |file: &str| fs::read_to_string(self.directory.join(file)).ok();
        let number = |file| read(file)?.trim().parse::<u64>().ok();
        // "max" is no limit.
        let size_bytes = number(self.files.limit)?;
        let used_bytes = number(self.files.usage).unwrap_or(0);
        let stat = read("memory.stat").unwrap_or_default();
        let inactive = stat.lines().find_map(|line| {
            let value = line.strip_prefix(self.files.inactive)?.strip_prefix(' ')?;
            value.trim().parse::<u64>().ok()
        });
        let used_bytes = used_bytes.saturating_sub(inactive.unwrap_or(0));
        Some(Memory {
            size_bytes,
            available_bytes: size_bytes.saturating_sub(used_bytes),
        })
    }
}

/// The groups of which `/proc/self/cgroup` says that this process is in them, and those above them. Version 2 is
/// mounted at `root`, or beside version 1 at `unified`.
fn groups(own: &str, root: &Path) -> impl Iterator<Item = Group> {
    own.lines().flat_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let (mounts, files): (&[&str], _) = match controllers {
            "" => (&["", "unified"], &VERSION_2),
            _ if controllers.split(',').any(|one| one == "memory") => (&["memory"], &VERSION_1),
            _ => (&[], &VERSION_1),
        };
        let above = Path::new(group.trim_start_matches('/')).ancestors();
        above.flat_map(move |group| {
            mounts.iter().map(move |mount| Group {
                directory: root.join(mount).join(group),
                files,
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory() {
        let now = Memory::now().unwrap();
        assert!(now.size_bytes >= now.available_bytes);
        assert!(now.available_bytes > 0);
    }

    #[test]
    fn the_limits_of_the_groups_above_count_less_what_is_used() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let of = |own| {
            let found = groups(own, root.path()).filter_map(|group| group.memory());
            let found: Vec<_> = found
                .map(|one| (one.size_bytes, one.available_bytes))
                .collect();
            found
        };
        assert_eq!(of("0::/a/b\n"), []);
        write("a/memory.max", "500\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(of("0::/a/b\n"), [(500, 500)]);
        assert_eq!(of("0::/\n"), []);
        write("a/memory.current", "300\n");
        write(
            "a/memory.stat",
            "anon 7\ninactive_file 40\nactive_file 20\n",
        );
        assert_eq!(of("0::/a/b\n"), [(500, 240)]);
        write("unified/c/memory.max", "7\n");
        write("unified/c/memory.current", "9\n");
        assert_eq!(of("0::/c\n"), [(7, 0)]);
        write("memory/d/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/d/e/memory.limit_in_bytes", "90\n");
        write("memory/d/e/memory.usage_in_bytes", "80\n");
        write(
            "memory/d/e/memory.stat",
            "inactive_file 3\ntotal_inactive_file 30\n",
        );
        let both = [
            (90, 40),
            (9_223_372_036_854_771_712, 9_223_372_036_854_771_712),
        ];
        assert_eq!(of("4:cpu:/d/e\n3:hugetlb,memory:/d/e\n"), both);
        assert_eq!(of("3:memory:/d\n0::/a\n").len(), 2);
    }
}

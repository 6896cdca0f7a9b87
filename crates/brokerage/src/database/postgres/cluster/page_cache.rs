//! Limits the memory in which the system caches the database.
//!
//! The published study gave its database deliberately little memory, so that its reads went to the
//! storage. PostgreSQL reads through the page cache of the system, which would use all free memory;
//! a memory control group around the server limits it.

use std::path::{Path, PathBuf};

use measure::host::{left_behind, own_name};

/// A control group of our own, removed when dropped.
#[derive(Debug)]
pub struct MemoryGroup {
    directory: PathBuf,
    version: Version,
}

/// The group's control files.
#[derive(Debug)]
pub(super) struct Files {
    limit: PathBuf,
    statistics: PathBuf,
    /// Kernel memory of the processes, where the statistics do not include it.
    kernel: PathBuf,
    version: Version,
}

/// Version of the control group interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl MemoryGroup {
    /// Creates a group whose processes use at most this many bytes, including files in the page
    /// cache.
    ///
    /// # Errors
    /// Why none can be created, as the end of a sentence.
    pub fn make(limit_bytes: u64) -> Result<Self, String> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut why = "this system has no memory control groups".to_owned();
        for (version, parent) in parents(&mounts, &own) {
            for left in left_behind(&parent) {
                // A group that still has processes cannot be removed, and stays.
                let _ = std::fs::remove_dir(left);
            }
            match Self::make_in(&parent, version, limit_bytes) {
                Ok(group) => return Ok(group),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn make_in(parent: &Path, version: Version, limit_bytes: u64) -> Result<Self, String> {
        let directory = parent.join(own_name());
        std::fs::create_dir(&directory)
            .map_err(|error| format!("{} could not be made: {error}", directory.display()))?;
        let group = Self { directory, version };
        let file = group.files().limit;
        // A missing file must not be created: it would not be a control file.
        if !file.exists() {
            return Err(format!("{} has no control of memory", parent.display()));
        }
        std::fs::write(&file, limit_bytes.to_string())
            .map_err(|error| format!("{} could not be written: {error}", file.display()))?;
        Ok(group)
    }

    pub(super) fn files(&self) -> Files {
        let limit = match self.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        Files {
            limit: self.directory.join(limit),
            statistics: self.directory.join("memory.stat"),
            kernel: self.directory.join("memory.kmem.usage_in_bytes"),
            version: self.version,
        }
    }

    /// Moves a process into the group; its later children belong to the group, too.
    ///
    /// # Errors
    /// The system refused it.
    pub fn admit(&self, process: u32) -> Result<(), String> {
        let file = self.directory.join("cgroup.procs");
        std::fs::write(&file, process.to_string())
            .map_err(|error| format!("{} could not be written: {error}", file.display()))
    }
}

impl Files {
    /// Memory of the processes without the page cache: private and shared.
    pub(super) fn own_bytes(&self) -> Option<u64> {
        let text = std::fs::read_to_string(&self.statistics).ok()?;
        let own_bytes = own_bytes(&text, self.version)?;
        // Version 1 counts kernel memory of each session (page tables, stacks, sockets) towards the
        // limit, too: hundreds of sessions would be killed without it.
        let kernel = std::fs::read_to_string(&self.kernel).ok();
        let kernel = kernel.filter(|_| self.version == Version::One);
        Some(
            own_bytes
                + kernel
                    .and_then(|text| text.trim().parse().ok())
                    .unwrap_or(0),
        )
    }

    /// Changes the limit. It may fail while everything in the page cache is being written; the next
    /// attempt will succeed.
    pub(super) fn limit(&self, bytes: u64) {
        let _ = std::fs::write(&self.limit, bytes.to_string());
    }
}

fn own_bytes(statistics: &str, version: Version) -> Option<u64> {
    let names: &[&str] = match version {
        Version::One => &["total_rss", "total_shmem"],
        // Kernel memory is counted there, too.
        Version::Two => &["anon", "shmem", "kernel"],
    };
    let mut sum = 0;
    for name in names {
        let value = statistics.lines().find_map(|line| {
            let (found, value) = line.split_once(' ')?;
            (found == *name).then(|| value.parse::<u64>().ok())?
        });
        // Kernels before 5.18 do not report their own.
        sum += value.or((*name == "kernel").then_some(0))?;
    }
    Some(sum)
}

/// Drops the files of a directory from the page cache: what an earlier server has read belongs to
/// no group, and would spare this one its reads. Pages that cannot be dropped are skipped.
pub(super) fn drop_page_cache(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            drop_page_cache(&path);
        } else if kind.is_file()
            && let Ok(file) = std::fs::File::open(&path)
            // Dirty pages cannot be dropped.
            && file.sync_data().is_ok()
        {
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // Processes that have just ended may still be counted for a moment.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.directory).is_ok() || !self.directory.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Groups in which ours might be created, the best first: our own, then the root.
fn parents(mounts: &str, own: &str) -> Vec<(Version, PathBuf)> {
    let mut parents = Vec::new();
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else {
            continue;
        };
        let Some(mount) = place.split(' ').nth(4) else {
            continue;
        };
        let mut kind = kind.split(' ');
        let version = match kind.next() {
            Some("cgroup") if kind.nth(1).is_some_and(names_memory) => Version::One,
            Some("cgroup2") => Version::Two,
            _ => continue,
        };
        let within = own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let is_it = match version {
                Version::One => names_memory(controllers),
                Version::Two => controllers.is_empty(),
            };
            is_it.then_some(path)
        });
        let mount = PathBuf::from(mount);
        if let Some(within) = within.map(|path| path.trim_start_matches('/'))
            && !within.is_empty()
        {
            parents.push((version, mount.join(within)));
        }
        parents.push((version, mount));
    }
    parents.sort_by_key(|(version, _)| *version == Version::Two);
    parents
}

fn names_memory(list: &str) -> bool {
    list.split(',').any(|word| word == "memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_found_where_they_are_mounted() {
        let mounts = "30 1 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let own = "4:memory:/user\n3:cpu:/\n0::/\n";
        let found: Vec<_> = parents(mounts, own)
            .into_iter()
            .map(|(_, path)| path)
            .collect();
        assert_eq!(
            found,
            [
                PathBuf::from("/sys/fs/cgroup/memory/user"),
                PathBuf::from("/sys/fs/cgroup/memory"),
                PathBuf::from("/sys/fs/cgroup/unified"),
            ]
        );
    }

    #[test]
    fn the_memory_of_processes_is_distinguished_from_the_page_cache() {
        let one = "cache 500\nrss 7\ntotal_cache 900\ntotal_rss 40\ntotal_shmem 2\n";
        assert_eq!(own_bytes(one, Version::One), Some(42));
        let two = "anon 30\nfile 900\nkernel 7\nshmem 5\n";
        assert_eq!(own_bytes(two, Version::Two), Some(42));
        assert_eq!(own_bytes("anon 30\nshmem 5\n", Version::Two), Some(35));
        assert_eq!(own_bytes("file 900\n", Version::Two), None);
    }

    #[test]
    fn dropping_the_page_cache_leaves_files_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("base/1");
        std::fs::create_dir_all(&deep).unwrap();
        let files = [directory.path().join("one"), deep.join("two")];
        for file in &files {
            std::fs::write(file, file.display().to_string()).unwrap();
        }
        drop_page_cache(directory.path());
        drop_page_cache(&directory.path().join("not there"));
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(text, file.display().to_string());
        }
    }

    #[test]
    fn what_the_kernel_holds_for_processes_is_their_own() {
        let here = tempfile::tempdir().unwrap();
        let group = MemoryGroup {
            directory: here.path().to_owned(),
            version: Version::One,
        };
        let files = group.files();
        std::fs::write(&files.statistics, "total_rss 40\ntotal_shmem 2\n").unwrap();
        assert_eq!(files.own_bytes(), Some(42), "a kernel without that counter");
        std::fs::write(&files.kernel, "1000\n").unwrap();
        assert_eq!(files.own_bytes(), Some(1_042));
    }

    #[test]
    fn a_group_is_gone_when_dropped() {
        let group = match MemoryGroup::make(1 << 30) {
            Ok(group) => group,
            Err(why) => return test_support::skip(format_args!("no memory control group: {why}")),
        };
        let directory = group.directory.clone();
        assert!(directory.exists());
        drop(group);
        assert!(!directory.exists());
    }
}

//! I/O of other processes on the volume, where the kernel's block trace cannot be read.
//!
//! Two figures are known, and neither is too small: what the device moved beyond the I/O of the
//! server's processes, which has the file system's journal in it, and the I/O of all other
//! processes, which has that on other devices in it. The smaller of both is the estimate.

use crate::database::owners::{ServerProcess, main_process};
use measure::result::OtherIo;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The process that starts all others.
const FIRST: u32 = 1;
/// The process that starts all threads of the kernel.
const KERNEL: u32 = 2;
/// Other processes that are named in the result.
const NAMED: usize = 3;

/// Bytes that processes have read from storage, and that they have written or will have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Moved {
    /// The main process of the server.
    main: u32,
    server_bytes: u64,
    /// Of other processes, by number.
    others: HashMap<u32, (String, u64)>,
}

/// Compares the I/O of the server's processes with that of the others.
#[derive(Debug)]
pub(super) struct ProcessIo {
    server: ServerProcess,
    began: Option<Moved>,
}

impl ProcessIo {
    pub fn new(server: ServerProcess) -> Self {
        Self {
            server,
            began: None,
        }
    }

    /// Counts from now on.
    pub fn begin(&mut self) {
        self.began = self.read();
    }

    fn read(&self) -> Option<Moved> {
        moved(Path::new("/proc"), main_process(&self.server)?)
    }

    /// The I/O of other processes among this many bytes of the devices; `None` if the processes of
    /// all users cannot be read (only root may), or the server was restarted.
    pub fn others(&self, device_bytes: u64) -> Option<OtherIo> {
        others_since(self.began.as_ref()?, &self.read()?, device_bytes)
    }
}

fn others_since(before: &Moved, after: &Moved, device_bytes: u64) -> Option<OtherIo> {
    if before.main != after.main {
        return None;
    }
    // A process that ends leaves its count to its parent, so that only the sum is right.
    let sum = |moved: &Moved| moved.others.values().map(|(_, bytes)| bytes).sum::<u64>();
    let by_others = sum(after).saturating_sub(sum(before));
    let by_server = after.server_bytes.saturating_sub(before.server_bytes);
    let bytes = by_others.min(device_bytes.saturating_sub(by_server));
    let mut names = BTreeMap::<&str, u64>::new();
    for (process, (name, bytes)) in &after.others {
        let earlier = before.others.get(process).map_or(0, |(_, bytes)| *bytes);
        *names.entry(name).or_default() += bytes.saturating_sub(earlier);
    }
    let mut names: Vec<_> = names.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    names.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let names = names.into_iter().take(NAMED);
    Some(OtherIo {
        requests: None,
        bytes,
        share_percent: 100.0 * bytes as f64 / device_bytes.max(1) as f64,
        processes: names.map(|(name, _)| name.to_owned()).collect(),
    })
}

/// The counts of all processes but the kernel's; `None` if any cannot be read.
fn moved(proc: &Path, main: u32) -> Option<Moved> {
    let mut moved = Moved {
        main,
        ..Moved::default()
    };
    for entry in fs::read_dir(proc).ok()?.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // One that has ended meanwhile.
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else {
            continue;
        };
        let parent = number(&status, "PPid:")?;
        let parent = u32::try_from(parent).ok()?;
        if process == KERNEL || parent == KERNEL {
            continue;
        }
        let counts = match fs::read_to_string(entry.path().join("io")) {
            Ok(counts) => counts,
            // That of a container may belong to whoever runs it; it starts others, and does little.
            Err(_) if process == FIRST => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(_) => continue,
        };
        let count = |name: &str| number(&counts, name).unwrap_or(0);
        let written = count("write_bytes:").saturating_sub(count("cancelled_write_bytes:"));
        let bytes = count("read_bytes:") + written;
        if process == main || parent == main {
            moved.server_bytes += bytes;
        } else {
            let command = status.lines().find_map(|line| line.strip_prefix("Name:"));
            let command = command.unwrap_or_default().trim().to_owned();
            moved.others.insert(process, (command, bytes));
        }
    }
    Some(moved)
}

/// The number after a name at the beginning of a line.
fn number(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(proc: &Path, process: u32, parent: u32, name: &str, bytes: [u64; 3]) {
        let directory = proc.join(process.to_string());
        fs::create_dir_all(&directory).unwrap();
        let status = format!("Name:\t{name}\nPPid:\t{parent}\n");
        fs::write(directory.join("status"), status).unwrap();
        let [read, written, cancelled] = bytes;
        let counts = format!(
            "rchar: 9\nread_bytes: {read}\nwrite_bytes: {written}\n\
             cancelled_write_bytes: {cancelled}\n"
        );
        fs::write(directory.join("io"), counts).unwrap();
    }

    fn other(io: &OtherIo) -> (u64, f64, Vec<&str>) {
        let names = io.processes.iter().map(String::as_str).collect();
        (io.bytes, io.share_percent, names)
    }

    #[test]
    fn the_smaller_of_both_bounds_is_the_io_of_others() {
        let room = tempfile::tempdir().unwrap();
        let proc = room.path();
        put(proc, 100, 1, "postgres", [1_000, 0, 0]);
        put(proc, 110, 100, "postgres", [500, 500, 0]);
        put(proc, 300, 1, "cp", [70, 0, 0]);
        put(proc, 7, KERNEL, "kworker", [9_999, 9_999, 0]);
        let before = moved(proc, 100).unwrap();
        assert_eq!(before.server_bytes, 2_000);
        // A session has ended, and left its count to the main process.
        fs::remove_dir_all(proc.join("110")).unwrap();
        put(proc, 100, 1, "postgres", [2_300, 700, 0]);
        put(proc, 300, 1, "cp", [170, 250, 50]);
        put(proc, 301, 1, "idle", [0, 0, 0]);
        let after = moved(proc, 100).unwrap();
        // The server moved 1,000 bytes, the copy 300.
        let io = others_since(&before, &after, 1_500).unwrap();
        assert_eq!(other(&io), (300, 20.0, vec!["cp"]), "200 are the journal's");
        let io = others_since(&before, &after, 1_250).unwrap();
        assert_eq!(other(&io), (250, 20.0, vec!["cp"]), "50 are elsewhere");
        let io = others_since(&before, &after, 900).unwrap();
        assert_eq!(other(&io).0, 0);
        // Another server since.
        let restarted = moved(proc, 300).unwrap();
        assert_eq!(others_since(&before, &restarted, 1_500), None);
    }
}

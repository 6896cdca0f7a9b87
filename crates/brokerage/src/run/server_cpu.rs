//! CPU time of a database server that runs on this machine.

use crate::database::owners::{ServerProcess, main_process};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Measures how busy the CPUs were with the server.
#[derive(Debug)]
pub(super) struct ServerCpu {
    server: ServerProcess,
    began: Option<(Used, Instant)>,
}

/// CPU time of a server so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used {
    /// Process id of the server's main process.
    main: u32,
    /// Clock ticks of that process and of its children, those that have ended included.
    ticks: u64,
}

impl ServerCpu {
    /// For a server; for one that is unknown or elsewhere nothing is measured.
    pub fn new(server: ServerProcess) -> Self {
        Self {
            server,
            began: None,
        }
    }

    /// Measures from now on.
    pub fn begin(&mut self) {
        self.began = self.used().map(|used| (used, Instant::now()));
    }

    /// CPU time since then, in percent of one core; `None` if the server's processes are not known or
    /// it was restarted.
    pub fn percent(&self) -> Option<f64> {
        let (before, since) = self.began?;
        let after = self.used().filter(|after| after.main == before.main)?;
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        let used_s = after.ticks.saturating_sub(before.ticks) as f64 / per_second;
        let length_s = since.elapsed().as_secs_f64();
        (length_s > 0.0).then(|| 100.0 * used_s / length_s)
    }

    fn used(&self) -> Option<Used> {
        match self.server {
            // The database is part of this process, whose CPU time is measured already.
            ServerProcess::Own | ServerProcess::Unknown => None,
            ServerProcess::InFile(_) => used(Path::new("/proc"), main_process(&self.server)?),
        }
    }
}

/// CPU time of a process and its children.
fn used(proc: &Path, main: u32) -> Option<Used> {
    let stat = |process: &str| {
        let text = fs::read_to_string(proc.join(process).join("stat")).ok()?;
        parent_and_ticks(&text)
    };
    let mut ticks = stat(&main.to_string())?.1;
    for entry in fs::read_dir(proc).ok()?.flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if name.bytes().all(|byte| byte.is_ascii_digit())
            && let Some((parent, of_child)) = stat(name)
            && parent == main
        {
            ticks += of_child;
        }
    }
    Some(Used { main, ticks })
}

/// The parent of a process, and the clock ticks that it and those of its children which have ended
/// took, in user and kernel mode (proc(5), `/proc/PID/stat`). The name of the program stands in
/// parentheses and may hold spaces and parentheses itself.
fn parent_and_ticks(stat: &str) -> Option<(u32, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    // Nine fields lie between: from the process group to the major faults of the children.
    let mut times = fields.skip(9);
    let mut ticks = 0;
    for _ in 0..4 {
        ticks += times.next()?.parse::<u64>().ok()?;
    }
    Some((parent, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(proc: &Path, process: u32, parent: u32, ticks: [u64; 4]) {
        let [user, system, of_children, in_children] = ticks;
        let text = format!(
            "{process} (post) gres) S {parent} 1 1 0 -1 4194560 20 900 3 4 {user} {system} \
             {of_children} {in_children} 20 0 1 0 500 1000 10\n"
        );
        fs::create_dir_all(proc.join(process.to_string())).unwrap();
        fs::write(proc.join(process.to_string()).join("stat"), text).unwrap();
    }

    #[test]
    fn a_server_is_its_main_process_with_all_of_its_children() {
        let room = tempfile::tempdir().unwrap();
        let proc = room.path();
        put(proc, 100, 1, [10, 5, 1_000, 100]);
        put(proc, 110, 100, [200, 20, 0, 0]);
        put(proc, 120, 110, [7_000, 0, 0, 0]);
        put(proc, 300, 1, [9_999, 0, 0, 0]);
        fs::create_dir(proc.join("self")).unwrap();
        let ticks = 10 + 5 + 1_000 + 100 + 200 + 20;
        assert_eq!(used(proc, 100), Some(Used { main: 100, ticks }));
        assert_eq!(used(proc, 99), None);
    }

    #[test]
    fn the_time_of_a_real_process_is_read() {
        let own = used(Path::new("/proc"), std::process::id()).unwrap();
        let text = fs::read_to_string("/proc/self/stat").unwrap();
        let (parent, _) = parent_and_ticks(&text).unwrap();
        assert_eq!(parent, std::os::unix::process::parent_id());
        assert_eq!(own.main, std::process::id());
    }
}

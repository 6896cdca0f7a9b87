//! The server by the process of a session: what a user may know who may not see the data directory.
//!
//! The server changes its working directory to its data directory when it starts, and all sessions are
//! children of it.

use std::fs;
use std::path::PathBuf;

/// The data directory of the server whose session is this process on this machine. `None` if it is not
/// here, as in a container or elsewhere: the process must be a session of this user on this database, and its
/// parent the server that the directory belongs to.
pub(super) fn data_directory(backend: u32, user: &str, database: &str) -> Option<PathBuf> {
    let title = fs::read(format!("/proc/{backend}/cmdline")).ok()?;
    let title = String::from_utf8_lossy(&title).into_owned();
    let is_session =
        title.starts_with("postgres: ") && title.contains(&format!("{user} {database} "));
    let server = parent(&fs::read_to_string(format!("/proc/{backend}/status")).ok()?)?;
    let directory = fs::read_link(format!("/proc/{server}/cwd")).ok()?;
    let holder = fs::read_to_string(directory.join("postmaster.pid")).ok()?;
    let holds = holder.lines().next()?.trim() == server.to_string();
    (is_session && holds).then_some(directory)
}

fn parent(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_is_no_session() {
        assert_eq!(data_directory(std::process::id(), "me", "shop"), None);
        assert_eq!(data_directory(u32::MAX, "me", "shop"), None);
        assert_eq!(parent("Name:\tpostgres\nPPid:\t17\nUid:\t0"), Some(17));
    }
}

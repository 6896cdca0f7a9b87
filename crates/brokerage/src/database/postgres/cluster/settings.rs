//! Configuration of a server of our own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// The port in the name of the socket.
pub(super) const PORT: u16 = 5432;

/// Memory of a backend besides the shared buffers, at most, and its average while transactions run.
const SESSION_BYTES: u64 = 12 * MIB;

/// Settings of a server of our own. Those that are not here keep their defaults, so that no commit
/// is lost: fsync, full_page_writes and checksums are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `shared_buffers`, the server's own page cache.
    pub shared_buffers_bytes: u64,
    /// How much page cache the server's files may use; without a limit if `None`.
    pub page_cache_bytes: Option<u64>,
    /// A directory for the WAL on another volume.
    pub log_directory: Option<PathBuf>,
    /// `max_wal_size`, which triggers checkpoints.
    pub max_wal_size_bytes: u64,
    /// Time between checkpoints, at most.
    pub checkpoint_timeout: Duration,
    /// `max_connections`, for clients and loaders together.
    pub connections: u32,
}

impl Settings {
    /// Settings for a server with this much `shared_buffers` and practically no page cache.
    #[must_use]
    pub fn with_memory(shared_buffers_bytes: u64) -> Self {
        Self {
            shared_buffers_bytes,
            page_cache_bytes: None,
            log_directory: None,
            max_wal_size_bytes: 4 * GIB,
            checkpoint_timeout: Duration::from_secs(300),
            connections: 200,
        }
    }

    /// `maintenance_work_mem`: a quarter of the shared buffers, from 16 MiB to 1 GiB.
    fn maintenance_bytes(&self) -> u64 {
        (self.shared_buffers_bytes / 4).clamp(16 * MIB, GIB)
    }

    /// Memory of all processes of the server and their share of the page cache.
    pub(super) fn memory_bytes(&self, page_cache_bytes: u64) -> u64 {
        self.shared_buffers_bytes
            + page_cache_bytes
            + SESSION_BYTES * u64::from(self.connections)
            + 4 * self.maintenance_bytes()
            + 128 * MIB
    }

    /// The contents of postgresql.conf.
    pub(super) fn file(&self, sockets: &Path, major: u32) -> String {
        let known_cache = self.page_cache_bytes.unwrap_or(4 * GIB);
        let kib = |bytes: u64| format!("{}kB", (bytes / KIB).max(128));
        let mib = |bytes: u64| format!("{}MB", (bytes / MIB).max(32));
        let seconds = self.checkpoint_timeout.as_secs().clamp(30, 86_400);
        let mut lines = vec![
            ("listen_addresses", String::new()),
            ("unix_socket_directories", sockets.display().to_string()),
            ("unix_socket_permissions", "0700".to_owned()),
            ("port", PORT.to_string()),
            ("max_connections", self.connections.to_string()),
            ("shared_buffers", kib(self.shared_buffers_bytes)),
            (
                "effective_cache_size",
                kib(self.shared_buffers_bytes + known_cache),
            ),
            ("maintenance_work_mem", kib(self.maintenance_bytes())),
            ("huge_pages", "try".to_owned()),
            ("fsync", "on".to_owned()),
            ("full_page_writes", "on".to_owned()),
            ("synchronous_commit", "on".to_owned()),
            ("wal_level", "replica".to_owned()),
            ("max_wal_size", mib(self.max_wal_size_bytes)),
            ("min_wal_size", mib(self.max_wal_size_bytes / 4)),
            ("checkpoint_timeout", format!("{seconds}s")),
            ("checkpoint_completion_target", "0.9".to_owned()),
            ("autovacuum", "on".to_owned()),
            ("track_io_timing", "on".to_owned()),
            ("jit", "off".to_owned()),
            ("timezone", "UTC".to_owned()),
            ("log_timezone", "UTC".to_owned()),
            ("log_checkpoints", "on".to_owned()),
            ("log_line_prefix", "%m [%p] ".to_owned()),
            ("lc_messages", "C".to_owned()),
        ];
        if major >= 14 {
            lines.push(("track_wal_io_timing", "on".to_owned()));
        }
        let mut file = String::from("# Written by Proofload at every start.\n");
        for (name, value) in lines {
            // Writing to a String does not fail.
            let _ = writeln!(file, "{name} = '{}'", value.replace('\'', "''"));
        }
        file
    }
}

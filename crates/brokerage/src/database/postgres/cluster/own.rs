//! What a server of our own has in its directories: only that is removed with it.

use std::io;
use std::path::{Path, PathBuf};

use runtime::host::{DirectoryHandle, Entry, EntryKind};

/// The file by which a directory is known as ours: it says how far the cluster is built.
pub(super) const MARKER: &str = "proofload-cluster";

/// The server's settings, in its data directory.
pub(super) const SETTINGS_FILE: &str = "postgresql.conf";

/// A directory whose entries are known by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The directory that Proofload makes.
    Cluster,
    /// The data directory in it, made by `initdb`.
    Data,
    /// The directory of the databases, each in one named by its number.
    Base,
    /// A directory of the server's below these.
    Inner,
}

/// Files and directories of the server's data directory beside those called `pg_...` or
/// `postgresql....conf`.
const DATA: [&str; 10] = [
    "PG_VERSION",
    "base",
    "global",
    "postmaster.opts",
    "postmaster.pid",
    "current_logfiles",
    "log",
    "backup_label",
    "backup_label.old",
    "tablespace_map",
];

/// What the names of files in them begin with that have a word of their own.
const INNER: [&str; 15] = [
    "PG_VERSION",
    "archive_status",
    "db_",
    "global.",
    "mappings",
    "members",
    "mmap.",
    "offsets",
    "pg_",
    "pgs",
    "replorigin_checkpoint",
    "snapshots",
    "state",
    "summaries",
    "xlogtemp.",
];

/// What stands in other names there beside numbers.
const INNER_WORDS: [&str; 11] = [
    "backup", "done", "fsm", "history", "init", "map", "partial", "ready", "snap", "tmp", "vm",
];

/// Whether the server names files so that have no word of their own: numbers, which may be hexadecimal or those of
/// a temporary table, with words behind them.
fn is_numbered(name: &str) -> bool {
    let is_number = |part: &str| {
        let digits = part.strip_prefix('t').unwrap_or(part);
        let is_digit = |c: u8| c.is_ascii_digit() || (b'A'..=b'F').contains(&c);
        !digits.is_empty() && digits.bytes().all(is_digit)
    };
    let parts = || name.split(['.', '_', '-']);
    parts().any(is_number) && parts().all(|part| is_number(part) || INNER_WORDS.contains(&part))
}

impl Level {
    /// Whether Proofload or the server makes entries of this name.
    fn is_own(self, name: &str) -> bool {
        // A file that is replaced has this ending for a moment.
        let is_settings = |name: &str| {
            let name = name.strip_suffix(".tmp").unwrap_or(name);
            name == SETTINGS_FILE || name.starts_with("postgresql.") && name.ends_with(".conf")
        };
        match self {
            Self::Cluster => {
                let name = name.strip_suffix(".tmp").unwrap_or(name);
                [MARKER, "data", "server.log", "socket"].contains(&name)
            }
            Self::Data => {
                let is_core = name == "core" || name.starts_with("core.");
                let is_signal = ["standby.signal", "recovery.signal"].contains(&name);
                let is_known = is_core || is_signal || DATA.contains(&name);
                is_known || name.starts_with("pg_") || is_settings(name)
            }
            Self::Base => {
                name == "pgsql_tmp" || !name.is_empty() && name.bytes().all(|c| c.is_ascii_digit())
            }
            Self::Inner => is_numbered(name) || INNER.iter().any(|begin| name.starts_with(begin)),
        }
    }

    /// What the directory of this name in it is, if its entries are known by their names, too.
    fn below(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Cluster, "data") => Some(Self::Data),
            (Self::Data, "base") => Some(Self::Base),
            // All that is in these the server names as it likes, or as its settings say.
            (Self::Data, "log") | (Self::Base, "pgsql_tmp") => None,
            (Self::Data | Self::Base | Self::Inner, _) => Some(Self::Inner),
            _ => None,
        }
    }
}

/// Removes from a directory what the server has in it. What else is there is added to `left`.
pub(super) fn clear(
    directory: &DirectoryHandle,
    path: &Path,
    level: Level,
    left: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in directory.entries()? {
        let path = path.join(&entry.name);
        let name = entry.name.to_string_lossy();
        let is_removed = match level.is_own(&name) {
            false => false,
            true => remove(directory, &path, &entry, level.below(&name), left)?,
        };
        if !is_removed && !left.iter().any(|one| one.starts_with(&path)) {
            left.push(path);
        }
    }
    Ok(())
}

/// Removes one entry; returns whether it is gone.
fn remove(
    directory: &DirectoryHandle,
    path: &Path,
    entry: &Entry,
    below: Option<Level>,
    left: &mut Vec<PathBuf>,
) -> io::Result<bool> {
    match (entry.kind, below) {
        (EntryKind::Directory, Some(level)) => {
            let opened = directory.open_directory(&entry.name)?;
            if opened.identity()? != entry.identity {
                return Ok(false);
            }
            let before = left.len();
            clear(&opened, path, level, left)?;
            match left.len() == before {
                true => directory.remove_directory(&entry.name, entry.identity),
                false => Ok(false),
            }
        }
        (EntryKind::Directory, None) => directory.remove_tree(&entry.name, entry.identity),
        _ => directory.remove_file(&entry.name, entry.identity),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_the_server_has_not_made_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        let own = [
            "proofload-cluster",
            "server.log",
            "data/PG_VERSION",
            "data/pg_wal/000000010000000000000001",
            "data/postgresql.conf.tmp",
            "data/postgresql.auto.conf",
            "data/base/5/1259_fsm",
            "data/base/5/t3_16384.1",
            "data/base/5/pg_internal.init.77",
            "data/base/pgsql_tmp/pgsql_tmp77.0",
            "data/base/pgsql_tmp/pgsql_tmp77.1.fileset/i1of4.p0.0",
            "data/global/1260",
            "data/global/pg_control",
            "data/pg_logical/snapshots/0-15D3AB8.snap",
            "data/pg_multixact/members/0000",
            "data/pg_stat/pgstat.stat",
            "data/pg_wal/00000001.history",
            "data/pg_wal/archive_status/000000010000000000000001.done",
            "data/pg_wal/xlogtemp.77",
        ];
        let foreign = [
            "thesis.doc",
            "data/thesis.doc",
            "data/base/thesis/part",
            "data/base/5/thesis.doc",
            "data/global/thesis.doc",
            "data/pg_wal/archive_status/thesis",
            "data/pg_xact/Thesis 2.doc",
        ];
        for file in own.iter().chain(&foreign) {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut left = Vec::new();
        let handle = DirectoryHandle::open(root).unwrap();
        clear(&handle, root, Level::Cluster, &mut left).unwrap();
        left.sort();
        let mut expected = foreign;
        expected[2] = "data/base/thesis";
        expected.sort_unstable();
        assert_eq!(left, expected.map(|file| root.join(file)));
        assert!(own.iter().all(|file| !root.join(file).exists()));
        assert!(foreign.iter().all(|file| root.join(file).exists()));
    }
}

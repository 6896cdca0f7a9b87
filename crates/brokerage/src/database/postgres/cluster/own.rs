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
        }
    }

    /// What the directory of this name in it is, if its entries are known by their names, too.
    fn below(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Cluster, "data") => Some(Self::Data),
            (Self::Data, "base") => Some(Self::Base),
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
            "data/base/pgsql_tmp/x",
            "data/global/1260",
        ];
        let foreign = ["thesis.doc", "data/thesis.doc", "data/base/thesis/part"];
        for file in own.iter().chain(&foreign) {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut left = Vec::new();
        let handle = DirectoryHandle::open(root).unwrap();
        clear(&handle, root, Level::Cluster, &mut left).unwrap();
        left.sort();
        let expected = ["data/base/thesis", "data/thesis.doc", "thesis.doc"];
        assert_eq!(left, expected.map(|file| root.join(file)));
        assert!(own.iter().all(|file| !root.join(file).exists()));
        assert!(foreign.iter().all(|file| root.join(file).exists()));
    }
}

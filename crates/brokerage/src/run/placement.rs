//! Whether the files of a server lie on the storage that is measured.
//!
//! The server says where its files are, also behind symbolic links, in tablespaces and in directories of
//! their own; the kernel says which file system each of them is on. What cannot be known is said in a
//! sentence and not guessed: the paths of a server on another machine or in a container mean nothing here,
//! and not every user may see into a data directory.

use crate::database::Database;
use crate::database::owners::{ServerProcess, main_process};
use crate::database::server_files::{Part, ServerFiles};
use measure::host::{device_under, mount_under};
use measure::result::FilesElsewhere;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The storage that is measured, and whose files belong on it.
#[derive(Debug, Clone)]
pub struct Placement {
    /// A directory on the volume that is measured as that of the data.
    pub data: PathBuf,
    /// The same of the log.
    pub log: PathBuf,
    /// The process of the server, if this machine has it.
    pub process: ServerProcess,
}

/// Where the files of a server are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlacedFiles {
    /// Those on another storage than the one that is measured.
    pub elsewhere: BTreeSet<FilesElsewhere>,
    /// What is not known, in sentences.
    pub unknown: BTreeSet<String>,
}

impl PlacedFiles {
    /// Adds what was found at another time.
    pub fn extend(&mut self, other: Self) {
        self.elsewhere.extend(other.elsewhere);
        self.unknown.extend(other.unknown);
    }
}

impl Placement {
    /// Asks the server for its files, and the kernel where they are.
    #[must_use]
    pub fn examine(&self, database: &dyn Database) -> PlacedFiles {
        let measured = self.data.display();
        let unknown = |why: String| {
            PlacedFiles {
            unknown: [format!(
                "Whether all files of the server are on the storage of {measured} was not examined: {why}."
            )]
            .into(),
            ..PlacedFiles::default()
        }
        };
        if main_process(&self.process).is_none() {
            return unknown(
                "this user does not see its process on this machine, so its paths may be those of another \
                 machine or of a container"
                    .to_owned(),
            );
        }
        match database.files() {
            Ok(files) => self.of_files(files),
            Err(error) => unknown(error.to_string().trim_end_matches('.').to_owned()),
        }
    }

    fn of_files(&self, files: ServerFiles) -> PlacedFiles {
        let mut placed = PlacedFiles {
            unknown: files.unknown.into_iter().collect(),
            ..PlacedFiles::default()
        };
        for file in files.files {
            let measured: &[&Path] = match file.part {
                Part::Data => &[&self.data],
                Part::Log => &[&self.log],
                Part::Any => &[&self.log, &self.data],
            };
            match found(&file.path, measured) {
                Ok(None) => {}
                Ok(Some(path)) => drop(placed.elsewhere.insert(described(
                    file.what,
                    &path,
                    measured[0],
                ))),
                Err(error) => drop(
                    placed
                        .unknown
                        .insert(not_seen(&file.what, &file.path, &error)),
                ),
            }
        }
        // By directory: a tablespace has many.
        let mut tables: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for (table, path) in files.tables {
            match found(&path, &[&self.data]) {
                Ok(found) => {
                    if let Some(path) = found {
                        let directory = path.parent().unwrap_or(&path).to_owned();
                        tables.entry(directory).or_default().insert(table.clone());
                    }
                }
                // One stands for all: they are in the same few directories.
                Err(error) => {
                    if placed.unknown.is_empty() {
                        let what = format!("the table {table}");
                        placed.unknown.insert(not_seen(&what, &path, &error));
                    }
                }
            }
        }
        let whole: Vec<PathBuf> = placed
            .elsewhere
            .iter()
            .map(|one| one.path.clone().into())
            .collect();
        for (directory, names) in tables {
            // Where the whole data directory is elsewhere, it stands for what is in it.
            if whole.iter().any(|whole| directory.starts_with(whole)) {
                continue;
            }
            let elsewhere = described(of_tables(&names), &directory, &self.data);
            placed.elsewhere.insert(elsewhere);
        }
        placed
    }
}

/// Where a server on this machine writes its log; `None` if that is not known, or if it cannot be measured because it
/// has no block device.
#[must_use]
pub fn log_directory(database: &dyn Database, process: &ServerProcess) -> Option<PathBuf> {
    main_process(process)?;
    let files = database.files().ok()?.files;
    let log = files.into_iter().find(|file| file.part == Part::Log)?;
    let path = fs::canonicalize(log.path).ok()?;
    device_under(&path)?;
    match path.is_dir() {
        true => Some(path),
        false => path.parent().map(Path::to_owned),
    }
}

/// Tables with a file in a directory, in words.
fn of_tables(names: &BTreeSet<String>) -> String {
    const NAMED: usize = 3;
    let first: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("tables or indexes ({}{more})", first.join(", "))
}

/// The path of a file without symbolic links if it is on none of these volumes.
fn found(path: &Path, measured: &[&Path]) -> io::Result<Option<PathBuf>> {
    let path = fs::canonicalize(path)?;
    for &one in measured {
        if is_same_volume(&path, one)? {
            return Ok(None);
        }
    }
    Ok(Some(path))
}

/// Whether two paths are on one volume: on one file system, or on two of one device or pool, such as subvolumes.
fn is_same_volume(one: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(one)?.dev() == fs::metadata(other)?.dev() {
        return Ok(true);
    }
    let device = |path| device_under(path).map(|device| device.name);
    if let (Some(one), Some(other)) = (device(one), device(other)) {
        return Ok(one == other);
    }
    // The file systems of a pool of ZFS have no block device; they are named after the pool.
    let pool = |path| {
        let mount = mount_under(path).filter(|mount| mount.file_system == "zfs")?;
        Some(
            mount
                .source
                .split('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    Ok(pool(one).is_some_and(|one| pool(other) == Some(one)))
}

fn described(what: String, path: &Path, measured: &Path) -> FilesElsewhere {
    let file_system = mount_under(path).map_or_else(
        || "a file system that the kernel does not name".to_owned(),
        |mount| {
            let (kind, source) = (mount.file_system, mount.source);
            // Those without a device are often called what they are.
            let of = match kind == source {
                true => String::new(),
                false => format!(" of {source}"),
            };
            format!("{kind}{of}, mounted on {}", mount.mount_point)
        },
    );
    FilesElsewhere {
        what,
        path: path.display().to_string(),
        file_system,
        measured: measured.display().to_string(),
    }
}

fn not_seen(what: &str, path: &Path, error: &io::Error) -> String {
    format!(
        "Which storage {what} of the server is on is not known: {} cannot be examined ({error}). As root, or as \
         the user of the server, it can be.",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn placement(directory: &Path) -> Placement {
        Placement {
            data: directory.to_owned(),
            log: directory.to_owned(),
            process: ServerProcess::Own,
        }
    }

    /// The kernel has `/proc` on a file system of its own on every machine.
    const ELSEWHERE: &str = "/proc/self/status";

    #[test]
    fn files_behind_links_are_where_the_links_lead() {
        let room = tempfile::tempdir().unwrap();
        symlink(ELSEWHERE, room.path().join("log")).unwrap();
        symlink(room.path(), room.path().join("here")).unwrap();
        let mut files = ServerFiles::default();
        files.add("the data directory", room.path().join("here"), Part::Data);
        files.add("the WAL", room.path().join("log"), Part::Log);
        for table in ["a", "b", "c", "d"] {
            let path = room.path().join("log");
            files.tables.push((table.to_owned(), path));
        }
        files.tables.push(("e".to_owned(), room.path().to_owned()));
        let placed = placement(room.path()).of_files(files);
        assert_eq!(placed.unknown, BTreeSet::new());
        let what: Vec<&str> = placed
            .elsewhere
            .iter()
            .map(|one| one.what.as_str())
            .collect();
        assert_eq!(what, ["tables or indexes (a, b, c and 1 more)", "the WAL"]);
        for one in &placed.elsewhere {
            assert!(one.path.starts_with("/proc/"), "{one:?}");
            assert!(one.file_system.ends_with(", mounted on /proc"), "{one:?}");
            assert_eq!(Path::new(&one.measured), room.path());
        }
    }

    #[test]
    fn a_data_directory_stands_for_the_tables_in_it() {
        let room = tempfile::tempdir().unwrap();
        let mut files = ServerFiles::default();
        files.add("the data directory", "/proc/self".into(), Part::Data);
        files.tables.push(("a".to_owned(), ELSEWHERE.into()));
        let placed = placement(room.path()).of_files(files);
        let what: Vec<&str> = placed
            .elsewhere
            .iter()
            .map(|one| one.what.as_str())
            .collect();
        assert_eq!(what, ["the data directory"]);
    }

    #[test]
    fn the_binary_log_may_be_on_either_volume() {
        let room = tempfile::tempdir().unwrap();
        let mut files = ServerFiles::default();
        files.add("the binary log", room.path().to_owned(), Part::Any);
        files.add("the redo log", room.path().to_owned(), Part::Log);
        let both = Placement {
            log: PathBuf::from(ELSEWHERE),
            ..placement(room.path())
        };
        let placed = both.of_files(files);
        let what: Vec<&str> = placed
            .elsewhere
            .iter()
            .map(|one| one.what.as_str())
            .collect();
        assert_eq!(what, ["the redo log"]);
    }

    #[test]
    fn what_cannot_be_examined_is_said() {
        let room = tempfile::tempdir().unwrap();
        let mut files = ServerFiles::default();
        files.add("the WAL", room.path().join("nothing"), Part::Log);
        let placed = placement(room.path()).of_files(files);
        assert_eq!(placed.elsewhere, BTreeSet::new());
        let unknown = placed.unknown.first().unwrap();
        assert!(unknown.starts_with("Which storage the WAL of the server is on is not known: "));
    }
}

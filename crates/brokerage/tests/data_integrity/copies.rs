//! Databases with the smallest data set. It is generated and indexed once for each kind of database; every test
//! has a copy, of a server that was stopped.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use super::smallest;
use crate::{common, data_set};
use brokerage::database::mariadb::MariaDb;
use brokerage::database::postgres::Cluster;
use brokerage::database::sqlite::Sqlite;
use tempfile::TempDir;

/// An archive without a name, so that it is gone with the program.
struct Archive(File);

impl Archive {
    /// Of an entry of a directory.
    fn of(directory: &Path, entry: &str) -> Self {
        let file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile());
        let file = file.unwrap();
        let into = file.try_clone().unwrap();
        let packed = Command::new("tar")
            .arg("--create")
            .arg("--directory")
            .args([directory, Path::new(entry)])
            .stdout(into)
            .status();
        assert!(packed.unwrap().success());
        Self(file)
    }

    /// Puts the entry into a directory, with its owners and permissions.
    fn unpack(&self, into: &Path) {
        // Opened again, each reader has a position of its own.
        let again = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        let unpacked = Command::new("tar")
            .args(["--extract", "--same-permissions", "--directory"])
            .arg(into)
            .stdin(File::open(again).unwrap())
            .status();
        assert!(unpacked.unwrap().success());
    }
}

/// A file in this directory.
pub fn sqlite(directory: &Path) -> Sqlite {
    static ARCHIVE: OnceLock<Archive> = OnceLock::new();
    let new = |directory: &Path| Sqlite::new(directory, 64 << 20, 8);
    let archive = ARCHIVE.get_or_init(|| {
        let room = common::room();
        let sqlite = new(room.path());
        data_set::build(&sqlite, smallest());
        let path = sqlite.path().to_owned();
        drop(sqlite);
        in_one_file(&path);
        let name = path.file_name().unwrap();
        Archive::of(room.path(), name.to_str().unwrap())
    });
    archive.unpack(directory);
    new(directory)
}

/// Moves what is in the log of a file into the file.
pub fn in_one_file(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
    connection.query_row(truncate, [], |_| Ok(())).unwrap();
}

/// A PostgreSQL server, or `None` and a message where there is no PostgreSQL.
pub fn cluster(room: &TempDir) -> Option<Cluster> {
    static ARCHIVE: OnceLock<Option<Archive>> = OnceLock::new();
    let archive = ARCHIVE.get_or_init(|| {
        let room = common::room();
        let mut cluster = common::cluster(&room)?;
        data_set::build(&cluster.database().unwrap(), smallest());
        cluster.stop();
        Some(Archive::of(room.path(), "postgres"))
    });
    if let Some(archive) = archive {
        archive.unpack(room.path());
    }
    common::cluster(room)
}

/// A MariaDB server, or `None` and a message where there is no MariaDB.
pub fn mariadb() -> Option<common::mariadb::Server> {
    static ARCHIVE: OnceLock<Option<Archive>> = OnceLock::new();
    let archive = ARCHIVE.get_or_init(|| {
        let mut server = common::mariadb::server()?;
        let maria = MariaDb::open(&server.address()).unwrap();
        data_set::build(&maria, smallest());
        server.stop();
        Some(Archive::of(server.room.path(), "data"))
    });
    match archive {
        Some(archive) => {
            let room = common::mariadb::room();
            archive.unpack(room.path());
            Some(common::mariadb::Server::start_in(room))
        }
        None => common::mariadb::server(),
    }
}

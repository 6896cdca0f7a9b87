use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{TimedConnection, TimedVfs};

const DATABASE: &str = "database";
const LOG: &str = "write-ahead log";
const JOURNAL: &str = "rollback journal";
const TEMPORARY: &str = "temporary files";

/// Reads, writes and syncs of a kind of files.
fn counted(vfs: &TimedVfs, kind: &str) -> [i64; 3] {
    let counters = &vfs.counters()[kind];
    [counters[0], counters[2], counters[4]]
}

/// A connection to a file, which is created if it is not there.
fn open(vfs: &Arc<TimedVfs>, path: &Path) -> rusqlite::Result<TimedConnection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    vfs.open(path, flags)
}

/// A connection to a new file with a write-ahead log and a table.
fn with_table(vfs: &Arc<TimedVfs>, path: &Path) -> TimedConnection {
    let connection = open(vfs, path).unwrap();
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    let sql = "PRAGMA synchronous = FULL; CREATE TABLE t (n INTEGER)";
    connection.execute_batch(sql).unwrap();
    connection
}

fn insert(connection: &Connection, number: i64) {
    let inserted = connection.execute("INSERT INTO t VALUES (?)", [number]);
    assert_eq!(inserted.unwrap(), 1);
}

fn sum(connection: &Connection) -> i64 {
    let sum = connection.query_row("SELECT SUM(n) FROM t", [], |row| row.get(0));
    sum.unwrap()
}

#[test]
fn a_commit_is_the_writes_of_a_page_and_a_sync_of_the_log() {
    let room = tempfile::tempdir().unwrap();
    let vfs = TimedVfs::register().unwrap();
    let connection = with_table(&vfs, &room.path().join("one"));
    let before = [DATABASE, LOG].map(|kind| counted(&vfs, kind));
    insert(&connection, 1);
    insert(&connection, 2);
    let after = [DATABASE, LOG].map(|kind| counted(&vfs, kind));
    assert_eq!(after[0], before[0]);
    // The header of a page in the log and the page, twice.
    let [reads, writes, syncs] = before[1];
    assert_eq!(after[1], [reads, writes + 4, syncs + 2]);
    // A checkpoint reads the pages from the log, and writes each of them once.
    let checkpointed: [i64; 3] = connection
        .query_row("PRAGMA wal_checkpoint", [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?])
        })
        .unwrap();
    assert_eq!(checkpointed, [0, 4, 4]);
    let [reads, writes, syncs] = after[1];
    assert_eq!(counted(&vfs, LOG), [reads + 2, writes, syncs + 1]);
    let [reads, writes, syncs] = after[0];
    assert_eq!(counted(&vfs, DATABASE), [reads, writes + 2, syncs + 1]);
}

#[test]
fn times_belong_to_calls() {
    let room = tempfile::tempdir().unwrap();
    let vfs = TimedVfs::register().unwrap();
    let none = vfs.counters();
    assert!(none.values().flatten().all(|value| *value == 0), "{none:?}");
    let connection = with_table(&vfs, &room.path().join("one"));
    for number in 0..100 {
        insert(&connection, number);
    }
    let counters = vfs.counters();
    // Two hundred writes take a microsecond on any machine.
    assert!(counters[LOG][3] > 0, "{counters:?}");
    assert!(counters[LOG][5] > 0, "{counters:?}");
    assert_eq!(counters[TEMPORARY], [0; 6]);
}

#[test]
fn connections_to_a_file_are_counted_together_and_see_each_other() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("one");
    let vfs = TimedVfs::register().unwrap();
    let one = with_table(&vfs, &path);
    insert(&one, 1);
    let two = open(&vfs, &path).unwrap();
    let [_, writes, syncs] = counted(&vfs, LOG);
    insert(&two, 2);
    insert(&one, 3);
    assert_eq!([sum(&one), sum(&two)], [6, 6]);
    assert_eq!(counted(&vfs, LOG)[1..], [writes + 4, syncs + 2]);
    // The index of the log is in the memory of the process, as with the real VFS.
    assert!(path.with_file_name("one-wal").exists());
    assert!(!path.with_file_name("one-shm").exists());
    // One who writes keeps out the other.
    two.busy_timeout(Duration::ZERO).unwrap();
    one.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = two.execute_batch("BEGIN IMMEDIATE").unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
}

#[test]
fn counters_go_on_when_a_file_is_opened_again_and_end_with_the_last_connection() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("one");
    let vfs = TimedVfs::register().unwrap();
    let connection = with_table(&vfs, &path);
    insert(&connection, 1);
    drop(connection);
    // The log was written back and removed.
    assert!(!path.with_file_name("one-wal").exists());
    let writes = counted(&vfs, DATABASE)[1];
    assert!(writes > 0);
    let connection = open(&vfs, &path).unwrap();
    assert_eq!(sum(&connection), 1);
    insert(&connection, 1);
    assert_eq!(counted(&vfs, DATABASE)[1], writes);
    assert_eq!(Arc::strong_count(&vfs), 2);
    // The connection keeps the VFS.
    let left = Arc::downgrade(&vfs);
    drop(vfs);
    assert_eq!(sum(&connection), 2);
    drop(connection);
    assert!(left.upgrade().is_none());
    assert_eq!(open_files(room.path()), 0);
}

#[test]
fn the_name_of_a_vfs_ends_with_it() {
    let vfs = TimedVfs::register().unwrap();
    let name = vfs.name().to_owned();
    let memory = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        Connection::open_with_flags_and_vfs(":memory:", flags, name.as_c_str())
    };
    memory().unwrap();
    drop(vfs);
    let error = memory().unwrap_err().to_string();
    assert!(error.contains("no such vfs"), "{error}");
}

#[test]
fn a_file_that_cannot_be_opened_leaves_nothing() {
    let room = tempfile::tempdir().unwrap();
    let vfs = TimedVfs::register().unwrap();
    fs::create_dir(room.path().join("directory")).unwrap();
    for name in ["directory", "absent/one"] {
        let Err(error) = open(&vfs, &room.path().join(name)) else {
            panic!("{name} was opened");
        };
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen));
    }
    assert_eq!(open_files(room.path()), 0);
    assert_eq!(Arc::strong_count(&vfs), 1);
}

/// The descriptors of this process that lead below a directory.
fn open_files(directory: &Path) -> usize {
    let directory = directory.canonicalize().unwrap();
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let paths = descriptors.filter_map(|one| fs::read_link(one.path()).ok());
    paths.filter(|path| path.starts_with(&directory)).count()
}

#[test]
fn databases_are_counted_apart() {
    let room = tempfile::tempdir().unwrap();
    let [one, two] = [(); 2].map(|()| TimedVfs::register().unwrap());
    let first = with_table(&one, &room.path().join("one"));
    assert_eq!(two.counters()[LOG], [0; 6]);
    let second = with_table(&two, &room.path().join("two"));
    let before = [&one, &two].map(|vfs| counted(vfs, LOG));
    insert(&second, 1);
    insert(&second, 2);
    insert(&first, 1);
    let writes = [&one, &two].map(|vfs| counted(vfs, LOG)[1]);
    assert_eq!(writes, [before[0][1] + 2, before[1][1] + 4]);
}

#[test]
fn journals_and_files_without_a_name_have_kinds_of_their_own() {
    let room = tempfile::tempdir().unwrap();
    let vfs = TimedVfs::register().unwrap();
    let connection = open(&vfs, &room.path().join("one")).unwrap();
    let sql =
        "PRAGMA journal_mode = DELETE; PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 10; \
               CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1);
               CREATE TEMP TABLE many AS WITH RECURSIVE one(n) AS \
               (SELECT 1 UNION ALL SELECT n + 1 FROM one LIMIT 100000) SELECT n FROM one";
    // The pragma of the mode has a row.
    let mut rest = sql;
    while let Some((first, behind)) = rest.split_once(';') {
        drop(connection.prepare(first).unwrap().raw_query().next());
        rest = behind;
    }
    connection.execute_batch(rest).unwrap();
    assert!(counted(&vfs, JOURNAL)[1] > 0);
    assert!(counted(&vfs, JOURNAL)[2] > 0);
    assert!(counted(&vfs, TEMPORARY)[1] > 0);
    assert_eq!(counted(&vfs, LOG), [0; 3]);
}

#[test]
fn errors_of_the_real_vfs_are_passed_on() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("full");
    // It can be opened and locked, seems empty, and takes no byte.
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let vfs = TimedVfs::register().unwrap();
    let connection = open(&vfs, &path).unwrap();
    let sql = "PRAGMA journal_mode = OFF; CREATE TABLE t (n INTEGER)";
    let error = connection.execute_batch(sql).unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DiskFull));
    // A write that failed is one.
    assert_eq!(counted(&vfs, DATABASE)[1..], [1, 0]);
}

//! One run at a time on a database.

use crate::common;
use brokerage::database::sqlite::Sqlite;
use brokerage::database::{Database, LockError, RunLock};

/// The first lock is taken, the second is refused with the name of the first, and it is free
/// afterwards. Returns the lock that is taken then.
#[track_caller]
fn one_at_a_time(database: &dyn Database, names: &[&str]) -> Box<dyn RunLock> {
    let mut first = database.lock().unwrap();
    first.keep().unwrap();
    let Err(LockError::Held(holder)) = database.lock() else {
        panic!("the second was not refused");
    };
    for name in names {
        assert!(holder.contains(name), "{name}: {holder}");
    }
    drop(first);
    // A server notices the end of a session a moment later.
    for _ in 0..100 {
        if let Ok(lock) = database.lock() {
            return lock;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the lock was not released");
}

#[test]
fn a_file_is_locked() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 1 << 20, 1);
    let process = format!("process {}", std::process::id());
    drop(one_at_a_time(&sqlite, &[&process, "since 20"]));
    sqlite.remove().unwrap();
    assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 0);
}

#[test]
fn a_database_of_postgresql_is_locked_and_locked_again_after_a_restart() {
    let room = common::room();
    let Some(mut cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::build(&postgres);
    let process = format!("process {}", std::process::id());
    let mut held = one_at_a_time(&postgres, &[&process, "server process ", "since 20"]);
    cluster.crash();
    cluster.restart().unwrap();
    held.keep().unwrap();
    assert!(matches!(postgres.lock(), Err(LockError::Held(_))));
    // Another run was faster.
    cluster.crash();
    cluster.restart().unwrap();
    let _other = postgres.lock().unwrap();
    assert!(matches!(held.keep(), Err(LockError::Held(_))));
}

#[test]
fn a_database_of_mariadb_is_locked() {
    let Some(server) = common::mariadb::server() else {
        return;
    };
    let maria = brokerage::database::mariadb::MariaDb::open(&server.address()).unwrap();
    common::build(&maria);
    drop(one_at_a_time(&maria, &["connection ", "root", "since 20"]));
}

//! A database that is put back to an older state in mid-run, consistent in itself: as by a write
//! cache that has lost its latest contents.

use super::{Load, acknowledged, copies};
use crate::common;
use brokerage::database::Database;
use measure::result::{ErrorKind, RunResult};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Work lost between the copy and the moment when it was put back.
const LOST: Duration = Duration::from_secs(8);

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

#[track_caller]
fn is_found(result: &RunResult) {
    let work = acknowledged(result);
    assert!(work.lost_results > 0 && work.lost_orders > 0, "{work:?}");
    assert!(work.securities_differing > 0, "{work:?}");
    assert!(work.lost_updates > 0, "{work:?}");
    assert_eq!(work.unexpected_orders, 0, "{work:?}");
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent));
    assert_eq!(result.exit_status, 4);
    let number = format!("{} of ", work.lost_results);
    let reason = &result.verdict_reason;
    assert!(reason.contains(&number), "{reason}");
    assert!(reason.contains("are not in the database"), "{reason}");
    assert!(reason.contains("The first: "), "{reason}");
}

#[test]
fn a_cluster_put_back_to_an_older_copy_has_lost_acknowledged_work() {
    let room = common::room();
    let Some(mut cluster) = copies::cluster(&room) else {
        return;
    };
    let database = cluster.database().unwrap();
    let data = cluster.data_directory();
    let older = room.path().join("older");
    let load = Load::start(Arc::new(database));
    load.wait_for_load();
    sleep(Duration::from_secs(3));
    cluster.crash();
    copy(&data, &older);
    cluster.restart().unwrap();
    sleep(LOST);
    cluster.crash();
    std::fs::remove_dir_all(&data).unwrap();
    copy(&older, &data);
    cluster.restart().unwrap();
    sleep(Duration::from_secs(2));
    is_found(&load.end());
}

#[test]
fn a_cluster_that_only_crashes_has_lost_nothing() {
    let room = common::room();
    let Some(mut cluster) = copies::cluster(&room) else {
        return;
    };
    let database = cluster.database().unwrap();
    let load = Load::start(Arc::new(database));
    load.wait_for_load();
    for _ in 0..3 {
        sleep(Duration::from_secs(2));
        cluster.crash();
        cluster.restart().unwrap();
    }
    sleep(Duration::from_secs(2));
    let result = load.end();
    let work = acknowledged(&result);
    assert_eq!(brokerage::ledger::compare::summary(work), None, "{work:?}");
    assert!(work.orders > 0 && work.results > 0, "{work:?}");
    assert!(work.updated_rows > 0 && work.maintained > 0, "{work:?}");
    assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
}

#[test]
fn a_file_put_back_to_an_older_copy_has_lost_acknowledged_work() {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    let path = sqlite.path().to_owned();
    let older = room.path().join("older");
    let load = Load::start(Arc::new(sqlite));
    load.wait_for_load();
    sleep(Duration::from_secs(2));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let vacuum = format!("VACUUM INTO '{}'", older.display());
    // It waits for its turn like every other reader.
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    connection.execute_batch(&vacuum).unwrap();
    drop(connection);
    sleep(Duration::from_secs(3));
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    std::fs::remove_file(log).unwrap();
    std::fs::rename(&older, &path).unwrap();
    is_found(&load.end());
}

#[test]
fn a_file_that_nobody_touches_has_lost_nothing() {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    let sqlite: Arc<dyn Database> = Arc::new(sqlite);
    // Twice, so that the second run begins on what the first one has sealed.
    for covered in [
        "consistency checks examined all rows",
        "all rows of all 33 tables",
    ] {
        let load = Load::start(Arc::clone(&sqlite));
        load.wait_for_load();
        sleep(Duration::from_secs(2));
        let result = load.end();
        let work = acknowledged(&result);
        assert_eq!(brokerage::ledger::compare::summary(work), None, "{work:?}");
        assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
        let rows = &result.server.as_ref().unwrap().checked_rows;
        assert!(rows[0].contains(covered), "{rows:?}");
    }
}

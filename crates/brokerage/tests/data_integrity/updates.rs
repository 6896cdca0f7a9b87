//! Changes of rows that are there already, by trade updates and data maintenance: put back to what they
//! were, they are found.

use super::{Load, acknowledged, copies};
use crate::common;
use measure::result::{ErrorKind, RunResult};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

const CORRECTED: &str = "SELECT COUNT(*) FROM trade WHERE executor_name LIKE '% X %'";
const NOT_CORRECTED: &str = "UPDATE trade SET executor_name = REPLACE(executor_name, ' X ', ' ')";
/// No company has this rating before.
const MAINTAINED: &str = "SELECT COUNT(*) FROM company WHERE credit_rating = 'ABA'";
const NOT_MAINTAINED: &str = "UPDATE company SET credit_rating = \
     CASE credit_rating WHEN 'ABA' THEN 'AAA' ELSE 'ABA' END";

fn wait_for(count: &mut dyn FnMut() -> i64, least: i64) {
    while count() < least {
        sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn is_found(result: &RunResult, says: &str) {
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent));
    assert_eq!(result.exit_status, 4);
    let reason = &result.verdict_reason;
    assert!(reason.contains(says), "{reason}");
    assert!(reason.contains("The first: the change "), "{reason}");
    let work = acknowledged(result);
    assert_eq!((work.lost_orders, work.lost_results), (0, 0), "{work:?}");
}

/// Runs a load on a file, and this SQL when the query has counted so many rows.
fn of_a_file(query: &str, least: i64, sql: &str) -> RunResult {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    let connection = rusqlite::Connection::open(sqlite.path()).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    let load = Load::start(Arc::new(sqlite));
    load.wait_for_load();
    let count = &mut || connection.query_one(query, [], |row| row.get(0)).unwrap();
    wait_for(count, least);
    connection.execute_batch(sql).unwrap();
    load.end()
}

#[test]
fn trade_updates_that_were_put_back_in_a_file_are_found() {
    let result = of_a_file(CORRECTED, 200, NOT_CORRECTED);
    let work = acknowledged(&result);
    assert!(
        work.lost_updates > 0 && work.lost_maintenance == 0,
        "{work:?}"
    );
    is_found(&result, "updated rows do not hold");
}

#[test]
fn data_maintenance_that_was_put_back_in_a_file_is_found() {
    let result = of_a_file(MAINTAINED, 1, NOT_MAINTAINED);
    let work = acknowledged(&result);
    assert!(
        work.lost_maintenance > 0 && work.lost_updates == 0,
        "{work:?}"
    );
    is_found(
        &result,
        "acknowledged maintenance changes are not in the database",
    );
}

#[test]
fn trade_updates_that_were_put_back_on_a_server_are_found() {
    let room = common::room();
    let Some(cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let mut other = postgres.connect_for_sql().unwrap();
    let load = Load::start(Arc::new(postgres));
    load.wait_for_load();
    let count = &mut || {
        let counted = other.ask(CORRECTED).unwrap();
        counted[0][0].as_deref().unwrap().parse().unwrap()
    };
    wait_for(count, 200);
    // A deadlock with an update of the load may end it.
    while other.ask(NOT_CORRECTED).is_err() {}
    is_found(&load.end(), "updated rows do not hold");
}

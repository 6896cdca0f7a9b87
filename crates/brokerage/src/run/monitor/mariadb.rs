//! Counters and wait states of a MariaDB server.
//!
//! It reports less of a wait than PostgreSQL. A session's state says whether it is committing or
//! waits for a table; how many wait for row locks and for reads is counted by the engine without
//! saying which. So of the sessions that are busy with neither, as many count as waiting for rows
//! and for reads as the engine has pending, and the rest as running. Nothing here needs a
//! privilege.

use super::file_io::{MARIADB_FILES, file_counters};
use super::statistics::{Counters, Unsupported, query};
use super::waits::Waits;
use crate::error::DatabaseError;
use crate::session::Session;
use crate::statement::Statement;
use measure::result::WaitClass;

static ACTIVITY: Statement = Statement {
    name: "watch_mariadb_activity",
    sql: "SELECT LOWER(COALESCE(STATE, '')), COUNT(*) FROM information_schema.PROCESSLIST \
          WHERE DB = DATABASE() AND COMMAND IN ('Query', 'Execute') AND ID <> CONNECTION_ID() \
          GROUP BY LOWER(COALESCE(STATE, '')) ORDER BY 1",
    parameters: &[],
};

/// Pending waits, and counters since the server's start.
static STATUS: Statement = Statement {
    name: "watch_mariadb_status",
    sql: "SELECT VARIABLE_NAME, CAST(VARIABLE_VALUE AS SIGNED) \
          FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN \
          ('INNODB_ROW_LOCK_CURRENT_WAITS', 'INNODB_DATA_PENDING_READS', \
          'INNODB_BUFFER_POOL_READS', 'INNODB_BUFFER_POOL_READ_REQUESTS', \
          'INNODB_OS_LOG_WRITTEN', 'INNODB_LOG_WRITES') ORDER BY 1",
    parameters: &[],
};

/// Samples the other sessions on this database, and reads the counters.
///
/// # Errors
/// The server is gone.
pub fn sample(
    session: &mut dyn Session,
    waits: &mut Waits,
    unsupported: &mut Unsupported,
) -> Result<Counters, DatabaseError> {
    let mut by_state = Vec::new();
    let Some(rows) = query(session, &ACTIVITY, unsupported)? else {
        return Ok(Counters::default());
    };
    for number in 0..rows.count() {
        let state = rows.text(number, 0).unwrap_or_default().to_owned();
        let sessions = rows.integer(number, 1).unwrap_or(0).max(0).unsigned_abs();
        by_state.push((state, sessions));
    }
    let files = query(session, &MARIADB_FILES, unsupported)?;
    let files = files.map(|rows| file_counters(&rows)).unwrap_or_default();
    let Some(rows) = query(session, &STATUS, unsupported)? else {
        note(&by_state, 0, 0, waits);
        return Ok(Counters::default());
    };
    let status = |name: &str| {
        let mut numbers = 0..rows.count();
        let row = numbers.find(|&number| rows.text(number, 0) == Some(name));
        row.and_then(|row| rows.integer(row, 1)).unwrap_or(0).max(0)
    };
    let row_waits = status("INNODB_ROW_LOCK_CURRENT_WAITS").unsigned_abs();
    let reads = status("INNODB_DATA_PENDING_READS").unsigned_abs();
    note(&by_state, row_waits, reads, waits);
    let pages_read = status("INNODB_BUFFER_POOL_READS");
    let pages_asked_for = status("INNODB_BUFFER_POOL_READ_REQUESTS");
    Ok(Counters::of_buffers_and_log(
        [pages_read, (pages_asked_for - pages_read).max(0)],
        [status("INNODB_OS_LOG_WRITTEN"), status("INNODB_LOG_WRITES")],
        files,
    ))
}

/// Classifies sessions by state, with this many pending row lock waits and reads.
fn note(by_state: &[(String, u64)], row_waits: u64, reads: u64, waits: &mut Waits) {
    waits.begin_sample();
    let mut busy = 0;
    for (state, sessions) in by_state {
        let known = if state.starts_with("commit") {
            Some((WaitClass::Storage, "commit"))
        } else if state.contains("waiting for") && state.contains("lock") {
            Some((WaitClass::Locks, state.as_str()))
        } else {
            None
        };
        match known {
            Some((class, name)) => waits.found(class, name.to_owned(), *sessions),
            None => busy += sessions,
        }
    }
    let on_rows = row_waits.min(busy);
    let on_reads = reads.min(busy - on_rows);
    for (class, name, sessions) in [
        (WaitClass::Locks, "row lock", on_rows),
        (WaitClass::Storage, "data read", on_reads),
        (WaitClass::Cpu, "running", busy - on_rows - on_reads),
    ] {
        if sessions > 0 {
            waits.found(class, name.to_owned(), sessions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_classified_by_state_and_pending_waits() {
        let states = [("commit", 4), ("sending data", 6), ("statistics", 2)];
        let states: Vec<(String, u64)> = states.map(|(s, n)| (s.to_owned(), n)).to_vec();
        let mut waits = Waits::default();
        note(&states, 1, 5, &mut waits);
        let shares = waits.shares();
        let average = |name: &str| {
            let of_name = shares.iter().find(|share| share.name == name);
            of_name.map_or(0.0, |share| share.average_sessions)
        };
        assert_eq!(
            ["commit", "row lock", "data read", "running"].map(average),
            [4.0, 1.0, 5.0, 2.0]
        );
        // Read-ahead and purge wait, too; never are more sessions counted than are busy.
        let mut waits = Waits::default();
        note(&states, 3, 100, &mut waits);
        assert_eq!(waits.average_busy(), 12.0);
        assert_eq!(waits.share(WaitClass::Cpu), Some(0.0));
    }
}

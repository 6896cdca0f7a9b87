//! Counters and wait events of a PostgreSQL server.
//!
//! A view or column that the server does not have (they move between versions) is not queried
//! again, and is missing from the result.

use super::counters::{average_ms, difference};
use super::file_io::{POSTGRESQL_FILES, file_counters, file_differences};
use super::waits::{Waits, class_of_postgresql};
use crate::database::FileCounters;
use crate::error::DatabaseError;
use crate::row::Rows;
use crate::session::{AfterBatch, Call, Isolation, Session};
use crate::statement::Statement;
use measure::result::{ServerCheckpoints, ServerFileIo, ServerIo, ServerLog};
use runtime::thread::complete;
use rustc_hash::FxHashSet;

static ACTIVITY: Statement = Statement {
    name: "watch_activity",
    sql: "SELECT wait_event_type, wait_event, COUNT(*) FROM pg_stat_activity \
          WHERE datname = current_database() AND backend_type = 'client backend' \
          AND state = 'active' AND pid <> pg_backend_pid() \
          GROUP BY wait_event_type, wait_event ORDER BY wait_event_type, wait_event",
    parameters: &[],
};

static DATABASE: Statement = Statement {
    name: "watch_database",
    sql: "SELECT blks_read, blks_hit, CAST(blk_read_time * 1000 AS BIGINT), temp_bytes \
          FROM pg_stat_database WHERE datname = current_database()",
    parameters: &[],
};

static LOG: Statement = Statement {
    name: "watch_log",
    sql: "SELECT CAST(wal_bytes AS BIGINT), wal_write, wal_sync, wal_fpi, \
          CAST(wal_write_time * 1000 AS BIGINT), CAST(wal_sync_time * 1000 AS BIGINT) \
          FROM pg_stat_wal",
    parameters: &[],
};

/// From version 18 on, writes and syncs are counted with those of other files.
static LOG_SINCE_18: Statement = Statement {
    name: "watch_log_since_18",
    sql: "SELECT CAST(wal_bytes AS BIGINT), CAST(writes AS BIGINT), CAST(syncs AS BIGINT), \
          wal_fpi, CAST(write_time * 1000 AS BIGINT), CAST(sync_time * 1000 AS BIGINT) \
          FROM pg_stat_wal, (SELECT SUM(writes) writes, SUM(fsyncs) syncs, \
          SUM(write_time) write_time, SUM(fsync_time) sync_time FROM pg_stat_io \
          WHERE object = 'wal') of_files",
    parameters: &[],
};

/// Up to version 16.
static CHECKPOINTS: Statement = Statement {
    name: "watch_checkpoints",
    sql: "SELECT checkpoints_timed, checkpoints_req, CAST(checkpoint_write_time AS BIGINT), \
          CAST(checkpoint_sync_time AS BIGINT), buffers_checkpoint, buffers_clean, \
          buffers_backend FROM pg_stat_bgwriter",
    parameters: &[],
};

/// From version 17 on; backend writes are counted elsewhere.
static CHECKPOINTS_SINCE_17: Statement = Statement {
    name: "watch_checkpoints_since_17",
    sql: "SELECT num_timed, num_requested, CAST(write_time AS BIGINT), \
          CAST(sync_time AS BIGINT), buffers_written, \
          (SELECT buffers_clean FROM pg_stat_bgwriter), CAST(0 AS BIGINT) \
          FROM pg_stat_checkpointer",
    parameters: &[],
};

/// The server's counters at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    database: Option<Vec<i64>>,
    log: Option<Vec<i64>>,
    checkpoints: Option<Vec<i64>>,
    /// Of files; empty where the server does not time them.
    files: FileCounters,
}

impl Counters {
    /// Counters of files alone.
    pub(super) fn of_files(files: FileCounters) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    /// Counters of a server that has only buffer reads and hits, and bytes and writes of its log.
    pub(super) fn of_buffers_and_log(pages: [i64; 2], log: [i64; 2], files: FileCounters) -> Self {
        Self {
            database: Some(pages.to_vec()),
            log: Some(log.to_vec()),
            checkpoints: None,
            files,
        }
    }
}

/// The queries that a server does not support, or does not allow, which are not sent again: it would
/// write an error to its log each time.
#[derive(Debug, Default)]
pub struct Unsupported(FxHashSet<&'static str>);

/// Differences between two readings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CounterDeltas {
    /// Buffer reads, hits and backend writes.
    pub io: Option<ServerIo>,
    /// I/O by the server's own timing.
    pub file_io: Vec<ServerFileIo>,
    /// Bytes, writes and syncs of the write-ahead log.
    pub log: Option<ServerLog>,
    /// Checkpoints and background writes.
    pub checkpoints: Option<ServerCheckpoints>,
}

/// Reads all counters that the server has.
///
/// # Errors
/// The server is gone.
pub fn read(
    session: &mut dyn Session,
    unsupported: &mut Unsupported,
) -> Result<Counters, DatabaseError> {
    let mut first_of = |statements: [&'static Statement; 2]| {
        for statement in statements {
            if let Some(rows) = query(session, statement, unsupported)? {
                return Ok(numbers(rows));
            }
        }
        Ok(None)
    };
    let checkpoints = first_of([&CHECKPOINTS, &CHECKPOINTS_SINCE_17])?;
    let log = first_of([&LOG, &LOG_SINCE_18])?;
    let files = query(session, &POSTGRESQL_FILES, unsupported)?;
    let files = files.map(|rows| file_counters(&rows)).unwrap_or_default();
    Ok(Counters {
        checkpoints,
        log,
        files,
        database: query(session, &DATABASE, unsupported)?.and_then(numbers),
    })
}

/// The integers of the first row.
fn numbers(rows: Rows<'_>) -> Option<Vec<i64>> {
    let number = |column| rows.integer(0, column).unwrap_or(0);
    (rows.count() > 0).then(|| (0..rows.columns()).map(number).collect())
}

/// Samples the wait events of the other sessions on this database.
///
/// # Errors
/// The server is gone.
pub fn sample(
    session: &mut dyn Session,
    waits: &mut Waits,
    unsupported: &mut Unsupported,
) -> Result<(), DatabaseError> {
    let Some(rows) = query(session, &ACTIVITY, unsupported)? else {
        return Ok(());
    };
    waits.begin_sample();
    for number in 0..rows.count() {
        let (kind, event) = (rows.text(number, 0), rows.text(number, 1));
        let class = class_of_postgresql(kind, event);
        let name = match (kind, event) {
            (Some(kind), Some(event)) => format!("{kind}: {event}"),
            _ => "running".to_owned(),
        };
        let sessions = rows.integer(number, 2).unwrap_or(0);
        waits.found(class, name, sessions.max(0).unsigned_abs());
    }
    Ok(())
}

/// The result of a query that the server may not support.
pub(super) fn query<'a>(
    session: &'a mut dyn Session,
    statement: &'static Statement,
    unsupported: &mut Unsupported,
) -> Result<Option<Rows<'a>>, DatabaseError> {
    if unsupported.0.contains(statement.name) {
        return Ok(None);
    }
    session.begin(Isolation::ReadCommitted)?;
    let call = Call {
        statement,
        parameters: Vec::new(),
    };
    match complete(session.run(&[call], AfterBatch::Commit)) {
        Ok(answers) => Ok(Some(answers.of(0))),
        Err(DatabaseError::Failed { .. } | DatabaseError::Refused(_)) => {
            unsupported.0.insert(statement.name);
            Ok(None)
        }
        // Cancelled, perhaps; the next may succeed.
        Err(DatabaseError::ServerSide { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Differences between two readings. A server that was restarted in between counts from 0, and only
/// the counts since then are taken.
#[must_use]
pub fn between(before: &Counters, after: &Counters) -> CounterDeltas {
    let checkpoints = difference(before.checkpoints.as_ref(), after.checkpoints.as_ref());
    let io = difference(before.database.as_ref(), after.database.as_ref());
    let log = difference(before.log.as_ref(), after.log.as_ref());
    let file_io = match after.files.is_empty() {
        false => file_differences(&before.files, &after.files),
        true => files_of(io.as_deref(), log.as_deref()),
    };
    CounterDeltas {
        file_io,
        io: io.map(|counts| ServerIo {
            buffer_misses: counts[0],
            buffer_hits: counts[1],
            average_read_ms: average_ms(counts.get(2), counts.first()),
            backend_writes: checkpoints.as_ref().map(|counts| counts[6]),
            temporary_bytes: counts.get(3).copied(),
        }),
        log: log.map(|counts| ServerLog {
            bytes: counts[0],
            writes: counts[1],
            syncs: counts.get(2).copied(),
            full_page_images: counts.get(3).copied(),
            average_write_ms: average_ms(counts.get(4), counts.get(1)),
            average_sync_ms: average_ms(counts.get(5), counts.get(2)),
        }),
        checkpoints: checkpoints.map(|counts| ServerCheckpoints {
            timed: counts[0],
            requested: counts[1],
            write_s: counts[2] as f64 / 1e3,
            sync_s: counts[3] as f64 / 1e3,
            pages: counts[4],
            pages_by_background_writer: counts[5],
        }),
    }
}

/// I/O of files by the counters of pages and log, of a server that does not count files, but takes
/// times.
fn files_of(io: Option<&[u64]>, log: Option<&[u64]>) -> Vec<ServerFileIo> {
    let reads = io
        .filter(|counts| counts.len() > 2)
        .map(|counts| ServerFileIo {
            name: "sessions, relation".to_owned(),
            reads: counts[0],
            average_read_ms: average_ms(counts.get(2), counts.first()),
            ..ServerFileIo::default()
        });
    let log = log
        .filter(|counts| counts.len() > 5)
        .map(|counts| ServerFileIo {
            name: "all, WAL".to_owned(),
            writes: counts[1],
            average_write_ms: average_ms(counts.get(4), counts.get(1)),
            syncs: Some(counts[2]),
            average_sync_ms: average_ms(counts.get(5), counts.get(2)),
            ..ServerFileIo::default()
        });
    reads.into_iter().chain(log).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(counts: [i64; 7]) -> Counters {
        Counters {
            database: Some(counts[..4].to_vec()),
            log: Some(counts[..6].to_vec()),
            checkpoints: Some(counts.to_vec()),
            files: FileCounters::default(),
        }
    }

    #[test]
    fn counters_are_subtracted_and_times_averaged() {
        let before = reading([100, 10, 1_000, 5, 0, 0, 0]);
        let after = reading([110, 30, 21_000, 5, 0, 0, 3]);
        let counted = between(&before, &after);
        let io = counted.io.unwrap();
        assert_eq!((io.buffer_misses, io.buffer_hits), (10, 20));
        assert_eq!(io.average_read_ms, Some(2.0));
        assert_eq!(io.backend_writes, Some(3));
        // An older server.
        let files = &counted.file_io;
        assert_eq!((files[0].reads, files[0].average_read_ms), (10, Some(2.0)));
        assert_eq!((files[1].name.as_str(), files[1].writes), ("all, WAL", 20));
        assert_eq!(counted.log.unwrap().average_write_ms, None);
        assert_eq!(counted.checkpoints.unwrap().write_s, 20.0);
    }

    #[test]
    fn a_server_that_restarted_counts_from_0() {
        let counted = between(&reading([100; 7]), &reading([40; 7]));
        assert_eq!(counted.io.unwrap().buffer_misses, 40);
        let unknown = between(&Counters::default(), &reading([40; 7]));
        assert_eq!(unknown, CounterDeltas::default());
    }
}

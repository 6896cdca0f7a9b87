//! I/O of a server's files, as the server itself counts and times it.

use super::counters::{average_ms, difference};
use crate::database::FileCounters;
use crate::row::Rows;
use crate::statement::Statement;
use measure::result::ServerFileIo;

/// From version 16 on, by process and object. An extension of a file is a write.
pub(super) static POSTGRESQL_FILES: Statement = Statement {
    name: "watch_files",
    sql: "SELECT backend_type || ', ' || object, \
          CAST(COALESCE(SUM(reads), 0) AS BIGINT), \
          CAST(COALESCE(SUM(read_time), 0) * 1000 AS BIGINT), \
          CAST(COALESCE(SUM(writes), 0) + COALESCE(SUM(extends), 0) AS BIGINT), \
          CAST((COALESCE(SUM(write_time), 0) + COALESCE(SUM(extend_time), 0)) * 1000 AS BIGINT), \
          CAST(COALESCE(SUM(fsyncs), 0) AS BIGINT), \
          CAST(COALESCE(SUM(fsync_time), 0) * 1000 AS BIGINT) \
          FROM pg_stat_io GROUP BY backend_type, object ORDER BY 1",
    parameters: &[],
};

/// By kind of files, where the performance schema is switched on. It counts syncs with whatever is
/// neither a read nor a write, so they are left out.
pub(super) static MARIADB_FILES: Statement = Statement {
    name: "watch_mariadb_files",
    sql: "SELECT SUBSTR(EVENT_NAME, LENGTH('wait/io/file/') + 1), \
          CAST(COUNT_READ AS SIGNED), CAST(SUM_TIMER_READ DIV 1000000 AS SIGNED), \
          CAST(COUNT_WRITE AS SIGNED), CAST(SUM_TIMER_WRITE DIV 1000000 AS SIGNED), \
          CAST(NULL AS SIGNED), CAST(NULL AS SIGNED) \
          FROM performance_schema.file_summary_by_event_name \
          WHERE COUNT_READ + COUNT_WRITE > 0 ORDER BY 1",
    parameters: &[],
};

/// The counters of an answer.
pub(super) fn file_counters(rows: &Rows<'_>) -> FileCounters {
    let mut counters = FileCounters::new();
    for row in 0..rows.count() {
        let name = rows.text(row, 0).unwrap_or_default().to_owned();
        // Those that the server does not have are null, and the last.
        let counts = (1..rows.columns()).map_while(|column| rows.integer(row, column));
        counters.insert(name, counts.collect());
    }
    counters
}

/// What was counted between two readings, where there was any.
pub(super) fn file_differences(before: &FileCounters, after: &FileCounters) -> Vec<ServerFileIo> {
    let mut files = Vec::new();
    for (name, counts) in after {
        let none = vec![0; counts.len()];
        let counts = difference(Some(before.get(name).unwrap_or(&none)), Some(counts));
        let counts = counts.unwrap_or_default();
        let count = |number| counts.get(number).copied();
        let io = ServerFileIo {
            name: name.clone(),
            reads: count(0).unwrap_or(0),
            average_read_ms: average_ms(counts.get(1), counts.first()),
            writes: count(2).unwrap_or(0),
            average_write_ms: average_ms(counts.get(3), counts.get(2)),
            syncs: count(4),
            average_sync_ms: average_ms(counts.get(5), counts.get(4)),
        };
        if io.reads + io.writes + io.syncs.unwrap_or(0) > 0 {
            files.push(io);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_counted_in_between_is_reported() {
        let of = |counts: &[(&str, &[i64])]| -> FileCounters {
            let entry = |(name, counts): &(&str, &[i64])| ((*name).to_owned(), counts.to_vec());
            counts.iter().map(entry).collect()
        };
        let before = of(&[
            ("client backend, relation", &[10, 1_000, 0, 0, 0, 0]),
            ("autovacuum worker, relation", &[5, 100, 0, 0, 0, 0]),
        ]);
        let after = of(&[
            ("client backend, relation", &[30, 41_000, 4, 0, 0, 0]),
            ("autovacuum worker, relation", &[5, 100, 0, 0, 0, 0]),
            ("checkpointer, relation", &[0, 0, 8, 4_000, 2, 6_000]),
            ("innodb/innodb_data_file", &[1, 0, 0, 0]),
        ]);
        let files = file_differences(&before, &after);
        let names: Vec<_> = files.iter().map(|io| io.name.as_str()).collect();
        let expected = [
            "checkpointer, relation",
            "client backend, relation",
            "innodb/innodb_data_file",
        ];
        assert_eq!(names, expected);
        assert_eq!((files[0].writes, files[0].average_write_ms), (8, Some(0.5)));
        assert_eq!(
            (files[0].syncs, files[0].average_sync_ms),
            (Some(2), Some(3.0))
        );
        assert_eq!((files[1].reads, files[1].average_read_ms), (20, Some(2.0)));
        // It does not take times of writes, and counts no syncs.
        assert_eq!((files[1].writes, files[1].average_write_ms), (4, None));
        assert_eq!((files[2].syncs, files[2].average_read_ms), (None, None));
    }
}

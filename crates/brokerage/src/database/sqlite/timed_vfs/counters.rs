//! Counters of the I/O of one database, by kind of files.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::ffi;

use crate::database::interface::FileCounters;

/// Calls, and the time that they took. A call that failed counts, too.
#[derive(Debug, Default)]
pub(super) struct CallCounter {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl CallCounter {
    pub fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The count and the microseconds.
    fn values(&self) -> [i64; 2] {
        let micros = self.nanos.load(Ordering::Relaxed) / 1_000;
        [self.count.load(Ordering::Relaxed), micros]
            .map(|value| value.try_into().unwrap_or(i64::MAX))
    }
}

/// Counters of the files of one kind.
#[derive(Debug, Default)]
pub(super) struct IoCounters {
    pub reads: CallCounter,
    pub writes: CallCounter,
    pub syncs: CallCounter,
}

/// Counters of all files of one database.
#[derive(Debug, Default)]
pub(super) struct DatabaseCounters {
    database: IoCounters,
    write_ahead_log: IoCounters,
    rollback_journal: IoCounters,
    temporary_files: IoCounters,
}

impl DatabaseCounters {
    /// Those of a file that is opened with these flags.
    pub fn of(&self, flags: c_int) -> &IoCounters {
        let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
        if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 {
            &self.database
        } else if flags & ffi::SQLITE_OPEN_WAL != 0 {
            &self.write_ahead_log
        } else if flags & journals != 0 {
            &self.rollback_journal
        } else {
            &self.temporary_files
        }
    }

    /// What was counted until now.
    pub fn read(&self) -> FileCounters {
        let named = [
            ("database", &self.database),
            ("write-ahead log", &self.write_ahead_log),
            ("rollback journal", &self.rollback_journal),
            ("temporary files", &self.temporary_files),
        ];
        let entry = |(name, io): (&str, &IoCounters)| {
            let calls = [&io.reads, &io.writes, &io.syncs];
            (name.to_owned(), calls.map(CallCounter::values).concat())
        };
        named.into_iter().map(entry).collect()
    }
}

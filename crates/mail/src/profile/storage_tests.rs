//! `[test]`, `[backup]`, `[recovery]` and `[passive_copies]`: which tests of the storage a run makes, and
//! how.

use config::{ByteSize, choice, settings, within};

choice! {
    /// Which tests a run makes.
    pub enum TestSelection {
        /// The load, measured and judged by its latencies and its rate. One that is longer than
        /// service_levels.lenient_above is a stress test.
        Performance = "performance",
        /// The same, judged by the lenient limits.
        Stress = "stress",
        /// Every database is read to its end, and copied with --backup-to.
        Backup = "backup",
        /// Databases that were not closed are recovered from their logs.
        Recovery = "recovery",
        /// Performance, backup and soft recovery, one after the other on the same databases.
        All = "all",
    }
}

settings! {
    /// Which tests a run on real storage makes. A prediction is one of the performance test.
    #[derive(Copy)]
    pub struct Test {
        /// "performance", "stress", "backup", "recovery" or "all" (--test). "all" is performance (a
        /// stress test if it is longer than service_levels.lenient_above), backup and soft recovery.
        pub kind: TestSelection = TestSelection::Performance,
            source "JetstressConfig.xml 2013, Type: Performance, Stress, DatabaseBackup, SoftRecovery.";
    }
}

settings! {
    /// The backup: all databases are read at the same time, each from its first page to its last.
    #[derive(Copy)]
    pub struct Backup {
        /// Pages of one read.
        pub pages_per_read: u32 = 16,
            as within(1..=256), source "Default of Microsoft's published ESE source: backup chunks of 16 \
                pages.";
        /// Reads outstanding per database.
        pub reads_outstanding: u32 = 4,
            as within(1..=64), source "A setting; how many Jetstress keeps outstanding is not published.";
        /// Whether the load runs meanwhile.
        pub under_load: bool = false,
            source "A setting; Jetstress backs up databases without load.";
    }
}

settings! {
    /// Soft recovery: a load writes log files while the checkpoint is held, the databases are left without
    /// being closed, and are recovered.
    #[derive(Copy)]
    pub struct Recovery {
        /// Log files that each database replays.
        pub log_files: u32 = 500,
            as within(1..=100_000), source "JetstressConfig.xml 2013, LogFilesToReplay.";
        /// Whether the background maintenance runs in this test, if maintenance.enabled allows it.
        pub background_maintenance: bool = false,
            source "JetstressConfig.xml 2013, RunDatabaseMaintenanceSoftRecovery.";
    }
}

settings! {
    /// Passive copies of the databases (--copy-to): seeded before the load, then kept up to date by their
    /// log files, and compared at the end. Seeding reads as a backup does.
    #[derive(Copy)]
    pub struct PassiveCopies {
        /// Checkpoint depth of a copy: how far the log that it has replayed may be ahead of its pages on
        /// disk. At least one log file.
        pub checkpoint_depth: ByteSize = ByteSize::mib(100),
            as within(ByteSize::kib(64)..=ByteSize::gib(64)),
            source "Exchange 2013: 100 MB also for passive copies; 5 MB in Exchange 2010.";
        /// Page cache of a copy, as percent of engine.cache_size_per_database; 64 pages at least. It comes
        /// on top of the cache of the database.
        pub cache_percent: f64 = 20.0,
            as within(0.1..=100.0),
            source "Exchange 2013 gives a passive copy a fifth of the cache of an active one, unconfirmed.";
    }
}

impl TestSelection {
    /// Whether a load is measured.
    pub(crate) fn is_measured(self) -> bool {
        matches!(self, Self::Performance | Self::Stress | Self::All)
    }

    /// Whether databases are backed up.
    pub(crate) fn has_backup(self) -> bool {
        matches!(self, Self::Backup | Self::All)
    }

    /// Whether databases are recovered.
    pub(crate) fn has_recovery(self) -> bool {
        matches!(self, Self::Recovery | Self::All)
    }
}

//! The database and the machine it runs on.

use super::STUDY;
use config::{ByteSize, TimeSpan, settings, within};

settings! {
    /// How the database keeps its pages. Memory and page size hold for a real database, too; the
    /// rest is what the model does, and a real database does as it was made.
    pub struct Database {
        /// Bytes in a page: 4KiB, 8KiB, 16KiB or 32KiB.
        pub page_size: ByteSize = ByteSize::kib(8),
            as within(ByteSize::kib(4)..=ByteSize::kib(32)), source STUDY;
        /// Memory for pages. It decides how many reads reach the storage.
        pub memory: ByteSize = ByteSize::gib(2),
            as within(ByteSize::mib(2)..=ByteSize::gib(4096)),
            source "Assumed: the MSA 2042 study says \"very low\", of the 16 GB in its server.";
        /// How full the building of the database leaves its pages.
        pub page_fill_percent: f64 = 90.0,
            as within(30.0..=100.0), source "Assumed.";
        /// Rows that a nested loop must look up before it reads ahead; with fewer, one row is read
        /// after the other.
        pub prefetch_from_rows: u32 = 10,
            as within(2..=1_000_000),
            source "Assumed: SQL Server is reported to begin with 25 estimated rows, unconfirmed, \
                and estimates count the rows before the cut to the newest 10 or 20.";
        /// Look-ups that a nested loop has under way once it reads ahead.
        pub prefetch_depth: u32 = 10,
            as within(1..=1_024), source "Assumed.";
        /// Largest read or write made of neighbouring pages.
        pub largest_request: ByteSize = ByteSize::kib(64),
            as within(ByteSize::kib(4)..=ByteSize::mib(4)),
            source "Assumed: one extent of eight pages of 8 KiB.";
        /// Bytes in one file of the log, which is used round and round.
        pub log_file_size: ByteSize = ByteSize::mib(16),
            as within(ByteSize::kib(256)..=ByteSize::mib(32)), source "Assumed.";
        /// Distance from the checkpoint to the end of the log that the writer of pages aims at.
        pub checkpoint_depth: ByteSize = ByteSize::mib(64),
            as within(ByteSize::mib(1)..=ByteSize::gib(64)),
            source "Assumed: a few minutes of the study's load.";
    }
}

settings! {
    /// The machine that the modelled database runs on, and what else was seen of it. A run on a
    /// real database takes none of this.
    pub struct Server {
        /// CPU cores; transactions wait for a free one.
        pub cpu_cores: u32 = 12,
            as within(1..=4_096), was "processors", source "The MSA 2042 study: two processors of six cores.";
        /// CPU time for each page that a transaction looks at.
        pub cpu_time_per_page: TimeSpan = TimeSpan(8_000),
            as within(TimeSpan(0)..=TimeSpan::seconds(1)), was "processor_time_per_page",
            source "Assumed: 8 us make about 1 ms per transaction, as published results of such \
                loads on such processors come to.";
        /// Prices per second that the exchange sends of its own accord, whatever the storage does:
        /// each is a database transaction that changes one row, which stays in memory. They come in
        /// feeds of 20, which wait for the log once. The prices that trade results cause come on
        /// top.
        pub ticker_per_second: f64 = 530.0,
            as within(0.0..=100_000.0),
            source "Inferred from the MSA 2042 study, whose transactions per second rise linearly \
                with its I/O from an offset of 535; the workload itself has none.";
    }
}

//! The database and the machine it runs on.

use super::STUDY;
use crate::profile::quantity::{ByteSize, TimeSpan};
use crate::profile::setting::{Setting, SettingVisitor, Within};

/// `[brokerage.database]`: how the database keeps its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Bytes in a page.
    pub page_size: ByteSize,
    /// Memory for pages.
    pub memory: ByteSize,
    /// How full the building of the database leaves its pages.
    pub page_fill_percent: f64,
    /// Rows that a nested loop looks up before it begins to read ahead.
    pub prefetch_from_rows: u32,
    /// Look-ups that a nested loop has under way once it reads ahead.
    pub prefetch_depth: u32,
    /// Largest read or write made of neighbouring pages.
    pub largest_request: ByteSize,
    /// Bytes in one log file.
    pub log_file_size: ByteSize,
    /// Log between the checkpoint and the tip that the writer aims at.
    pub checkpoint_depth: ByteSize,
}

/// `[brokerage.server]`: the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Processor cores.
    pub processors: u32,
    /// Processor time for each page that a transaction looks at.
    pub processor_time_per_page: TimeSpan,
    /// Prices per second that the exchange sends of its own accord.
    pub ticker_per_second: f64,
}

impl Default for Database {
    fn default() -> Self {
        Self {
            page_size: ByteSize::kib(8),
            memory: ByteSize::gib(2),
            page_fill_percent: 90.0,
            prefetch_from_rows: 10,
            prefetch_depth: 10,
            largest_request: ByteSize::kib(64),
            log_file_size: ByteSize::mib(16),
            checkpoint_depth: ByteSize::mib(64),
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            processors: 12,
            processor_time_per_page: TimeSpan(8_000),
            ticker_per_second: 530.0,
        }
    }
}

impl Database {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage.database",
            "How the database keeps its pages. Memory and page size hold for a real database, too; \
             the rest is what the model does, and a real database does as it was made.",
        );
        v.setting(Setting {
            key: "page_size",
            value: &mut Within(&mut self.page_size, ByteSize::kib(4)..=ByteSize::kib(32)),
            meaning: "Bytes in a page: 4KiB, 8KiB, 16KiB or 32KiB.",
            source: STUDY,
        });
        v.setting(Setting {
            key: "memory",
            value: &mut Within(&mut self.memory, ByteSize::mib(2)..=ByteSize::gib(4096)),
            meaning: "Memory for pages. It decides how many reads reach the storage.",
            source: "Assumed: the MSA 2042 study says \"very low\", of the 16 GB in its server.",
        });
        v.setting(Setting {
            key: "page_fill_percent",
            value: &mut Within(&mut self.page_fill_percent, 30.0..=100.0),
            meaning: "How full the building of the database leaves its pages.",
            source: "Assumed.",
        });
        v.setting(Setting {
            key: "prefetch_from_rows",
            value: &mut Within(&mut self.prefetch_from_rows, 2..=1_000_000),
            meaning: "Rows that a nested loop must look up before it reads ahead; with fewer, one \
                      row is read after the other.",
            source: "Assumed: SQL Server is reported to begin with 25 estimated rows, unconfirmed, \
                     and estimates count the rows before the cut to the newest 10 or 20.",
        });
        v.setting(Setting {
            key: "prefetch_depth",
            value: &mut Within(&mut self.prefetch_depth, 1..=1_024),
            meaning: "Look-ups that a nested loop has under way once it reads ahead.",
            source: "Assumed.",
        });
        v.setting(Setting {
            key: "largest_request",
            value: &mut Within(
                &mut self.largest_request,
                ByteSize::kib(4)..=ByteSize::mib(4),
            ),
            meaning: "Largest read or write made of neighbouring pages.",
            source: "Assumed: one extent of eight pages of 8 KiB.",
        });
        v.setting(Setting {
            key: "log_file_size",
            value: &mut Within(
                &mut self.log_file_size,
                ByteSize::kib(256)..=ByteSize::mib(32),
            ),
            meaning: "Bytes in one file of the log, which is used round and round.",
            source: "Assumed.",
        });
        v.setting(Setting {
            key: "checkpoint_depth",
            value: &mut Within(
                &mut self.checkpoint_depth,
                ByteSize::mib(1)..=ByteSize::gib(64),
            ),
            meaning: "Log between the checkpoint and the tip that the writer of pages aims at.",
            source: "Assumed: a few minutes of the study's load.",
        });
    }
}

impl Server {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage.server",
            "The machine that the modelled database runs on, and what else was seen of it. A run on a real database takes none of this.",
        );
        v.setting(Setting {
            key: "processors",
            value: &mut Within(&mut self.processors, 1..=4_096),
            meaning: "Processor cores; transactions wait for a free one.",
            source: "The MSA 2042 study: two processors of six cores.",
        });
        v.setting(Setting {
            key: "processor_time_per_page",
            value: &mut Within(
                &mut self.processor_time_per_page,
                TimeSpan(0)..=TimeSpan::seconds(1),
            ),
            meaning: "Processor time for each page that a transaction looks at.",
            source: "Assumed: 8 us make about 1 ms per transaction, as published results of such \
                     loads on such processors come to.",
        });
        v.setting(Setting {
            key: "ticker_per_second",
            value: &mut Within(&mut self.ticker_per_second, 0.0..=100_000.0),
            meaning: "Prices per second that the exchange sends of its own accord, whatever the \
                      storage does: each is a database transaction that changes one row, which \
                      stays in memory. They come in feeds of 20, which wait for the log once. The \
                      prices that trade results cause come on top.",
            source: "Inferred from the MSA 2042 study, whose transactions per second rise linearly \
                     with its I/O from an offset of 535; the workload itself has none.",
        });
    }
}

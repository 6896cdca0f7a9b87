//! What a seed stands for: settings, a disk, a fault, and the lifetimes of a database.

use crate::fault::PlannedFault;
use crate::sessions::Shape;
use crate::table::small_settings;
use config::{ByteSize, TimeSpan};
use edb::EngineSettings;
use edb::settings::{Internals, TornPages, WritePolicy};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::Tearing;
use std::fmt;

/// How a lifetime of the database ends, if not before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Power is lost at this request, counted from 1.
    CutAtRequest(u64),
    /// Power is lost so many nanoseconds after the lifetime began.
    CutAfter(u64),
    /// Power is lost when all sessions are done.
    CutAtEnd,
    /// The process is killed when all sessions are done.
    Kill,
    /// The database is closed.
    Close,
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutAtRequest(number) => write!(formatter, "power cut at request {number}"),
            Self::CutAfter(span_ns) => write!(formatter, "power cut after {span_ns} ns"),
            Self::CutAtEnd => formatter.write_str("power cut after all sessions"),
            Self::Kill => formatter.write_str("process killed after all sessions"),
            Self::Close => formatter.write_str("database closed"),
        }
    }
}

/// From one start of the database to the next.
#[derive(Debug, Clone, Copy)]
pub struct Lifetime {
    /// Seed of the sessions, of the disk, and of what a power cut leaves.
    pub seed: u64,
    /// Whether power is lost, the process killed or the database closed at its end.
    pub ending: Ending,
    /// Sessions at the same time.
    pub sessions: u64,
    /// Transactions that each session runs.
    pub transactions: u32,
    /// How long a transaction of one more session may stay open between two operations.
    pub long_ns: Option<u64>,
    /// What the sessions do.
    pub shape: Shape,
    /// Whether everything in the file is checked against everything when it is over.
    pub check_after: bool,
}

/// Everything that one seed decides.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Seed that the plan was drawn from.
    pub seed: u64,
    /// Settings of the engine.
    pub settings: EngineSettings,
    /// What a power cut can tear.
    pub tearing: Tearing,
    /// What goes wrong besides power cuts.
    pub fault: PlannedFault,
    /// The lifetimes of the database, in order.
    pub lifetimes: Vec<Lifetime>,
}

impl Plan {
    /// The plan that a seed stands for.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let page_bytes = if random.random_range(0..4) == 0 {
            8192
        } else {
            4096
        };
        let settings = draw_settings(&mut random, page_bytes);
        // Without images in the log, most storage under test writes pages atomically.
        let is_torn = match settings.engine.torn_pages {
            TornPages::LogImages => random.random_bool(0.9),
            TornPages::Detect => random.random_bool(0.2),
        };
        let tearing = if is_torn {
            Tearing::Sectors
        } else {
            let bytes = page_bytes as u64;
            Tearing::Pages { bytes }
        };
        let count = random.random_range(2..5);
        let fault = PlannedFault::draw(&mut random, page_bytes as u64, count);
        let lifetimes: Vec<Lifetime> = (0..count)
            .map(|number| draw_lifetime(&mut random, number + 1 == count))
            .collect();
        Self {
            seed,
            settings,
            tearing,
            fault,
            lifetimes,
        }
    }
}

fn draw_settings(random: &mut Xoshiro256PlusPlus, page_bytes: usize) -> EngineSettings {
    let mut settings = small_settings(page_bytes);
    let page = page_bytes as u64;
    let engine = &mut settings.engine;
    engine.cache_size_per_database = ByteSize(random.random_range(64..200) * page);
    engine.checkpoint_depth = ByteSize::kib(64 * random.random_range(1..5));
    engine.max_coalesced_write = ByteSize(random.random_range(1..9) * page);
    engine.coalesce_write_gap = ByteSize(random.random_range(0..4) * page);
    engine.circular_logging = random.random_bool(0.8);
    if random.random_bool(0.5) {
        engine.database_writes = WritePolicy::FlushAtCheckpoint;
    }
    if random.random_bool(0.5) {
        engine.torn_pages = TornPages::LogImages;
    }
    settings.maintenance.enabled = random.random_range(0..8) == 0;
    settings.maintenance.pause = TimeSpan::millis(5);
    settings.internals = Internals {
        checkpoint_interval_ms: random.random_range(1..12),
        flush_idle_ms: random.random_range(1..20),
        flush_urgency_step_bytes: 4096 << random.random_range(0..8),
        reserve_log_files: random.random_range(0..3),
        ..Internals::default()
    };
    settings
}

fn draw_lifetime(random: &mut Xoshiro256PlusPlus, is_last: bool) -> Lifetime {
    let ending = match random.random_range(0..16) {
        0..3 => Ending::CutAtRequest(random.random_range(1..60)),
        3..7 => Ending::CutAtRequest(random.random_range(60..1200)),
        7..11 => Ending::CutAfter(random.random_range(0..60_000_000)),
        11..13 => Ending::CutAtEnd,
        13 => Ending::Kill,
        _ => Ending::Close,
    };
    let is_slow = random.random_range(0..3) == 0;
    Lifetime {
        seed: random.random_range(0..1 << 32),
        ending,
        sessions: random.random_range(1..5),
        transactions: random.random_range(4..24),
        long_ns: random
            .random_bool(0.5)
            .then(|| random.random_range(1_000_000..30_000_000)),
        shape: Shape {
            long_percent: random.random_range(0..20),
            most_rows: random.random_range(40..160),
            durable_percent: random.random_range(10..90),
            lazy_within_ms: if is_slow { 200 } else { 3 },
        },
        check_after: is_last || random.random_range(0..4) == 0,
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = &self.settings.engine;
        let writes = match engine.database_writes {
            WritePolicy::WriteThrough => "write-through",
            WritePolicy::FlushAtCheckpoint => "flush-at-checkpoint",
        };
        let torn = match engine.torn_pages {
            TornPages::Detect => "detect",
            TornPages::LogImages => "log-images",
        };
        let unit = match self.tearing {
            Tearing::Sectors => "sectors of 512 bytes",
            Tearing::Pages { .. } => "whole pages",
        };
        let circular = if engine.circular_logging { "on" } else { "off" };
        write!(
            formatter,
            "pages of {}, cache of {} pages, database_writes={writes}, torn_pages={torn}, circular \
             logging {circular}, a power cut leaves {unit}, {} lifetimes; {}",
            engine.page_size,
            engine.cache_pages(),
            self.lifetimes.len(),
            self.fault
        )
    }
}

//! Faults of storage, and what is required of the engine.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{Fault, FaultEffect};
use runtime::{IoFailure, IoOperation};
use std::fmt;
use strum::VariantArray;

/// A kind of fault. Power cuts, torn writes and the reordering of what was not flushed are part of
/// every simulation, whatever else strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray)]
pub enum FaultKind {
    /// Nothing but power cuts.
    PowerCut,
    /// One request fails, once.
    TransientError,
    /// Some requests take up to two seconds.
    Stall,
    /// There is no room for files to grow.
    FullDisk,
    /// A bit is wrong in what a read returns, once.
    FlippedRead,
    /// A bit of a write is wrong on the disk.
    FlippedWrite,
    /// A bit on the disk changes while the power is off.
    FlippedAtRest,
    /// A write is reported as done and was not made.
    LostWrite,
    /// A write is reported as done and was made elsewhere in the file.
    MisdirectedWrite,
    /// A read returns what was there when the disk was powered on.
    StaleRead,
}

/// The file whose requests a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The file with the pages of the database.
    Data,
    /// The log file that is being written.
    Log,
    /// The file with the two copies of the checkpoint.
    Checkpoint,
    /// Whatever file the request is for.
    Any,
}

/// What must hold when a fault was injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// The database opens, shows every acknowledged commit, and is consistent.
    NothingLost,
    /// The same, or an error is reported. Wrong rows are never shown.
    NeverReadWrongly,
    /// The engine itself reports every page that is wrong, because it knows the version of each page
    /// that it has written: when it reads the page, at the latest when the database has been closed
    /// and is read back. What it wrote over before it read it need not be reported. If the process
    /// ends before, by a power cut, its knowledge is gone: then an error is reported if the log that
    /// recovery reads shows that a page is older than it must be, and otherwise nothing in the files
    /// can show it.
    ReportedByPageVersion,
    /// An error is reported if the log was written after the fault. If it was not, the fault looks
    /// like the end of the log, and nothing in the files can show it.
    ReportedByLogSequence,
}

impl FaultKind {
    /// Every kind, in the order of the table.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Whether the storage says nothing of it.
    #[must_use]
    pub fn is_silent(self) -> bool {
        !matches!(
            self,
            Self::PowerCut | Self::TransientError | Self::Stall | Self::FullDisk
        )
    }

    /// What is required of the engine.
    #[must_use]
    pub fn requirement(self, target: Target) -> Requirement {
        match (self, target) {
            (Self::PowerCut | Self::TransientError | Self::Stall | Self::FullDisk, _)
            | (_, Target::Checkpoint) => Requirement::NothingLost,
            (_, Target::Log) => Requirement::ReportedByLogSequence,
            (Self::FlippedRead | Self::FlippedWrite | Self::FlippedAtRest, _) => {
                Requirement::NeverReadWrongly
            }
            (Self::LostWrite | Self::MisdirectedWrite | Self::StaleRead, _) => {
                Requirement::ReportedByPageVersion
            }
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PowerCut => "power cut",
            Self::TransientError => "transient I/O error",
            Self::Stall => "stall",
            Self::FullDisk => "full disk",
            Self::FlippedRead => "bit flipped in a read",
            Self::FlippedWrite => "bit flipped in a write",
            Self::FlippedAtRest => "bit flipped at rest",
            Self::LostWrite => "lost write",
            Self::MisdirectedWrite => "misdirected write",
            Self::StaleRead => "stale read",
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Data => "database file",
            Self::Log => "log",
            Self::Checkpoint => "checkpoint file",
            Self::Any => "any file",
        })
    }
}

/// The fault of one simulation.
#[derive(Debug, Clone)]
pub struct PlannedFault {
    /// What the storage does wrong.
    pub kind: FaultKind,
    /// The file that it is injected into.
    pub target: Target,
    /// In which lifetime of the database, counted from 0.
    pub lifetime: usize,
    /// Which request of that kind is the first to be affected, counted from 1.
    pub nth: u64,
    /// How the disk is to do it; `None` where the simulation does it itself.
    pub order: Option<Fault>,
}

impl PlannedFault {
    /// Draws a fault of a simulation with so many lifetimes.
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus, page_bytes: u64, lifetimes: usize) -> Self {
        let kind = FaultKind::ALL[match random.random_range(0..20) {
            0..10 => 0,
            share => share - 10,
        }];
        let target = draw_target(random, kind);
        let lifetime = random.random_range(0..lifetimes.saturating_sub(1).max(1));
        let nth = draw_number(random);
        let order = order(random, kind, target, nth, page_bytes);
        Self {
            kind,
            target,
            lifetime,
            nth,
            order,
        }
    }

    /// What is required of the engine once it was injected.
    #[must_use]
    pub fn requirement(&self) -> Requirement {
        self.kind.requirement(self.target)
    }
}

impl fmt::Display for PlannedFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            target,
            lifetime,
            ..
        } = self;
        match kind {
            FaultKind::PowerCut => return formatter.write_str("power cuts only"),
            FaultKind::FullDisk => write!(formatter, "{kind}")?,
            FaultKind::FlippedAtRest => write!(formatter, "{kind}, {target}")?,
            _ => write!(formatter, "{kind}, {target}, request {}", self.nth)?,
        }
        write!(formatter, " of lifetime {}", lifetime + 1)
    }
}

fn draw_target(random: &mut Xoshiro256PlusPlus, kind: FaultKind) -> Target {
    use Target::{Any, Checkpoint, Data, Log};
    match (kind, random.random_range(0..10)) {
        (FaultKind::PowerCut | FaultKind::FullDisk, _) | (FaultKind::TransientError, 0..4) => Any,
        (FaultKind::FlippedAtRest | FaultKind::FlippedRead | FaultKind::StaleRead, _)
        | (_, 0..7) => Data,
        (_, 7..9) => Log,
        (_, _) => Checkpoint,
    }
}

/// Small numbers as often as large ones.
fn draw_number(random: &mut Xoshiro256PlusPlus) -> u64 {
    let most = 1 << random.random_range(0..9);
    random.random_range(1..=most)
}

fn order(
    random: &mut Xoshiro256PlusPlus,
    kind: FaultKind,
    target: Target,
    nth: u64,
    page_bytes: u64,
) -> Option<Fault> {
    let of = |operation, effect| Some(Fault::once(operation, nth, effect));
    let fault = match kind {
        FaultKind::PowerCut | FaultKind::FullDisk | FaultKind::FlippedAtRest => None,
        FaultKind::TransientError => {
            let failure = IoFailure::Device("input/output error".to_owned());
            let operation = [IoOperation::Read, IoOperation::Write, IoOperation::Sync];
            Some(Fault {
                operation: operation.get(random.random_range(0..4_usize)).copied(),
                file_contains: None,
                from: nth,
                count: 1,
                effect: FaultEffect::Fail(failure),
            })
        }
        FaultKind::Stall => {
            let by_ns = random.random_range(50_000_000..2_000_000_000);
            Some(Fault {
                operation: None,
                file_contains: None,
                from: nth,
                count: random.random_range(1..4),
                effect: FaultEffect::Delay { by_ns },
            })
        }
        FaultKind::FlippedRead => of(IoOperation::Read, FaultEffect::FlipBit),
        FaultKind::FlippedWrite => of(IoOperation::Write, FaultEffect::CorruptWrite),
        FaultKind::LostWrite => of(IoOperation::Write, FaultEffect::LoseWrite),
        FaultKind::MisdirectedWrite => {
            let unit = if target == Target::Data {
                page_bytes
            } else {
                4096
            };
            let distance = random.random_range(1..8) * unit as i64;
            let by_bytes = if random.random_bool(0.5) {
                distance
            } else {
                -distance
            };
            of(IoOperation::Write, FaultEffect::MisdirectWrite { by_bytes })
        }
        FaultKind::StaleRead => of(IoOperation::Read, FaultEffect::ReadStale),
    };
    let part = match target {
        Target::Data => crate::table::DATABASE_FILE,
        Target::Log => "log/E00.log",
        Target::Checkpoint => "log/E00.chk",
        Target::Any => return fault,
    };
    fault.map(|fault| fault.on_file(part))
}

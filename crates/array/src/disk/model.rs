//! Any disk: one of the models behind one type, chosen by its description.

use super::hard_disk::HardDisk;
use super::ideal::IdealDisk;
use super::solid_state::SolidState;
use super::{Disk, DiskCompletion, DiskCounters, DiskDescription, DiskRequest};
use crate::Complaint;

/// Why a disk cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiskError {
    /// The description breaks rules.
    #[error("the disk '{title}' cannot exist: {}", list(complaints))]
    Description {
        /// The disk's title.
        title: String,
        /// Every broken rule.
        complaints: Vec<Complaint>,
    },
}

fn list(complaints: &[Complaint]) -> String {
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    lines.join(" ")
}

/// One of the models of a disk. A request costs a jump, not a call through a pointer.
#[derive(Debug, Clone)]
pub enum DiskModel {
    /// Platters and an arm.
    HardDisk(Box<HardDisk>),
    /// Flash.
    SolidState(Box<SolidState>),
    /// Textbook servers with one queue.
    Ideal(Box<IdealDisk>),
}

impl DiskModel {
    /// Builds the disk a description speaks of. What is random in it comes from `seed`.
    ///
    /// # Errors
    ///
    /// [`DiskError::Description`] with every complaint of [`DiskDescription::check`].
    pub fn new(description: &DiskDescription, seed: u64) -> Result<Self, DiskError> {
        let complaints = description.check();
        if complaints.is_empty()
            && let Some(disk) = Self::build(description, seed)
        {
            return Ok(disk);
        }
        Err(DiskError::Description {
            title: description.title.clone(),
            complaints,
        })
    }

    fn build(description: &DiskDescription, seed: u64) -> Option<Self> {
        if let Some(hard_disk) = &description.hard_disk {
            return HardDisk::new(hard_disk, seed).map(|disk| Self::HardDisk(Box::new(disk)));
        }
        if let Some(flash) = &description.solid_state {
            return SolidState::new(flash, seed).map(|disk| Self::SolidState(Box::new(disk)));
        }
        let ideal = description.ideal.as_ref()?;
        Some(Self::Ideal(Box::new(IdealDisk::new(ideal, seed))))
    }

    /// An unused disk of the same make. Tables that depend on the make alone are shared, so the
    /// second and later disks of an array cost little and keep the processor's caches warm.
    pub fn another(&self, seed: u64) -> Self {
        match self {
            Self::HardDisk(disk) => Self::HardDisk(Box::new(disk.another(seed))),
            Self::SolidState(disk) => Self::SolidState(Box::new(disk.another(seed))),
            Self::Ideal(disk) => Self::Ideal(Box::new(disk.another(seed))),
        }
    }
}

macro_rules! each {
    ($self:ident, $disk:ident => $call:expr) => {
        match $self {
            DiskModel::HardDisk($disk) => $call,
            DiskModel::SolidState($disk) => $call,
            DiskModel::Ideal($disk) => $call,
        }
    };
}

impl Disk for DiskModel {
    fn capacity_sectors(&self) -> u64 {
        each!(self, disk => disk.capacity_sectors())
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        each!(self, disk => disk.submit(now_ns, request));
    }

    #[inline]
    fn next_completion_ns(&self) -> Option<u64> {
        each!(self, disk => disk.next_completion_ns())
    }

    #[inline]
    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        each!(self, disk => disk.complete(now_ns))
    }

    #[inline]
    fn queued(&self) -> usize {
        each!(self, disk => disk.queued())
    }

    fn on_board_queue_depth(&self) -> usize {
        each!(self, disk => disk.on_board_queue_depth())
    }

    fn counters(&self) -> &DiskCounters {
        each!(self, disk => disk.counters())
    }
}

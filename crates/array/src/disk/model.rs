//! One type for all models of disks, chosen by the description.

use enum_dispatch::enum_dispatch;

use super::cloud_volume::CloudVolume;
use super::hard_disk::HardDisk;
use super::ideal::IdealDisk;
use super::interface::Disk;
use super::solid_state::SolidState;
use super::{DiskCompletion, DiskCounters, DiskDescription, DiskRequest};
use crate::BrokenRule;

/// Why a disk cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiskError {
    /// The description breaks rules.
    #[error("the disk '{title}' cannot exist: {}", BrokenRule::join(broken_rules))]
    Description {
        /// The title in the disk's description.
        title: String,
        /// Every rule the description breaks.
        broken_rules: Vec<BrokenRule>,
    },
}

/// One of the models of a disk. A request costs a jump, not a call through a pointer.
#[enum_dispatch(Disk)]
#[derive(Debug, Clone)]
pub enum DiskModel {
    /// Platters and an arm.
    HardDisk(HardDisk),
    /// A solid-state disk: flash behind a controller.
    SolidState(SolidState),
    /// The limits of a contract, and latency.
    CloudVolume(CloudVolume),
    /// Textbook servers with one queue.
    Ideal(IdealDisk),
}

impl DiskModel {
    /// Builds the disk a description speaks of. What is random in it comes from `seed`.
    ///
    /// # Errors
    ///
    /// [`DiskError::Description`] with every broken rule of [`DiskDescription::check`].
    pub fn new(description: &DiskDescription, seed: u64) -> Result<Self, DiskError> {
        let broken_rules = description.check();
        if broken_rules.is_empty()
            && let Some(disk) = Self::build(description, seed)
        {
            return Ok(disk);
        }
        Err(DiskError::Description {
            title: description.title.clone(),
            broken_rules,
        })
    }

    fn build(description: &DiskDescription, seed: u64) -> Option<Self> {
        if let Some(hard_disk) = &description.hard_disk {
            return HardDisk::new(hard_disk, seed).map(Self::HardDisk);
        }
        if let Some(flash) = &description.solid_state {
            return SolidState::new(flash, seed).map(Self::SolidState);
        }
        if let Some(volume) = &description.cloud_volume {
            return Some(Self::CloudVolume(CloudVolume::new(volume, seed)));
        }
        let ideal = description.ideal.as_ref()?;
        Some(Self::Ideal(IdealDisk::new(ideal, seed)))
    }

    /// Takes the credits for bursts from a cloud volume; other disks have none.
    pub(crate) fn spend_credits(&mut self, now_ns: u64) {
        if let Self::CloudVolume(volume) = self {
            volume.spend_credits(now_ns);
        }
    }

    /// An unused disk of the same make. Tables that depend on the make alone are shared, so the
    /// second and later disks of an array cost little and keep the CPU's caches warm.
    pub fn another(&self, seed: u64) -> Self {
        match self {
            Self::HardDisk(disk) => Self::HardDisk(disk.another(seed)),
            Self::SolidState(disk) => Self::SolidState(disk.another(seed)),
            Self::CloudVolume(volume) => Self::CloudVolume(volume.another(seed)),
            Self::Ideal(disk) => Self::Ideal(disk.another(seed)),
        }
    }
}

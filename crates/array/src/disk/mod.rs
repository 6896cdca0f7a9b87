//! Disks: how long a request of sectors takes, and in which order a disk serves what it holds.
//!
//! [`Disk`] is what an array may ask of a disk. [`DiskModel`] is any of the models, built from a
//! [`DiskDescription`]: [`HardDisk`] with platters and an arm, [`SolidState`] with dies and
//! channels, [`CloudVolume`] with the limits of a contract, and the textbook station [`IdealDisk`]
//! for checks against queueing theory;
//! [`SlowableDisk`] is one that is slower than its make for a while. What is
//! stored on a disk is not kept here but in the station around it. [`BUNDLED_DISKS`] are
//! descriptions of real products, each number with its source.

mod bundled;
mod cloud_volume;
mod counters;
mod description;
mod hard_disk;
mod ideal;
mod in_service;
mod interface;
mod lognormal;
mod model;
mod request;
mod slowed;
mod solid_state;

#[cfg(test)]
mod description_tests;
#[cfg(test)]
mod ideal_tests;
#[cfg(test)]
mod slowed_tests;

pub use bundled::{BUNDLED_DISKS, BundledDisk, bundled_disk};
pub use cloud_volume::{CloudVolume, CloudVolumeDescription};
pub use counters::{DiskCounters, InvariantError, ServiceParts};
pub use description::DiskDescription;
pub use hard_disk::{
    HardDisk, HardDiskDescription, MeasuredSeeks, MeasuredZone, ReadCacheDescription, Scheduler,
    SeekCurve, SeekRow, SeekTimes, SheetSeeks,
};
pub use ideal::{IdealDescription, IdealDisk, ServiceDistribution};
pub use interface::{Disk, MAX_CAPACITY_BYTES};
pub use model::{DiskError, DiskModel};
pub use request::{DiskCompletion, DiskRequest};
pub use slowed::SlowableDisk;
pub use solid_state::{SolidState, SolidStateDescription, WriteHistory};

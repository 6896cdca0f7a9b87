//! A storage array as mechanism: what a request to a volume costs once it has gone through ports,
//! controllers, caches, pools and RAID to the disks, and what is stored there.
//!
//! Everything here is plain state to which times are passed in. There are no tasks and no clock: whoever
//! drives the array asks it when something happens next and lets it go on until then, so the same
//! model runs a day in minutes or, paced, in real time.
//!
//! From the disks up: [`disk`] serves requests for sectors as a hard disk, as flash or as
//! a textbook server; a [`station`] is a bay with a disk, its queues and its contents, and the
//! `event_queue` knows which of them is done next. [`raid`] says where the sectors of a group lie and
//! [`group`] turns reads and writes of a group into the disk requests they cause, also while disks
//! fail and are rebuilt. [`pool`] cuts volumes into pages on tiers, moves them, and keeps a read
//! cache on flash. Controllers, ports and the data cache are in front, and [`Array`] is the whole,
//! made from its [`settings`]. What is stored is a [`payload`]: nothing when only times matter,
//! bytes when the model must prove that it loses none. [`bridge`] lets tasks of a runtime await its
//! requests and keep files on its volumes.
//!
//! Addresses and lengths are in [`SECTOR_BYTES`]; times are nanoseconds since the model started.

#![forbid(unsafe_code)]

mod array;
pub mod bridge;
mod broken_rule;
mod cache;
mod controller;
pub mod description;
pub mod disk;
mod event_queue;
pub mod group;
mod host;
mod incident;
mod io;
pub mod kept;
pub mod payload;
pub mod pool;
pub mod raid;
pub mod settings;
mod slab;
pub mod station;

pub use array::counters::{
    ArrayCounters, ControllerCounters, DiskFigures, PortCounters, VolumeCounters,
};
pub use array::{Array, ArrayError, Fault};
pub use broken_rule::BrokenRule;
pub use controller::SerialCounters;
pub use host::{FirstWrite, HostCompletion, HostError, HostOperation, HostRequest, VolumeId};
pub use incident::{Incident, IncidentKind, SectorDamage};
pub use io::{Direction, SECTOR_BYTES};
pub use settings::ArraySettings;

//! Groups of disks: what a request to a RAID group makes the disks do.
//!
//! [`Backend`] holds every disk in its station and every group laid out over them. A
//! [`GroupRequest`] is cut into the disk requests that the group's level causes; its
//! [`GroupCompletion`] comes out when they are done.
//!
//! - [`settings`] and [`check`]: the description, and what can be wrong with it.
//! - [`backend`]: construction, the course of events, failing disks.
//! - [`request`]: requests in flight. [`task`]: what is done to rows of one stripe. [`lock`]: tasks
//!   of a stripe wait for each other. [`flow`]: how disk requests and tasks follow each other.
//! - [`read`], [`write`]: the quick ways. [`repair`]: the careful way when something cannot be read.
//! - [`set`]: members that can be missing, groups and their state. [`faults`]: what goes wrong.
//! - [`rebuild`], [`scrub`]: the background. [`sparing`]: rebuilding into spare space that is spread
//!   over all disks.

mod backend;
mod check;
mod faults;
mod flow;
mod lock;
mod read;
mod rebuild;
mod repair;
mod request;
mod scrub;
mod set;
mod settings;
mod sparing;
mod task;
mod types;
mod write;

#[cfg(test)]
mod tests;

pub use backend::{Backend, BackendError, BackendLawBroken};
pub use rebuild::RebuildView;
pub use set::{GroupCounters, GroupView};
pub use settings::{
    BackendSettings, DiskGroupSettings, MirrorRead, PlacementSettings, RebuildSettings,
    ScrubSettings, SmallWrite, VirtualDiskSettings,
};
pub use types::{
    GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, IoClass, Owner, OwnerRoom,
    StationId,
};

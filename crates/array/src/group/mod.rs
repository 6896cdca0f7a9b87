//! Groups of disks: what a request to a RAID group makes the disks do.
//!
//! [`Backend`] holds every disk in its station and every group laid out over them. A
//! [`GroupRequest`] is cut into the disk requests that the group's level causes; its
//! [`GroupCompletion`] comes out when they are done.
//!
//! - [`settings`] and [`check`]: the description, and what can be wrong with it.
//! - [`backend`]: construction, the course of events, failing disks.
//! - [`request`]: requests in flight, and what is served by single disk requests.
//! - [`set`]: members that can be missing, groups and their state.

mod backend;
mod check;
mod request;
mod set;
mod settings;
mod types;

#[cfg(test)]
mod tests;

pub use backend::{Backend, BackendError};
pub use set::GroupView;
pub use settings::{
    BackendSettings, DiskGroupSettings, MirrorRead, PlacementSettings, RebuildSettings,
    ScrubSettings, SmallWrite, VirtualDiskSettings, VraidLevel,
};
pub use types::{
    GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, IoClass, Owner, OwnerRoom,
    StationId,
};

//! Groups of disks: what a request to a RAID group makes the disks do.
//!
//! [`Backend`] holds every disk in its station and every group laid out over them. A
//! [`GroupRequest`] is cut into the disk requests that the group's level causes; its
//! [`GroupCompletion`] comes out when they are done.
//!
//! - [`settings`] and [`check`]: the description, and what can be wrong with it.
//! - [`interface`]: what pools use. [`backend`]: construction, and how events follow each other.
//!
//! State is kept in parts:
//!
//! - [`disks`]: stations, the requests to them, and the event queue.
//! - [`table`]: disk sets and the groups on them. [`set`]: members that can be missing.
//! - [`request`]: group requests in flight.
//! - [`task`]: what is done to rows of one stripe. [`lock`]: tasks of a stripe wait for each other.
//! - [`background`]: rebuilds and scrubs, with their [`pace`]. [`rules`]: what the settings decide.
//!
//! What happens goes through several of them:
//!
//! - [`submit`]: how group requests begin and end.
//! - [`flow`]: how disk requests and tasks follow each other.
//! - [`read`], [`write`]: the usual ways. [`repair`]: the way when something cannot be read.
//! - [`kept`]: what outlives the process.
//! - [`faults`]: disks that fail and are replaced. [`rebuild`], [`scrub`]: background tasks.
//!   [`sparing`]: rebuilding into spare space that is spread over all disks.

mod backend;
mod background;
mod check;
mod disks;
mod faults;
mod flow;
mod interface;
mod kept;
mod lock;
mod pace;
mod read;
mod rebuild;
mod repair;
mod request;
mod rules;
mod scrub;
mod sector_damage;
mod set;
mod settings;
mod sparing;
mod submit;
mod table;
mod task;
mod types;
mod write;

#[cfg(test)]
mod tests;

pub use crate::io::IoClass;
pub use crate::raid::{GroupId, GroupState};
pub use backend::{Backend, BackendInvariantError};
pub use interface::{Groups, Piece};
pub use rebuild::RebuildView;
pub use set::{GroupCounters, GroupView};
pub use settings::{
    BackendPolicy, BackendSettings, DiskGroupSettings, MirrorRead, PlacementSettings,
    RebuildSettings, ScrubSettings, SmallWrite, VirtualDiskSettings,
};
pub use types::BackendError;
pub use types::{GroupCompletion, GroupError, GroupRequest, StationId};

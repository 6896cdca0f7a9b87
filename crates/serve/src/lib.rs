//! A modelled array in real time: real programs read and write its volumes, and wait as long as the model says.
//!
//! - [`LiveArray`] is the array on a thread of its own, which lets the model go on with the wall clock and answers
//!   each request when the model has ended it. A [`Client`] of it submits requests from any thread.
//! - [`ControlSocket`] takes events while the array is served.
//! - [`mount`] shows the volumes as files of a directory, through FUSE.
//! - [`BlockDevices`] attaches those files to loop devices, and mounts file systems on them.
//! - [`nbd`] serves them to clients of that protocol, virtual machines among them.
//! - [`Served`] is what was served: the time that requests took, and how late the answers were. A [`Meter`] counts it
//!   for each volume, interval by interval.
//!
//! What is stored is kept in memory or in the files of a [`Store`], disk by disk, with the parity and the mirrors of
//! the array.

mod block;
mod client;
mod control;
mod covering;
mod fuse;
mod holders;
mod live_array;
mod meter;
mod mounted;
pub mod nbd;
mod served;
mod socket_file;
mod store;
mod volume;
mod zeros;

pub use block::{BlockDevices, BlockError, LeftInUse, make_file_system};
pub use client::Client;
pub use control::{ControlSocket, ask};
pub use fuse::{MountError, mount};
pub use live_array::{LiveArray, StartError, Watcher};
pub use meter::Meter;
pub use mounted::{Mounted, Unmounted};
pub use served::Served;
pub use socket_file::SocketError;
pub use store::{Description, Progress, Store, StoreError};
pub use volume::ServedVolume;

//! Several processes that carry out one run: ranks, usually one on each host.
//!
//! - [`Peers`] is what a program sees of the other ranks: messages, points that all pass at one moment,
//!   which of them ended early, and which are lost.
//! - A thread of each rank carries the messages (`service`): it sends heartbeats, compares the clocks with that of
//!   rank 0 ([`ClockOffset`]), and never waits for another rank, so that one that died is named within the
//!   timeout of [`Heartbeats`].
//! - [`Transport`] is what carries them: MPI (the crate `ranks-mpi`), or channels within one process
//!   ([`InProcess`]), with which everything above it is tested.
//! - [`launch`] is how the process was started, by what its environment says.

mod clock;
mod in_process;
pub mod launch;
mod message;
mod peers;
mod service;
mod state;
mod transport;

pub use clock::ClockOffset;
pub use in_process::InProcess;
pub use peers::{JoinError, Peers};
pub use service::Heartbeats;
pub use state::{Early, Lost};
pub use transport::{Transport, TransportError};

//! The witness: a second machine that keeps what a run has acknowledged, so that after a power cut it
//! can be found out what of it was lost.
//!
//! A run sends a [`Record`] for each transaction that its database has acknowledged as durable. A record
//! is 24 bytes of sequence numbers and hashes; what it means is known to the workload alone. The witness
//! appends it to a file and answers when the file is on stable storage.
//!
//! - [`Client`] is the run's side: a thread of its own with a bounded queue, which never makes the run
//!   wait. [`fetch()`] reads back what the witness has of a run.
//! - [`Server`] is the second machine's side, `journal` its file of one run.
//! - `handshake` proves to both sides that the other knows the [`Secret`]; `frame` protects every
//!   message after that with a number and a code; `message` is what they say; `wire` is the connection.
//!
//! The protocol authenticates, it does not encrypt: who listens sees sequence numbers and hashes.

mod client;
mod error;
mod fetch;
mod frame;
mod handshake;
mod journal;
mod message;
mod record;
mod secret;
mod server;
mod wire;

pub use client::{Client, Delivery, Sender};
pub use error::WitnessError;
pub use fetch::{FetchedRecords, fetch};
pub use frame::{MAX_FRAME_BYTES, Opener, Sealer};
pub use handshake::Keys;
pub use message::{Message, Refusal, UnreadRecords};
pub use record::{Record, RunId};
pub use secret::{LEAST_SECRET_BYTES, Secret};
pub use server::Server;

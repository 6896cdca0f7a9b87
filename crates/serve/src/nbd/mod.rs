//! The volumes by NBD, the protocol of network block devices: each is an export by its name.
//!
//! What the protocol is made of knows no socket: `wire` has its numbers, `options` and [`Handshake`] agree with
//! a client on an export, [`Request`] is what it wants, `reply` what it gets. `execute` carries requests out on
//! the array. A connection has a thread that takes requests, and `outgoing`, the way of replies, with a thread
//! for those that the socket has no room for; `budget` limits what it may have under way. `tls` is a thread
//! between two sockets, so that nothing else knows of encryption. [`Listener`] and [`NbdServer`] take
//! connections and end them.

mod budget;
mod connection;
mod execute;
mod export;
mod fields;
mod handshake;
#[cfg(test)]
mod handshake_tests;
mod listener;
mod options;
mod outgoing;
mod reply;
mod request;
#[cfg(test)]
mod request_tests;
mod server;
mod socket;
mod tls;
mod wire;

pub use export::{Export, MOST_REQUEST_BYTES};
pub use handshake::{Agreed, Encryption, Handshake, Step};
pub use listener::{Address, ListenError, Listener};
pub use request::{Command, Request};
pub use server::NbdServer;
pub use tls::{Certificate, CertificateError};

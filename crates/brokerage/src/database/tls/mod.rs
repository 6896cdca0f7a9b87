//! Encryption of a connection to a server, as libpq has it.
//!
//! - `settings`: what an address asks for, `sslmode` and `sslrootcert`.
//! - `certificates`: which certificates are accepted.
//! - `layer`: the layer between the buffers of a protocol and the socket.

mod certificates;
mod layer;
mod mode;
mod settings;

pub(super) use layer::TlsLayer;
pub use mode::TlsMode;
pub(super) use settings::FailedAttempt;
pub use settings::TlsSettings;

//! Where a server listens.

use std::path::PathBuf;

/// Host and port, or socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP port of a host.
    Tcp {
        /// Host name or IP address.
        host: String,
        /// TCP port number, 1 to 65535.
        port: u16,
    },
    /// A Unix socket: the path of the file.
    Socket(PathBuf),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Self::Socket(file) => write!(formatter, "{}", file.display()),
        }
    }
}

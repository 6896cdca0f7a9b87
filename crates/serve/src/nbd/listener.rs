//! Where clients connect to.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::net::Shutdown;
use rustix::net::sockopt::{set_socket_keepalive, set_socket_send_buffer_size, set_tcp_nodelay};

use super::socket::Socket;
use crate::socket_file::{SocketError, SocketFile};

/// What comes before the path of a socket.
const UNIX: &str = "unix:";
/// What a Unix socket is asked to hold on its way to a client.
const SEND_BUFFER_BYTES: usize = 4 << 20;

/// An address as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String),
}

impl Address {
    /// Of `unix:PATH` or `HOST:PORT`; `None` if it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix(UNIX) {
            return (!path.is_empty()).then(|| Self::Unix(path.into()));
        }
        let (host, port) = text.rsplit_once(':')?;
        let is_address = !host.is_empty() && port.parse::<u16>().is_ok();
        is_address.then(|| Self::Tcp(text.to_owned()))
    }
}

/// Why nothing is listened at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The name of the host has no address.
    #[error("{0}: {1}")]
    Unresolved(String, io::Error),
    /// Other machines can reach it, and it would not be encrypted.
    #[error("{0} can be reached by other machines")]
    Exposed(SocketAddr),
    /// Another program listens there.
    #[error("{0} is in use")]
    InUse(String),
    /// There is a file that is no socket.
    #[error("{0} is no socket")]
    NoSocket(PathBuf),
    /// The system has refused it.
    #[error("{0}: {1}")]
    System(String, io::Error),
}

impl From<SocketError> for ListenError {
    fn from(error: SocketError) -> Self {
        match error {
            SocketError::InUse(path) => Self::InUse(path.display().to_string()),
            SocketError::NoSocket(path) => Self::NoSocket(path),
            SocketError::System(path, error) => Self::System(path.display().to_string(), error),
        }
    }
}

#[derive(Debug)]
enum Kind {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// A socket that takes connections.
#[derive(Debug)]
pub(super) struct Acceptor(Kind);

impl Acceptor {
    /// Waits for the next client.
    pub fn accept(&self) -> io::Result<Socket> {
        Ok(match &self.0 {
            Kind::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                // Room for the replies of a deep queue, as far as the system allows it; TCP finds its own.
                let _ = set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES);
                Socket::new(stream)
            }
            Kind::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                // Small replies do not wait for others, and clients that are gone are noticed some day.
                let _ = set_tcp_nodelay(&stream, true);
                let _ = set_socket_keepalive(&stream, true);
                Socket::new(stream)
            }
        })
    }

    /// Lets whoever waits for a client go on, with an error.
    pub fn stop(&self) {
        let socket: BorrowedFd<'_> = match &self.0 {
            Kind::Unix(listener) => listener.as_fd(),
            Kind::Tcp(listener) => listener.as_fd(),
        };
        let _ = rustix::net::shutdown(socket, Shutdown::Both);
    }
}

/// What listens at an address.
#[derive(Debug)]
pub struct Listener {
    pub(super) acceptors: Vec<Arc<Acceptor>>,
    _file: Option<SocketFile>,
    /// Host and port, or `None` for a socket in the file system.
    tcp: Option<SocketAddr>,
}

impl Listener {
    /// Listens at an address. One that other machines reach is refused unless connections are `encrypted`.
    ///
    /// # Errors
    /// It is in use or cannot be listened at.
    pub fn bind(address: &Address, encrypted: bool) -> Result<Self, ListenError> {
        match address {
            Address::Unix(path) => bind_unix(path),
            Address::Tcp(text) => bind_tcp(text, encrypted),
        }
    }

    /// The port that it listens at; `None` for a socket in the file system.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.tcp.map(|address| address.port())
    }
}

fn bind_tcp(text: &str, encrypted: bool) -> Result<Listener, ListenError> {
    let addresses = text.to_socket_addrs();
    let addresses = addresses.map_err(|error| ListenError::Unresolved(text.to_owned(), error))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    let exposed = addresses.iter().find(|address| !address.ip().is_loopback());
    if let Some(address) = exposed.filter(|_| !encrypted) {
        return Err(ListenError::Exposed(*address));
    }
    let mut listener = Listener {
        acceptors: Vec::new(),
        _file: None,
        tcp: None,
    };
    let mut missing = ErrorKind::AddrNotAvailable.into();
    for address in addresses {
        // All addresses of a host have the port that the system has chosen for the first.
        let port = listener.port().unwrap_or(address.port());
        match TcpListener::bind((address.ip(), port)) {
            Ok(bound) => {
                listener.tcp = listener.tcp.or(bound.local_addr().ok());
                let acceptor = Acceptor(Kind::Tcp(bound));
                listener.acceptors.push(Arc::new(acceptor));
            }
            // A host without IPv6 has names with addresses of it all the same.
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => missing = error,
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                return Err(ListenError::InUse(address.to_string()));
            }
            Err(error) => return Err(ListenError::System(address.to_string(), error)),
        }
    }
    match listener.acceptors.is_empty() {
        true => Err(ListenError::System(text.to_owned(), missing)),
        false => Ok(listener),
    }
}

fn bind_unix(path: &Path) -> Result<Listener, ListenError> {
    let (bound, file) = SocketFile::listen(path)?;
    Ok(Listener {
        acceptors: vec![Arc::new(Acceptor(Kind::Unix(bound)))],
        _file: Some(file),
        tcp: None,
    })
}

//! The socket to a server, and whole messages on it.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};

use crate::database::target::Endpoint;
use crate::error::DatabaseError;

/// Bytes that one read asks for.
const READ_BYTES: usize = 32 * 1024;

/// No answer of the house has a message longer than this: what claims to is no PostgreSQL.
const LONGEST_MESSAGE_BYTES: i32 = 256 * 1024 * 1024;

/// A Unix or TCP socket.
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// A connection as messages.
pub(super) struct Wire {
    stream: Stream,
    /// Messages to be sent.
    pub outgoing: BytesMut,
    incoming: BytesMut,
    piece: Box<[u8]>,
    server: String,
}

impl Wire {
    /// Connects, waiting no longer than `patience` for each step.
    pub fn connect(endpoint: &Endpoint, patience: Duration) -> Result<Self, DatabaseError> {
        let server = endpoint.to_string();
        let stream = match endpoint {
            Endpoint::Socket(file) => UnixStream::connect(file).map(Stream::Unix),
            Endpoint::Tcp { host, port } => connect_tcp(host, *port, patience).map(Stream::Tcp),
        };
        let stream = stream.map_err(|error| {
            DatabaseError::Unavailable(format!("no connection to {server}: {error}"))
        })?;
        let mut wire = Self {
            stream,
            outgoing: BytesMut::with_capacity(8 * 1024),
            incoming: BytesMut::with_capacity(READ_BYTES),
            piece: vec![0; READ_BYTES].into_boxed_slice(),
            server,
        };
        wire.set_patience(Some(patience))?;
        Ok(wire)
    }

    /// How long a read or write may take before the server counts as gone; for ever with `None`.
    pub fn set_patience(&mut self, patience: Option<Duration>) -> Result<(), DatabaseError> {
        let set = match &self.stream {
            Stream::Unix(unix) => unix
                .set_read_timeout(patience)
                .and_then(|()| unix.set_write_timeout(patience)),
            Stream::Tcp(tcp) => tcp
                .set_read_timeout(patience)
                .and_then(|()| tcp.set_write_timeout(patience)),
        };
        set.map_err(|error| self.lost(&error))
    }

    /// Sends what stands in `outgoing`.
    pub fn send(&mut self) -> Result<(), DatabaseError> {
        let Self {
            stream, outgoing, ..
        } = self;
        let sent = stream.write_all(outgoing);
        self.outgoing.clear();
        sent.map_err(|error| self.lost(&error))
    }

    /// Sends bytes that were put together elsewhere.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.stream
            .write_all(bytes)
            .map_err(|error| self.lost(&error))
    }

    /// The next message of the server, other than remarks that ask for nothing.
    pub fn receive(&mut self) -> Result<Message, DatabaseError> {
        loop {
            let parsed = Message::parse(&mut self.incoming).map_err(|error| self.lost(&error))?;
            match parsed {
                Some(Message::NoticeResponse(_) | Message::NotificationResponse(_)) => {}
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    /// Whether a message, or the end of the connection, is there to be read without waiting.
    pub fn has_message(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let now = Timespec::default();
        let mut sockets = [PollFd::new(&self.stream, PollFlags::IN)];
        !self.incoming.is_empty() || poll(&mut sockets, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    fn fill(&mut self) -> Result<(), DatabaseError> {
        if let Ok(Some(header)) = Header::parse(&self.incoming)
            && header.len() > LONGEST_MESSAGE_BYTES
        {
            return Err(self.unavailable("it sent a message without measure"));
        }
        loop {
            match self.stream.read(&mut self.piece) {
                Ok(0) => return Err(self.unavailable("it closed the connection")),
                Ok(length) => {
                    self.incoming.extend_from_slice(&self.piece[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    fn lost(&self, error: &std::io::Error) -> DatabaseError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                self.unavailable("it did not answer in time")
            }
            _ => self.unavailable(&error.to_string()),
        }
    }

    fn unavailable(&self, why: &str) -> DatabaseError {
        DatabaseError::Unavailable(format!("{}: {why}", self.server))
    }
}

fn connect_tcp(host: &str, port: u16, patience: Duration) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                // A server that vanished while a long statement runs is noticed by this alone.
                rustix::net::sockopt::set_socket_keepalive(&stream, true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(unix) => unix.as_fd(),
            Self::Tcp(tcp) => tcp.as_fd(),
        }
    }
}

impl Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(unix) => unix.read(into),
            Self::Tcp(tcp) => tcp.read(into),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Unix(unix) => unix.write_all(bytes),
            Self::Tcp(tcp) => tcp.write_all(bytes),
        }
    }
}

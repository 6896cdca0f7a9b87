//! A socket to a server, Unix or TCP.

use std::future::{Future, poll_fn};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use runtime::Handle;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::target::Endpoint;
use crate::error::DatabaseError;

/// A socket, and the name of what it leads to for the errors it gives.
pub(super) struct Socket {
    stream: Stream,
    server: String,
    patience: Option<Duration>,
    /// Whether other tasks of the runtime may work while somebody waits here.
    shares_thread: bool,
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects, waiting no longer than `patience` for each step and for what is read and written
    /// afterwards.
    pub fn connect(endpoint: &Endpoint, patience: Duration) -> Result<Self, DatabaseError> {
        let server = endpoint.to_string();
        let stream = match endpoint {
            Endpoint::Socket(file) => UnixStream::connect(file).map(Stream::Unix),
            Endpoint::Tcp { host, port } => connect_tcp(host, *port, patience).map(Stream::Tcp),
        };
        let stream = stream.map_err(|error| {
            DatabaseError::Unavailable(format!("no connection to {server}: {error}"))
        })?;
        let mut socket = Self {
            stream,
            server,
            patience: None,
            shares_thread: false,
        };
        socket.set_patience(Some(patience))?;
        Ok(socket)
    }

    /// How long a read or write may take before the server counts as gone; for ever with `None`.
    pub fn set_patience(&mut self, patience: Option<Duration>) -> Result<(), DatabaseError> {
        self.patience = patience;
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

    /// Whether nobody but the system can listen.
    pub fn is_private(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    /// Whether something can be read without waiting; the end of the connection counts.
    pub fn is_readable(&self) -> bool {
        self.poll(Some(Duration::ZERO)).is_ok_and(|ready| ready)
    }

    /// Waits at most so long for something to read.
    fn poll(&self, patience: Option<Duration>) -> std::io::Result<bool> {
        let longest = patience.map(|patience| Timespec {
            tv_sec: patience.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        });
        let mut sockets = [PollFd::new(&self.stream, PollFlags::IN)];
        Ok(poll(&mut sockets, longest.as_ref())? > 0)
    }

    /// From now on [`read_or_let_work`](Self::read_or_let_work) lets other tasks work.
    pub fn share_thread(&mut self) {
        self.shares_thread = true;
    }

    /// Reads as [`read`](Self::read) does. A task of a runtime lets others work until there is
    /// something, where that was allowed.
    pub async fn read_or_let_work(&mut self, into: &mut [u8]) -> Result<usize, DatabaseError> {
        if self.shares_thread && !self.wait_as_task().await {
            return Err(self.lost(&ErrorKind::TimedOut.into()));
        }
        self.read(into)
    }

    /// Whether something came in time to be read.
    async fn wait_as_task(&self) -> bool {
        let Some(handle) = Handle::current() else {
            return true;
        };
        let Some(readable) = handle.readable(self.stream.as_fd()) else {
            return true;
        };
        let Some(patience) = self.patience else {
            readable.await;
            return true;
        };
        let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        let (mut readable, mut late) = (pin!(readable), pin!(handle.sleep_ns(patience_ns)));
        poll_fn(|context| {
            if readable.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            late.as_mut().poll(context).map(|()| false)
        })
        .await
    }

    /// Reads what is there, at least one byte.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, DatabaseError> {
        loop {
            // A thread that waits in a read of a Unix socket is woken when the peer takes what was
            // sent to it, too, only to sleep again. One that polls is not; a task has waited
            // before it comes here.
            if self.is_private() && !self.shares_thread {
                match self.poll(self.patience) {
                    Ok(true) => {}
                    Ok(false) => return Err(self.lost(&ErrorKind::TimedOut.into())),
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(self.lost(&error)),
                }
            }
            let read = match &mut self.stream {
                Stream::Unix(unix) => unix.read(into),
                Stream::Tcp(tcp) => tcp.read(into),
            };
            match read {
                Ok(0) => return Err(self.unavailable("it closed the connection")),
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(&error)),
            }
        }
    }

    /// Writes all of it.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        let written = match &mut self.stream {
            Stream::Unix(unix) => unix.write_all(bytes),
            Stream::Tcp(tcp) => tcp.write_all(bytes),
        };
        written.map_err(|error| self.lost(&error))
    }

    fn lost(&self, error: &std::io::Error) -> DatabaseError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                self.unavailable("it did not answer in time")
            }
            _ => self.unavailable(&error.to_string()),
        }
    }

    /// An error of this connection.
    pub fn unavailable(&self, why: &str) -> DatabaseError {
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

impl Drop for Socket {
    fn drop(&mut self) {
        // A wait that was given up would keep the connection open for as long as the server does. A
        // connection that is gone needs no shutting down.
        if self.shares_thread {
            let _ = rustix::net::shutdown(&self.stream, rustix::net::Shutdown::Both);
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(unix) => unix.as_fd(),
            Self::Tcp(tcp) => tcp.as_fd(),
        }
    }
}

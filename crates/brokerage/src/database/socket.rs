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

use super::endpoint::Endpoint;
use crate::error::DatabaseError;

/// A socket, and the name of its peer for error messages.
pub(super) struct Socket {
    stream: Stream,
    server: String,
    timeout: Option<Duration>,
    /// Whether other tasks of the runtime may run while this one waits.
    shares_thread: bool,
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects, waiting at most `timeout` for each step and for later reads and writes.
    pub fn connect(endpoint: &Endpoint, timeout: Duration) -> Result<Self, DatabaseError> {
        let server = endpoint.to_string();
        let stream = match endpoint {
            Endpoint::Socket(file) => UnixStream::connect(file).map(Stream::Unix),
            Endpoint::Tcp { host, port } => connect_tcp(host, *port, timeout).map(Stream::Tcp),
        };
        let stream = stream.map_err(|error| {
            DatabaseError::Unavailable(format!("no connection to {server}: {error}"))
        })?;
        let mut socket = Self {
            stream,
            server,
            timeout: None,
            shares_thread: false,
        };
        socket.set_timeout(Some(timeout))?;
        Ok(socket)
    }

    /// Timeout for a read or write, after which the server counts as gone; none with `None`.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), DatabaseError> {
        self.timeout = timeout;
        let set = match &self.stream {
            Stream::Unix(unix) => unix
                .set_read_timeout(timeout)
                .and_then(|()| unix.set_write_timeout(timeout)),
            Stream::Tcp(tcp) => tcp
                .set_read_timeout(timeout)
                .and_then(|()| tcp.set_write_timeout(timeout)),
        };
        set.map_err(|error| self.lost(&error))
    }

    /// Whether the connection is local, so that nobody can eavesdrop.
    pub fn is_private(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    /// Whether something can be read without waiting; the end of the connection counts.
    pub fn is_readable(&self) -> bool {
        self.poll(Some(Duration::ZERO)).is_ok_and(|ready| ready)
    }

    /// Waits at most this long for something to read.
    fn poll(&self, timeout: Option<Duration>) -> std::io::Result<bool> {
        let longest = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut sockets = [PollFd::new(&self.stream, PollFlags::IN)];
        Ok(poll(&mut sockets, longest.as_ref())? > 0)
    }

    /// From now on [`read_or_yield`](Self::read_or_yield) lets other tasks run.
    pub fn share_thread(&mut self) {
        self.shares_thread = true;
    }

    /// As [`read`](Self::read). A task of a runtime yields until there is something, if allowed.
    pub async fn read_or_yield(&mut self, into: &mut [u8]) -> Result<usize, DatabaseError> {
        if self.shares_thread && !self.wait_as_task().await {
            return Err(self.lost(&ErrorKind::TimedOut.into()));
        }
        self.read(into)
    }

    /// Whether something to read came in time.
    async fn wait_as_task(&self) -> bool {
        let Some(handle) = Handle::current() else {
            return true;
        };
        let Some(readable) = handle.readable(self.stream.as_fd()) else {
            return true;
        };
        let Some(timeout) = self.timeout else {
            readable.await;
            return true;
        };
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let (mut readable, mut late) = (pin!(readable), pin!(handle.sleep_ns(timeout_ns)));
        poll_fn(|context| {
            if readable.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            late.as_mut().poll(context).map(|()| false)
        })
        .await
    }

    /// Reads what has arrived, at least one byte.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, DatabaseError> {
        loop {
            // A thread blocked in a read of a Unix socket is also woken when the peer takes what
            // was sent to it, only to sleep again. One that polls is not; a task has waited before
            // it comes here.
            if self.is_private() && !self.shares_thread {
                match self.poll(self.timeout) {
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

    /// Writes all bytes, blocking the thread.
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

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                // Only this detects a server that vanished while a long statement runs.
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
        // A cancelled wait would keep the connection open for as long as the server does. A
        // connection that is gone needs no shutdown.
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

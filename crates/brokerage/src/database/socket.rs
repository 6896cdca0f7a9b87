//! A socket to a server, Unix or TCP, encrypted or not.

use std::future::{Future, poll_fn};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use runtime::Handle;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::endpoint::Endpoint;
use super::tls::{TlsLayer, TlsSettings};
use crate::error::DatabaseError;

/// A socket, and the name of its peer for error messages.
pub(super) struct Socket {
    stream: Stream,
    /// What encrypts, after [`encrypt`](Self::encrypt).
    tls: Option<Box<TlsLayer>>,
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
            DatabaseError::unavailable(format!("no connection to {server}: {error}"))
        })?;
        let mut socket = Self {
            stream,
            tls: None,
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

    /// Encrypts from now on: the server, known as `host`, has agreed to it.
    ///
    /// # Errors
    /// It has no certificate that is accepted, or does not answer.
    pub fn encrypt(&mut self, settings: &TlsSettings, host: &str) -> Result<(), DatabaseError> {
        let server = &self.server;
        let lost = |error: &std::io::Error| lost(server, error);
        let layer = TlsLayer::start(settings, host, &mut self.stream, lost)?;
        self.tls = Some(Box::new(layer));
        Ok(())
    }

    fn is_local(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether the connection is encrypted or local, so that nobody can eavesdrop.
    pub fn is_private(&self) -> bool {
        self.is_local() || self.tls.is_some()
    }

    /// What it is, and how it is encrypted.
    pub fn describe(&self) -> String {
        match &self.tls {
            Some(layer) => format!("TCP, encrypted with {}", layer.describe()),
            None if self.is_local() => "Unix socket".to_owned(),
            None => "TCP, not encrypted".to_owned(),
        }
    }

    /// Whether something can be read without waiting; the end of the connection counts.
    pub fn is_readable(&mut self) -> bool {
        let is_ready = |socket: &Self| socket.poll(Some(Duration::ZERO)).is_ok_and(|ready| ready);
        let Some(mut layer) = self.tls.take() else {
            return is_ready(self);
        };
        let mut has_ended = false;
        // What has come may be of use to the layer only.
        while !has_ended && !layer.has_plain_bytes() && is_ready(self) {
            has_ended = !matches!(layer.receive(&mut self.stream), Ok(None | Some(1..)));
        }
        let is_readable = has_ended || layer.has_plain_bytes();
        self.tls = Some(layer);
        is_readable
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
        loop {
            if let Some(length) = self.take_decrypted(into)? {
                return Ok(length);
            }
            if self.shares_thread && !self.wait_as_task().await {
                return Err(self.lost(&ErrorKind::TimedOut.into()));
            }
            if let Some(length) = self.receive(into)? {
                return Ok(length);
            }
        }
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
            if let Some(length) = self.take_decrypted(into)? {
                return Ok(length);
            }
            if let Some(length) = self.receive(into)? {
                return Ok(length);
            }
        }
    }

    /// Takes what the layer that decrypts has, if anything.
    fn take_decrypted(&mut self, into: &mut [u8]) -> Result<Option<usize>, DatabaseError> {
        let taken = match &mut self.tls {
            Some(layer) => layer.take(into),
            None => return Ok(None),
        };
        match taken {
            Ok(Some(0)) => Err(self.closed()),
            Ok(taken) => Ok(taken),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Reads once from the socket: into the buffer, or for the layer that decrypts.
    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, DatabaseError> {
        // A thread blocked in a read of a Unix socket is also woken when the peer takes what was
        // sent to it, only to sleep again. One that polls is not; a task has waited before it comes
        // here.
        if self.is_local() && !self.shares_thread {
            match self.poll(self.timeout) {
                Ok(true) => {}
                Ok(false) => return Err(self.lost(&ErrorKind::TimedOut.into())),
                Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(None),
                Err(error) => return Err(self.lost(&error)),
            }
        }
        let read = match &mut self.tls {
            // Its end is found when nothing can be taken any more.
            Some(layer) => layer.receive(&mut self.stream).map(|_| None),
            None => self.stream.read(into).map(Some),
        };
        match read {
            Ok(Some(0)) => Err(self.closed()),
            Ok(length) => Ok(length),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Writes all bytes, blocking the thread.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        let written = match &mut self.tls {
            Some(layer) => layer.write_all(bytes, &mut self.stream),
            None => self.stream.write_all(bytes),
        };
        written.map_err(|error| self.lost(&error))
    }

    fn closed(&self) -> DatabaseError {
        self.unavailable("it closed the connection")
    }

    fn lost(&self, error: &std::io::Error) -> DatabaseError {
        lost(&self.server, error)
    }

    /// An error of this connection.
    pub fn unavailable(&self, why: &str) -> DatabaseError {
        unavailable(&self.server, why)
    }
}

fn lost(server: &str, error: &std::io::Error) -> DatabaseError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            unavailable(server, "it did not answer in time")
        }
        _ => unavailable(server, &error.to_string()),
    }
}

fn unavailable(server: &str, why: &str) -> DatabaseError {
    DatabaseError::unavailable(format!("{server}: {why}"))
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

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(unix) => unix.read(into),
            Self::Tcp(tcp) => tcp.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(unix) => unix.write(bytes),
            Self::Tcp(tcp) => tcp.write(bytes),
        }
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> std::io::Result<usize> {
        match self {
            Self::Unix(unix) => unix.write_vectored(bytes),
            Self::Tcp(tcp) => tcp.write_vectored(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

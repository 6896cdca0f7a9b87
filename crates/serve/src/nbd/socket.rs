//! A connected socket, of whatever kind.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};

/// A connected socket that several threads use.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

/// Whether a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// Until there are bytes, or room for them.
    Yes,
    /// It fails with `WouldBlock` instead.
    No,
}

impl Socket {
    pub fn new(socket: impl Into<OwnedFd>) -> Self {
        Self(socket.into())
    }

    /// Two that are connected with each other.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Self::new(one), Self::new(other)))
    }

    /// Sends some of the bytes; returns how many.
    pub fn send(&self, parts: &[IoSlice<'_>], waits: Waits) -> io::Result<usize> {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::DONTWAIT, waits == Waits::No);
        let mut nothing = SendAncillaryBuffer::default();
        Ok(rustix::net::sendmsg(&self.0, parts, &mut nothing, flags)?)
    }

    /// Receives some bytes; returns how many, 0 at the end.
    pub fn receive(&self, into: &mut [u8], waits: Waits) -> io::Result<usize> {
        let mut flags = RecvFlags::empty();
        flags.set(RecvFlags::DONTWAIT, waits == Waits::No);
        let (_, length) = rustix::net::recv(&self.0, into, flags)?;
        Ok(length)
    }

    /// Ends one direction or both, for all threads that use it. One that has ended already stays so.
    pub fn shut_down(&self, how: Shutdown) {
        let _ = rustix::net::shutdown(&self.0, how);
    }

    /// How long a call may wait.
    pub fn set_time_limit(&self, limit: Option<Duration>) -> io::Result<()> {
        set_socket_timeout(&self.0, Timeout::Recv, limit)?;
        Ok(set_socket_timeout(&self.0, Timeout::Send, limit)?)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Read for &Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive(into, Waits::Yes)
    }
}

/// A socket whose calls all have to end by a point in time.
pub(super) struct Until<'a> {
    pub socket: &'a Socket,
    pub deadline: Instant,
}

impl Until<'_> {
    /// The limit is that of the whole, so that a client that sends byte by byte gains nothing.
    fn limit(&self) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => self.socket.set_time_limit(Some(left)),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.limit()?;
        self.socket.receive(into, Waits::Yes)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.limit()?;
        self.socket.send(&[IoSlice::new(bytes)], Waits::Yes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Messages on a socket.

use std::time::Duration;

use bytes::{Buf, BytesMut};
use postgres_protocol::message::backend::{Header, Message};

use crate::database::endpoint::Endpoint;
use crate::database::socket::Socket;
use crate::database::tls::TlsSettings;
use crate::error::DatabaseError;

/// Bytes of a message's header: kind and length.
const HEAD_BYTES: usize = 5;

/// Most bytes taken from the socket at once.
const READ_BYTES: usize = 32 * 1024;

/// No message is longer than this: a server that claims so is no PostgreSQL.
const LONGEST_MESSAGE_BYTES: i32 = 256 * 1024 * 1024;

/// A connection as messages.
pub(super) struct Wire {
    socket: Socket,
    /// Messages to be sent.
    pub outgoing: BytesMut,
    incoming: BytesMut,
    piece: Box<[u8]>,
}

impl Wire {
    /// Connects, waiting at most `timeout` for each step.
    pub fn connect(endpoint: &Endpoint, timeout: Duration) -> Result<Self, DatabaseError> {
        Ok(Self {
            socket: Socket::connect(endpoint, timeout)?,
            outgoing: BytesMut::with_capacity(8 * 1024),
            incoming: BytesMut::with_capacity(READ_BYTES),
            piece: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// Timeout for a read or write, after which the server counts as gone; none with `None`.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), DatabaseError> {
        self.socket.set_timeout(timeout)
    }

    /// Reads the one byte by which the server answers a request for encryption. What follows it in
    /// the clear must not be taken for something that was encrypted, so nothing more is read.
    pub fn receive_byte(&mut self) -> Result<u8, DatabaseError> {
        let mut byte = [0];
        self.socket.read(&mut byte)?;
        Ok(byte[0])
    }

    /// Encrypts from now on; the server has agreed.
    pub fn encrypt(&mut self, settings: &TlsSettings, host: &str) -> Result<(), DatabaseError> {
        self.socket.encrypt(settings, host)
    }

    /// Whether the connection is encrypted or local.
    pub fn is_private(&self) -> bool {
        self.socket.is_private()
    }

    /// What the connection is, and how it is encrypted.
    pub fn describe(&self) -> String {
        self.socket.describe()
    }

    /// Sends the contents of `outgoing`.
    pub fn send(&mut self) -> Result<(), DatabaseError> {
        let sent = self.socket.write_all(&self.outgoing);
        self.outgoing.clear();
        sent
    }

    /// Sends bytes from another buffer.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.socket.write_all(bytes)
    }

    /// Lets other tasks run while messages are waited for.
    pub fn share_thread(&mut self) {
        self.socket.share_thread();
    }

    /// As [`message`](Self::message), but blocks the thread. In a task only for messages that have
    /// arrived already, such as the reason for which the server closed the connection.
    pub fn receive(&mut self) -> Result<Message, DatabaseError> {
        loop {
            if let Some(message) = self.parse()? {
                return Ok(message);
            }
            self.fill_now()?;
        }
    }

    /// The kind of the next message, without consuming it. Blocks the thread.
    pub fn kind(&mut self) -> Result<u8, DatabaseError> {
        loop {
            if let Some((kind, _)) = self.peek()? {
                return Ok(kind);
            }
            self.fill_now()?;
        }
    }

    /// The server's next message, other than notices.
    pub async fn message(&mut self) -> Result<Message, DatabaseError> {
        loop {
            if let Some(message) = self.parse()? {
                return Ok(message);
            }
            self.fill().await?;
        }
    }

    fn parse(&mut self) -> Result<Option<Message>, DatabaseError> {
        loop {
            let parsed = Message::parse(&mut self.incoming)
                .map_err(|error| self.socket.unavailable(&error.to_string()))?;
            match parsed {
                Some(Message::NoticeResponse(_) | Message::NotificationResponse(_)) => {}
                Some(message) => return Ok(Some(message)),
                None => return self.check_length().map(|()| None),
            }
        }
    }

    /// The kind of the next message and its body, to be consumed by [`pass`](Self::pass) or
    /// [`message`](Self::message); `None` when it is incomplete, and [`fill`](Self::fill) must read
    /// more.
    pub fn peek(&self) -> Result<Option<(u8, &[u8])>, DatabaseError> {
        let header = Header::parse(&self.incoming);
        match header.map_err(|error| self.socket.unavailable(&error.to_string()))? {
            // The length counts itself, but not the kind.
            Some(header) if self.incoming.len() > header.len() as usize => {
                let length = header.len() as usize;
                Ok(Some((
                    self.incoming[0],
                    &self.incoming[HEAD_BYTES..=length],
                )))
            }
            _ => self.check_length().map(|()| None),
        }
    }

    /// Consumes the message that was peeked at.
    pub fn pass(&mut self, body_bytes: usize) {
        self.incoming.advance(HEAD_BYTES + body_bytes);
    }

    /// Whether a message, or the end of the connection, can be read without waiting.
    pub fn has_message(&mut self) -> bool {
        !self.incoming.is_empty() || self.socket.is_readable()
    }

    /// Waits for more bytes.
    pub async fn fill(&mut self) -> Result<(), DatabaseError> {
        let length = self.socket.read_or_yield(&mut self.piece).await?;
        self.incoming.extend_from_slice(&self.piece[..length]);
        Ok(())
    }

    /// As [`fill`](Self::fill), but blocks the thread.
    fn fill_now(&mut self) -> Result<(), DatabaseError> {
        let length = self.socket.read(&mut self.piece)?;
        self.incoming.extend_from_slice(&self.piece[..length]);
        Ok(())
    }

    /// Checks that the length of an incomplete message is plausible.
    fn check_length(&self) -> Result<(), DatabaseError> {
        match Header::parse(&self.incoming) {
            Ok(Some(header)) if header.len() > LONGEST_MESSAGE_BYTES => Err(self
                .socket
                .unavailable("it sent a message of an implausible length")),
            _ => Ok(()),
        }
    }
}

//! Whole messages on a socket.

use std::time::Duration;

use bytes::{Buf, BytesMut};
use postgres_protocol::message::backend::{Header, Message};

use crate::database::socket::Socket;
use crate::database::target::Endpoint;
use crate::error::DatabaseError;

/// Bytes in front of a message's body: its kind and its length.
const HEAD_BYTES: usize = 5;

/// Bytes that one read asks for.
const READ_BYTES: usize = 32 * 1024;

/// No answer of the house has a message longer than this: what claims to is no PostgreSQL.
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
    /// Connects, waiting no longer than `patience` for each step.
    pub fn connect(endpoint: &Endpoint, patience: Duration) -> Result<Self, DatabaseError> {
        Ok(Self {
            socket: Socket::connect(endpoint, patience)?,
            outgoing: BytesMut::with_capacity(8 * 1024),
            incoming: BytesMut::with_capacity(READ_BYTES),
            piece: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// How long a read or write may take before the server counts as gone; for ever with `None`.
    pub fn set_patience(&mut self, patience: Option<Duration>) -> Result<(), DatabaseError> {
        self.socket.set_patience(patience)
    }

    /// Sends what stands in `outgoing`.
    pub fn send(&mut self) -> Result<(), DatabaseError> {
        let sent = self.socket.write_all(&self.outgoing);
        self.outgoing.clear();
        sent
    }

    /// Sends bytes that were put together elsewhere.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.socket.write_all(bytes)
    }

    /// Lets other tasks work while messages are waited for.
    pub fn share_thread(&mut self) {
        self.socket.share_thread();
    }

    /// As [`message`](Self::message); the thread waits for it. In a task that is only for what is there
    /// already, such as the last words of a connection that the server has closed.
    pub fn receive(&mut self) -> Result<Message, DatabaseError> {
        loop {
            if let Some(message) = self.parse()? {
                return Ok(message);
            }
            self.fill_now()?;
        }
    }

    /// The kind of the next message, which stays. The thread waits for it.
    pub fn kind(&mut self) -> Result<u8, DatabaseError> {
        loop {
            if let Some((kind, _)) = self.peek()? {
                return Ok(kind);
            }
            self.fill_now()?;
        }
    }

    /// The next message of the server, other than remarks that ask for nothing.
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
                None => return self.has_measure().map(|()| None),
            }
        }
    }

    /// The kind of the next message and its body, which [`pass`](Self::pass) or
    /// [`message`](Self::message) takes away; `None` when it is not whole yet, and
    /// [`fill`](Self::fill) must bring more.
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
            _ => self.has_measure().map(|()| None),
        }
    }

    /// Takes the message away that was looked at.
    pub fn pass(&mut self, body_bytes: usize) {
        self.incoming.advance(HEAD_BYTES + body_bytes);
    }

    /// Whether a message, or the end of the connection, is there to be read without waiting.
    pub fn has_message(&self) -> bool {
        !self.incoming.is_empty() || self.socket.is_readable()
    }

    /// Waits for more to come.
    pub async fn fill(&mut self) -> Result<(), DatabaseError> {
        let length = self.socket.read_or_let_work(&mut self.piece).await?;
        self.incoming.extend_from_slice(&self.piece[..length]);
        Ok(())
    }

    /// The same; the thread waits.
    fn fill_now(&mut self) -> Result<(), DatabaseError> {
        let length = self.socket.read(&mut self.piece)?;
        self.incoming.extend_from_slice(&self.piece[..length]);
        Ok(())
    }

    /// Whether the message that is not whole yet can become so.
    fn has_measure(&self) -> Result<(), DatabaseError> {
        match Header::parse(&self.incoming) {
            Ok(Some(header)) if header.len() > LONGEST_MESSAGE_BYTES => {
                Err(self.socket.unavailable("it sent a message without measure"))
            }
            _ => Ok(()),
        }
    }
}

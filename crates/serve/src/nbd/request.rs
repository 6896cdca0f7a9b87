//! Requests: their form, and which of them are served.

use std::io::{self, Read};

use super::export::MOST_REQUEST_BYTES;
use super::fields::Fields;
use super::handshake::Agreed;
use super::wire::{REQUEST_MAGIC, command, command_flag, errno};

/// Bytes of a request before its payload.
const HEADER_BYTES: usize = 28;

/// What a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// What a stretch holds.
    Read,
    /// To store the payload.
    Write,
    /// To end the connection.
    Disconnect,
    /// What was acknowledged before to be durable.
    Flush,
    /// To give a stretch back.
    Trim,
    /// A stretch to read as zeros.
    WriteZeroes,
    /// What of a stretch has space.
    BlockStatus,
    /// Something that no server of this protocol version knows.
    Unknown,
}

/// A request without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// What is wanted.
    pub command: Command,
    flags: u16,
    /// What the client knows it by.
    pub cookie: u64,
    /// The first byte of a stretch.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u32,
}

impl Request {
    /// `None` if it does not begin as a request does.
    #[must_use]
    pub fn parse(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let mut fields = Fields::new(header);
        let magic = fields.u32()?;
        let flags = fields.u16()?;
        let command = match fields.u16()? {
            command::READ => Command::Read,
            command::WRITE => Command::Write,
            command::DISC => Command::Disconnect,
            command::FLUSH => Command::Flush,
            command::TRIM => Command::Trim,
            command::WRITE_ZEROES => Command::WriteZeroes,
            command::BLOCK_STATUS => Command::BlockStatus,
            _ => Command::Unknown,
        };
        let request = Self {
            command,
            flags,
            cookie: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
        };
        (magic == REQUEST_MAGIC).then_some(request)
    }

    /// The next request; `None` where a connection ends because the client says so, or because what follows
    /// cannot be understood any more.
    ///
    /// # Errors
    /// The connection does not work, or ends without a word.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_BYTES];
        stream.read_exact(&mut header)?;
        let request = Self::parse(&header);
        Ok(request.filter(|request| {
            request.command != Command::Disconnect && request.payload_bytes() <= MOST_REQUEST_BYTES
        }))
    }

    /// Bytes that follow it.
    #[must_use]
    pub fn payload_bytes(&self) -> u32 {
        match self.command {
            Command::Write => self.length,
            _ => 0,
        }
    }

    /// Bytes of memory that it takes until it is answered.
    pub(super) fn held_bytes(&self) -> usize {
        match self.command {
            Command::Read | Command::Write => self.length.min(MOST_REQUEST_BYTES) as usize,
            _ => 0,
        }
    }

    /// Reads what follows it.
    ///
    /// # Errors
    /// The connection does not work, or ends within it.
    pub fn read_payload(&self, stream: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut payload = vec![0; self.payload_bytes() as usize];
        stream.read_exact(&mut payload)?;
        Ok(payload)
    }

    /// Whether it is acknowledged when it is durable only.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.flags & command_flag::FUA != 0
    }

    /// Whether zeros must have space.
    #[must_use]
    pub fn keeps_space(&self) -> bool {
        self.flags & command_flag::NO_HOLE != 0
    }

    /// Whether it is to fail where it would take as long as a write.
    #[must_use]
    pub fn must_be_fast(&self) -> bool {
        self.flags & command_flag::FAST_ZERO != 0
    }

    /// Whether one stretch is enough of an answer.
    #[must_use]
    pub fn wants_one_stretch(&self) -> bool {
        self.flags & command_flag::REQ_ONE != 0
    }

    /// The number and the words of the error of a request that is not served.
    pub(super) fn refusal(&self, size_bytes: u64, agreed: Agreed) -> Option<(u32, &'static str)> {
        let known_flags = match self.command {
            Command::Read if agreed.structured => command_flag::FUA | command_flag::DF,
            Command::WriteZeroes => {
                command_flag::FUA | command_flag::NO_HOLE | command_flag::FAST_ZERO
            }
            Command::BlockStatus => command_flag::FUA | command_flag::REQ_ONE,
            _ => command_flag::FUA,
        };
        let is_outside = self
            .offset
            .checked_add(u64::from(self.length))
            .is_none_or(|end| end > size_bytes);
        match self.command {
            Command::Unknown | Command::Disconnect => {
                Some((errno::EINVAL, "This server has no such request."))
            }
            _ if self.flags & !known_flags != 0 => {
                Some((errno::EINVAL, "The request has no such flag."))
            }
            Command::BlockStatus if !agreed.block_status => {
                Some((errno::EINVAL, "Choose base:allocation in the handshake."))
            }
            Command::BlockStatus if self.length == 0 => {
                Some((errno::EINVAL, "The stretch is empty."))
            }
            Command::Read if self.length > MOST_REQUEST_BYTES => {
                Some((errno::EINVAL, "Read 32 MiB at a time at most."))
            }
            Command::Flush => None,
            Command::Write | Command::WriteZeroes if is_outside => {
                Some((errno::ENOSPC, "The stretch ends behind the volume."))
            }
            _ if is_outside => Some((errno::EINVAL, "The stretch ends behind the volume.")),
            _ => None,
        }
    }
}

//! Packets on a socket, and their contents.

use std::time::Duration;

use runtime::thread::complete;

use crate::database::endpoint::Endpoint;
use crate::database::socket::Socket;
use crate::database::tls::TlsSettings;
use crate::error::DatabaseError;

/// Most bytes taken from the socket at once.
const READ_BYTES: usize = 32 * 1024;

/// A packet of this length is continued in the next.
const FULL_PACKET: usize = 0xff_ffff;

/// No answer is longer than this: a server that claims so is of another kind.
const LONGEST_BYTES: usize = 256 * 1024 * 1024;

/// A connection as packets.
pub(super) struct Wire {
    socket: Socket,
    sequence: u8,
    /// A packet to be sent, after four bytes for its header.
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// How much of `incoming` has been consumed.
    used: usize,
    piece: Box<[u8]>,
}

impl Wire {
    /// Connects, waiting at most `timeout` for each step.
    pub fn connect(endpoint: &Endpoint, timeout: Duration) -> Result<Self, DatabaseError> {
        Ok(Self {
            socket: Socket::connect(endpoint, timeout)?,
            sequence: 0,
            outgoing: vec![0; 4],
            incoming: Vec::with_capacity(READ_BYTES),
            used: 0,
            piece: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// Timeout for a read or write, after which the server counts as gone; none with `None`.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), DatabaseError> {
        self.socket.set_timeout(timeout)
    }

    /// Encrypts from now on; the server expects it.
    pub fn encrypt(&mut self, settings: &TlsSettings, host: &str) -> Result<(), DatabaseError> {
        self.socket.encrypt(settings, host)
    }

    /// What the connection is, and how it is encrypted.
    pub fn describe(&self) -> String {
        self.socket.describe()
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.socket.is_encrypted()
    }

    /// Whether the connection is encrypted or local.
    pub fn is_private(&self) -> bool {
        self.socket.is_private()
    }

    /// The packet to be sent, empty.
    pub fn packet(&mut self) -> &mut Vec<u8> {
        self.outgoing.truncate(4);
        &mut self.outgoing
    }

    /// Sends the packet as a command: the first of an exchange.
    pub fn command(&mut self) -> Result<(), DatabaseError> {
        self.sequence = 0;
        self.send()
    }

    /// Sends the packet, split if it is too long for one.
    pub fn send(&mut self) -> Result<(), DatabaseError> {
        let mut from = 4;
        loop {
            let length = (self.outgoing.len() - from).min(FULL_PACKET);
            let head = u32::try_from(length).unwrap_or_default().to_le_bytes();
            // The header of a later part overwrites bytes that have been sent.
            self.outgoing[from - 4..from - 1].copy_from_slice(&head[..3]);
            self.outgoing[from - 1] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            self.socket
                .write_all(&self.outgoing[from - 4..from + length])?;
            from += length;
            if length < FULL_PACKET {
                return Ok(());
            }
        }
    }

    /// Lets other tasks run while packets are waited for.
    pub fn share_thread(&mut self) {
        self.socket.share_thread();
    }

    /// The server's next packet; blocks the thread.
    pub fn receive(&mut self) -> Result<&[u8], DatabaseError> {
        complete(self.next_packet())
    }

    /// The server's next packet.
    pub async fn next_packet(&mut self) -> Result<&[u8], DatabaseError> {
        self.incoming.drain(..self.used);
        self.used = 0;
        let mut length = self.part(0).await?;
        if length < FULL_PACKET {
            self.used = 4 + length;
            return Ok(&self.incoming[4..4 + length]);
        }
        // Parts are joined by removing the headers between them.
        let mut end = 4 + length;
        while length == FULL_PACKET {
            length = self.part(end).await?;
            self.incoming.drain(end..end + 4);
            end += length;
            if end > LONGEST_BYTES {
                return Err(self
                    .socket
                    .unavailable("it sent a packet of an implausible length"));
            }
        }
        self.used = end;
        Ok(&self.incoming[4..end])
    }

    /// Reads a part completely, and returns its length without header.
    async fn part(&mut self, from: usize) -> Result<usize, DatabaseError> {
        self.fill(from + 4).await?;
        let head = &self.incoming[from..from + 4];
        let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
        self.sequence = head[3].wrapping_add(1);
        self.fill(from + 4 + length).await?;
        Ok(length)
    }

    async fn fill(&mut self, until: usize) -> Result<(), DatabaseError> {
        while self.incoming.len() < until {
            let length = self.socket.read_or_yield(&mut self.piece).await?;
            self.incoming.extend_from_slice(&self.piece[..length]);
        }
        Ok(())
    }

    /// An error of this connection.
    pub fn unavailable(&self, why: &str) -> DatabaseError {
        self.socket.unavailable(why)
    }
}

/// Reads integers and texts from a packet. What is beyond its end reads as zero or empty: a server
/// that sends such packets fails a later check.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(packet: &'a [u8]) -> Self {
        Self { rest: packet }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn skip(&mut self, length: usize) {
        self.bytes(length);
    }

    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    /// An integer of up to eight bytes, little-endian.
    pub fn number(&mut self, length: usize) -> u64 {
        let bytes = self.bytes(length).iter().rev();
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Bytes up to a zero.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let bytes = self.bytes(end.unwrap_or(self.rest.len()));
        self.skip(1);
        bytes
    }

    /// A length-encoded integer: one byte, or a marker and 2, 3 or 8 bytes.
    pub fn counted(&mut self) -> u64 {
        match self.number(1) {
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            small => small,
        }
    }

    /// A length-encoded byte string.
    pub fn counted_bytes(&mut self) -> &'a [u8] {
        let length = usize::try_from(self.counted()).unwrap_or(usize::MAX);
        self.bytes(length)
    }
}

/// Writes a length-encoded integer.
pub(super) fn put_counted(packet: &mut Vec<u8>, number: usize) {
    let bytes = (number as u64).to_le_bytes();
    match number {
        0..=0xfa => packet.push(bytes[0]),
        0xfb..=0xffff => {
            packet.push(0xfc);
            packet.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            packet.push(0xfd);
            packet.extend_from_slice(&bytes[..3]);
        }
        _ => {
            packet.push(0xfe);
            packet.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_numbers_come_back() {
        for number in [0, 0xfa, 0xfb, 0xfc, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000] {
            let mut packet = Vec::new();
            put_counted(&mut packet, number);
            let mut reader = Reader::new(&packet);
            assert_eq!(reader.counted(), number as u64);
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn a_packet_that_ends_too_early_reads_as_nothing() {
        let mut reader = Reader::new(&[5, b'a']);
        assert_eq!(reader.counted_bytes(), b"a");
        assert_eq!((reader.number(8), reader.until_zero()), (0, &b""[..]));
    }
}

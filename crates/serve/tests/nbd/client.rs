//! A small client of NBD, after the description of the protocol.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const WRITE_ZEROES: u16 = 6;
pub const BLOCK_STATUS: u16 = 7;

pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;
pub const FAST_ZERO: u16 = 16;

/// A stretch of bytes, and what is wanted of it.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub kind: u16,
    pub flags: u16,
    pub offset: u64,
    pub length: u32,
}

/// What a request came to: data, or the number of an error.
pub type Answer = Result<Vec<u8>, u32>;

pub struct Client {
    pub stream: UnixStream,
    structured: bool,
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Client {
    /// A connection that has been greeted.
    pub fn greeted(socket: &Path) -> UnixStream {
        let mut stream = UnixStream::connect(socket).expect("a server");
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).expect("its greeting");
        assert_eq!(&greeting, b"NBDMAGICIHAVEOPT\0\x03");
        stream.write_all(&[0, 0, 0, 3]).expect("flags");
        stream
    }

    /// Uses an export, with structured replies or simple ones.
    pub fn connect(socket: &Path, export: &str, structured: bool) -> Self {
        let mut client = Self {
            stream: Self::greeted(socket),
            structured,
        };
        let name = [&(export.len() as u32).to_be_bytes()[..], export.as_bytes()].concat();
        if structured {
            client.option(8, &[]);
            let query = b"\0\0\0\x01\0\0\0\x0fbase:allocation";
            client.option(10, &[&name[..], query].concat());
        }
        client.option(7, &[&name[..], &[0, 0]].concat());
        client
    }

    /// Sends an option, and takes its replies.
    fn option(&mut self, option: u32, data: &[u8]) {
        let mut bytes = b"IHAVEOPT".to_vec();
        bytes.extend(option.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes).expect("an option");
        loop {
            let header = self.receive(20).expect("a reply");
            self.receive(number(&header[16..]) as usize).expect("it");
            match number(&header[12..16]) {
                1 => return,
                kind => assert!(kind < 1 << 31, "option {option}: {kind}"),
            }
        }
    }

    fn receive(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn send(&mut self, cookie: u64, wanted: Wanted, payload: &[u8]) -> io::Result<()> {
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend(wanted.flags.to_be_bytes());
        bytes.extend(wanted.kind.to_be_bytes());
        bytes.extend(cookie.to_be_bytes());
        bytes.extend(wanted.offset.to_be_bytes());
        bytes.extend(wanted.length.to_be_bytes());
        bytes.extend(payload);
        self.stream.write_all(&bytes)
    }

    /// The next reply; `reads` says how many bytes a request with that cookie has asked for.
    pub fn reply(&mut self, reads: impl Fn(u64) -> usize) -> io::Result<(u64, Answer)> {
        if !self.structured {
            let header = self.receive(16)?;
            assert_eq!(header[..4], [0x67, 0x44, 0x66, 0x98]);
            let cookie = number(&header[8..]);
            return Ok(match number(&header[4..8]) {
                0 => (cookie, Ok(self.receive(reads(cookie))?)),
                error => (cookie, Err(error as u32)),
            });
        }
        let header = self.receive(20)?;
        assert_eq!(
            header[..6],
            [0x66, 0x8e, 0x33, 0xef, 0, 1],
            "the only chunk"
        );
        let cookie = number(&header[8..16]);
        let contents = self.receive(number(&header[16..]) as usize)?;
        Ok(match number(&header[6..8]) {
            0 => (cookie, Ok(contents)),
            1 => (cookie, Ok(contents[8..].to_vec())),
            5 => (cookie, Ok(contents[4..].to_vec())),
            0x8001 => (cookie, Err(number(&contents[..4]) as u32)),
            kind => panic!("a chunk of kind {kind}"),
        })
    }

    /// Sends a request, and waits for its reply.
    pub fn ask(&mut self, wanted: Wanted, payload: &[u8]) -> Answer {
        self.send(7, wanted, payload).expect("a request");
        let reads = match wanted.kind {
            READ => wanted.length as usize,
            _ => 0,
        };
        let (cookie, answer) = self.reply(|_| reads).expect("a reply");
        assert_eq!(cookie, 7);
        answer
    }

    /// Whether the server has ended the connection.
    pub fn is_ended(stream: &mut UnixStream) -> bool {
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

//! Replies to requests, as bytes.

use super::handshake::ALLOCATION_ID;
use super::wire::{SIMPLE_REPLY_MAGIC, STRUCTURED_REPLY_MAGIC, chunk};

/// A request as its reply names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answered {
    pub cookie: u64,
    pub structured: bool,
}

impl Answered {
    /// The end of a request that brings nothing back.
    pub fn done(self) -> Vec<u8> {
        match self.structured {
            true => self.chunk(chunk::NONE, 0),
            false => self.simple(0),
        }
    }

    /// What comes before data that were read.
    pub fn before_data(self, offset: u64, length: u32) -> Vec<u8> {
        if !self.structured {
            return self.simple(0);
        }
        let mut bytes = self.chunk(chunk::OFFSET_DATA, 8 + length);
        bytes.extend(offset.to_be_bytes());
        bytes
    }

    /// The end of a request that failed.
    pub fn error(self, number: u32, message: &str) -> Vec<u8> {
        if !self.structured {
            return self.simple(number);
        }
        let message_bytes = message.len() as u16;
        let mut bytes = self.chunk(chunk::ERROR, 6 + u32::from(message_bytes));
        bytes.extend(number.to_be_bytes());
        bytes.extend(message_bytes.to_be_bytes());
        bytes.extend(message.as_bytes());
        bytes
    }

    /// Lengths of stretches that follow each other, with what `base:allocation` says of each.
    pub fn block_status(self, stretches: &[(u32, u32)]) -> Vec<u8> {
        let length = 4 + 8 * stretches.len() as u32;
        let mut bytes = self.chunk(chunk::BLOCK_STATUS, length);
        bytes.extend(ALLOCATION_ID.to_be_bytes());
        for (length, status) in stretches {
            bytes.extend(length.to_be_bytes());
            bytes.extend(status.to_be_bytes());
        }
        bytes
    }

    fn simple(self, number: u32) -> Vec<u8> {
        let mut bytes = SIMPLE_REPLY_MAGIC.to_be_bytes().to_vec();
        bytes.extend(number.to_be_bytes());
        bytes.extend(self.cookie.to_be_bytes());
        bytes
    }

    /// The only chunk of a reply, without its contents.
    fn chunk(self, kind: u16, length: u32) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(28);
        bytes.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
        bytes.extend(chunk::DONE.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(self.cookie.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMPLE: Answered = Answered {
        cookie: 0x0102_0304_0506_0708,
        structured: false,
    };
    const STRUCTURED: Answered = Answered {
        structured: true,
        ..SIMPLE
    };
    const COOKIE: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

    #[test]
    fn simple_replies_have_their_form() {
        let head = [0x67, 0x44, 0x66, 0x98];
        let expected = |number: u8| [&head[..], &[0, 0, 0, number], &COOKIE].concat();
        assert_eq!(SIMPLE.done(), expected(0));
        assert_eq!(SIMPLE.before_data(4096, 512), expected(0));
        assert_eq!(SIMPLE.error(28, "No room."), expected(28));
    }

    #[test]
    fn structured_replies_have_their_form() {
        let expected = |kind: [u8; 2], length: u8, contents: &[u8]| {
            let head = [0x66, 0x8e, 0x33, 0xef, 0, 1];
            let length = [0, 0, 0, length];
            [&head[..], &kind, &COOKIE, &length, contents].concat()
        };
        assert_eq!(STRUCTURED.done(), expected([0, 0], 0, &[]));
        let offset = [0, 0, 0, 0, 0, 0, 16, 0];
        assert_eq!(
            STRUCTURED.before_data(4096, 9),
            expected([0, 1], 17, &offset)
        );
        let error = [&[0, 0, 0, 28, 0, 3][..], b"No."].concat();
        assert_eq!(STRUCTURED.error(28, "No."), expected([128, 1], 9, &error));
        let stretches = [0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0, 0];
        let status = STRUCTURED.block_status(&[(512, 3), (8, 0)]);
        assert_eq!(status, expected([0, 5], 20, &stretches));
    }
}

//! Frames: messages with an authentication code.
//!
//! A frame is the number of its bytes (4, little-endian), a message, and 32 bytes of HMAC-SHA-256 over
//! the number of the frame in its direction and the message. Each direction has a key of its own, made
//! of the secret and random numbers of both sides, so a frame is of no use on another connection, in the
//! other direction or a second time.

use crate::error::WitnessError;
use crate::message::Message;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a frame behind its length at most.
pub const MAX_FRAME_BYTES: usize = 64 << 10;

/// Bytes of a code.
pub(crate) const CODE_BYTES: usize = 32;

/// A key of one direction.
pub(crate) type Key = [u8; CODE_BYTES];

/// The code of some bytes under a key.
pub(crate) fn code(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac
}

/// Makes the frames of one direction.
pub struct Sealer {
    key: Key,
    number: u64,
}

impl Sealer {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, number: 0 }
    }

    /// The next frame, with its length in front.
    ///
    /// # Panics
    /// If the message is longer than any of the protocol.
    pub fn seal(&mut self, message: &Message) -> Vec<u8> {
        let body = message.encode();
        let length = body.len() + CODE_BYTES;
        assert!(length <= MAX_FRAME_BYTES, "a message has its limit");
        let code = code(&self.key, &[&self.number.to_le_bytes(), &body]);
        self.number += 1;
        let mut frame = Vec::with_capacity(4 + length);
        frame.extend((length as u32).to_le_bytes());
        frame.extend(body);
        frame.extend(code.finalize().into_bytes());
        frame
    }
}

/// Checks the frames of one direction.
pub struct Opener {
    key: Key,
    number: u64,
}

impl Opener {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, number: 0 }
    }

    /// The message of the next frame, whose length has been taken off.
    ///
    /// # Errors
    /// If it is not the frame that was sent next by somebody who knows the secret.
    pub fn open(&mut self, frame: &[u8]) -> Result<Message, WitnessError> {
        let (body, sent) = frame
            .split_last_chunk::<CODE_BYTES>()
            .ok_or(WitnessError::Tampered)?;
        // Compared in constant time.
        code(&self.key, &[&self.number.to_le_bytes(), body])
            .verify_slice(sent)
            .map_err(|_| WitnessError::Tampered)?;
        self.number += 1;
        Message::decode(body).ok_or(WitnessError::Protocol("it sent an unknown message"))
    }
}

/// The length at the beginning of a frame.
///
/// # Errors
/// If it is longer than any frame.
pub(crate) fn length_of(bytes: [u8; 4]) -> Result<usize, WitnessError> {
    let bytes = u32::from_le_bytes(bytes) as usize;
    match bytes <= MAX_FRAME_BYTES {
        true => Ok(bytes),
        false => Err(WitnessError::TooLong { bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::RECORDS_PER_MESSAGE;
    use crate::record::Record;

    fn pair() -> (Sealer, Opener) {
        (Sealer::new([1; 32]), Opener::new([1; 32]))
    }

    fn stored(next: u64) -> Message {
        Message::Stored { next }
    }

    #[test]
    fn frames_are_opened_in_their_order() {
        let (mut sealer, mut opener) = pair();
        for number in 0..5 {
            let frame = sealer.seal(&stored(number));
            let length = length_of(*frame.first_chunk().unwrap()).unwrap();
            assert_eq!(length, frame.len() - 4);
            assert_eq!(opener.open(&frame[4..]).unwrap(), stored(number));
        }
    }

    #[test]
    fn a_tampered_frame_is_refused_wherever_it_was_changed() {
        let frame = pair().0.seal(&stored(3));
        for place in 4..frame.len() {
            for bit in 0..8 {
                let mut changed = frame.clone();
                changed[place] ^= 1 << bit;
                let opened = pair().1.open(&changed[4..]);
                assert!(
                    matches!(opened, Err(WitnessError::Tampered)),
                    "byte {place}"
                );
            }
        }
    }

    #[test]
    fn a_replayed_frame_and_one_out_of_order_are_refused() {
        let (mut sealer, mut opener) = pair();
        let (first, second) = (sealer.seal(&stored(1)), sealer.seal(&stored(2)));
        assert!(opener.open(&second[4..]).is_err(), "out of order");
        opener.open(&first[4..]).unwrap();
        assert!(opener.open(&first[4..]).is_err(), "a second time");
        opener.open(&second[4..]).unwrap();
    }

    #[test]
    fn a_truncated_frame_is_refused() {
        let frame = pair().0.seal(&stored(3));
        for length in 0..frame.len() - 4 {
            let opened = pair().1.open(&frame[4..4 + length]);
            assert!(matches!(opened, Err(WitnessError::Tampered)), "{length}");
        }
    }

    #[test]
    fn a_frame_of_another_key_is_refused() {
        let frame = Sealer::new([2; 32]).seal(&stored(3));
        assert!(pair().1.open(&frame[4..]).is_err());
    }

    #[test]
    fn lengths_have_a_limit_that_the_longest_message_keeps() {
        let records = vec![Record::default(); RECORDS_PER_MESSAGE];
        let longest = Message::Records { first: 0, records };
        let frame = pair().0.seal(&longest);
        length_of(*frame.first_chunk().unwrap()).unwrap();
        for length in [MAX_FRAME_BYTES as u32 + 1, u32::MAX] {
            let refused = length_of(length.to_le_bytes());
            assert!(matches!(refused, Err(WitnessError::TooLong { .. })));
        }
    }
}

//! Compressed values: the upper five bits of the first byte say how.
//!
//! | scheme | after the first byte |
//! |---|---|
//! | 1 | characters of seven bits each, lowest bits first |
//! | 2 | the same; they are the low halves of UTF-16 |
//! | 3 | u16 length of the value, then Plain LZ77 of [MS-XCA] |

/// Why a value cannot be expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompressionError {
    /// A scheme of later versions of the format.
    #[error("compressed by scheme {0}, which is not known here")]
    Scheme(u8),
    /// The bytes are no compressed value.
    #[error("damaged: its compressed bytes make no sense")]
    Damaged,
}

const SEVEN_BIT_ASCII: u8 = 1;
const SEVEN_BIT_UNICODE: u8 = 2;
const LZ77: u8 = 3;

/// Bytes of the value that `compressed` stands for.
///
/// # Errors
/// If it is damaged or the scheme is not known.
pub fn expand(compressed: &[u8]) -> Result<Vec<u8>, CompressionError> {
    let (&head, data) = compressed.split_first().ok_or(CompressionError::Damaged)?;
    match head >> 3 {
        SEVEN_BIT_ASCII => Ok(seven_bit(head, data, false)),
        SEVEN_BIT_UNICODE => Ok(seven_bit(head, data, true)),
        LZ77 => {
            let (length, data) = data.split_first_chunk().ok_or(CompressionError::Damaged)?;
            let length = usize::from(u16::from_le_bytes(*length));
            lz77(data, length).ok_or(CompressionError::Damaged)
        }
        scheme => Err(CompressionError::Scheme(scheme)),
    }
}

/// The low three bits of the head are one less than the bits used of the last byte.
fn seven_bit(head: u8, data: &[u8], wide: bool) -> Vec<u8> {
    let bits = (8 * data.len()).saturating_sub(7 - usize::from(head & 7));
    let mut value = Vec::with_capacity(bits / 7 * (1 + usize::from(wide)));
    for first in (0..bits / 7).map(|index| 7 * index) {
        let low = u16::from(data[first / 8]);
        let high = u16::from(data.get(first / 8 + 1).copied().unwrap_or(0));
        value.push(((low | high << 8) >> (first % 8)) as u8 & 0x7F);
        if wide {
            value.push(0);
        }
    }
    value
}

/// Reads compressed bytes from the front.
struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Source<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..self.at + N)?.try_into().ok()?;
        self.at += N;
        Some(taken)
    }
}

fn lz77(data: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut source = Source { bytes: data, at: 0 };
    let mut value = Vec::with_capacity(length);
    let (mut flags, mut flags_left) = (0, 0);
    let mut half_byte = None;
    while value.len() < length {
        if flags_left == 0 {
            flags = u32::from_le_bytes(source.take()?);
            flags_left = 32;
        }
        flags_left -= 1;
        if flags >> flags_left & 1 == 0 {
            let [byte] = source.take()?;
            value.push(byte);
            continue;
        }
        let pair = u16::from_le_bytes(source.take()?);
        let distance = usize::from(pair >> 3) + 1;
        let count = match_bytes(pair, &mut source, &mut half_byte)?;
        let start = value.len().checked_sub(distance)?;
        for index in start..start + count.min(length - value.len()) {
            value.push(value[index]);
        }
    }
    Some(value)
}

/// Length of a match. Four bits of it share a byte with those of the next match that needs them.
fn match_bytes(pair: u16, source: &mut Source<'_>, half_byte: &mut Option<u8>) -> Option<usize> {
    let mut length = usize::from(pair & 7);
    if length == 7 {
        length = match half_byte.take() {
            Some(high) => usize::from(high),
            None => {
                let [both] = source.take()?;
                *half_byte = Some(both >> 4);
                usize::from(both & 0xF)
            }
        };
        if length == 15 {
            length = usize::from(source.take::<1>()?[0]);
            if length == 255 {
                length = usize::from(u16::from_le_bytes(source.take()?));
                if length == 0 {
                    length = usize::try_from(u32::from_le_bytes(source.take()?)).ok()?;
                }
                length = length.checked_sub(15 + 7)?;
            }
            length += 15;
        }
        length += 7;
    }
    Some(length + 3)
}

//! Keys: column values turned into bytes that sort like the values.
//!
//! Each key column gives one segment, a prefix byte and the value; segments follow each other.
//! Comparison is bytewise and a shorter key sorts first.

use super::record::Field;

const NULL_SEGMENT: u8 = 0x00;
const EMPTY_SEGMENT: u8 = 0x40;
const VALUE_SEGMENT: u8 = 0x7F;
/// Bytes of a chunk of a variable binary value.
const CHUNK_BYTES: usize = 8;

/// The longest key an index has unless more is asked for; longer keys are cut.
pub const DEFAULT_MAX_KEY_BYTES: usize = 255;

/// How the bytes of a string column are to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKind {
    /// Binary of varying length.
    Binary,
    /// Text in code page 1252. Only ASCII is turned to upper case here, so other letters sort by
    /// their code.
    Text,
}

/// Appends the segment of one value.
pub fn push_segment(key: &mut Vec<u8>, field: &Field<'_>, kind: StringKind) {
    match *field {
        Field::Null => {
            key.push(NULL_SEGMENT);
            return;
        }
        Field::Bytes(bytes) => {
            match kind {
                StringKind::Binary => push_binary(key, bytes),
                StringKind::Text => push_text(key, bytes),
            }
            return;
        }
        _ => key.push(VALUE_SEGMENT),
    }
    match *field {
        Field::Null | Field::Bytes(_) => {}
        Field::Bit(value) => key.push(if value { 0xFF } else { 0 }),
        Field::UnsignedByte(value) => key.push(value),
        Field::Short(value) => key.extend((value as u16 ^ 0x8000).to_be_bytes()),
        Field::Long(value) => key.extend((value as u32 ^ 0x8000_0000).to_be_bytes()),
        Field::LongLong(value) => key.extend((value as u64 ^ 1 << 63).to_be_bytes()),
        Field::UnsignedShort(value) => key.extend(value.to_be_bytes()),
        Field::UnsignedLong(value) => key.extend(value.to_be_bytes()),
        Field::Float32(value) => key.extend(sortable_32(value.to_bits()).to_be_bytes()),
        Field::Float64(value) => key.extend(sortable_64(value.to_bits()).to_be_bytes()),
        Field::DateTime(value) => key.extend(sortable_64(value).to_be_bytes()),
        Field::Guid(guid) => {
            const ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
            key.extend(ORDER.map(|index| guid[index]));
        }
        Field::LongValue(_) => panic!("a separated long value cannot be part of a key"),
    }
}

/// The key of a table ordered by one signed 64-bit column.
#[must_use]
pub fn long_long_key(value: i64) -> [u8; 9] {
    let mut key = [VALUE_SEGMENT; 9];
    key[1..].copy_from_slice(&(value as u64 ^ 1 << 63).to_be_bytes());
    key
}

/// The value behind [`long_long_key`].
#[must_use]
pub fn long_long_of_key(key: &[u8]) -> Option<i64> {
    let (&prefix, value) = key.split_first()?;
    let value = u64::from_be_bytes(value.try_into().ok()?);
    (prefix == VALUE_SEGMENT).then_some((value ^ 1 << 63) as i64)
}

/// The key of a table ordered by one signed 32-bit column.
#[must_use]
pub fn long_key(value: i32) -> [u8; 5] {
    let mut key = [VALUE_SEGMENT; 5];
    key[1..].copy_from_slice(&(value as u32 ^ 1 << 31).to_be_bytes());
    key
}

/// The value behind [`long_key`].
#[must_use]
pub fn long_of_key(key: &[u8]) -> Option<i32> {
    let (&prefix, value) = key.split_first()?;
    let value = u32::from_be_bytes(value.try_into().ok()?);
    (prefix == VALUE_SEGMENT).then_some((value ^ 1 << 31) as i32)
}

/// Appends the segment of a variable binary value: chunks of eight bytes, each followed by 9 if
/// more follows, else by the number of bytes used in it.
pub fn push_binary(key: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        key.push(EMPTY_SEGMENT);
        return;
    }
    key.push(VALUE_SEGMENT);
    let mut chunks = bytes.chunks(CHUNK_BYTES).peekable();
    while let Some(chunk) = chunks.next() {
        key.extend_from_slice(chunk);
        key.extend(std::iter::repeat_n(0, CHUNK_BYTES - chunk.len()));
        key.push(if chunks.peek().is_some() {
            CHUNK_BYTES as u8 + 1
        } else {
            chunk.len() as u8
        });
    }
}

/// Bytes that [`push_binary`] appends for a value of `length` bytes.
#[must_use]
pub fn binary_segment_bytes(length: usize) -> usize {
    1 + length.div_ceil(CHUNK_BYTES) * (CHUNK_BYTES + 1)
}

fn push_text(key: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        key.push(EMPTY_SEGMENT);
        return;
    }
    key.push(VALUE_SEGMENT);
    key.extend(bytes.iter().map(u8::to_ascii_uppercase));
    key.push(0);
}

fn sortable_32(bits: u32) -> u32 {
    if bits >> 31 == 0 {
        bits ^ 1 << 31
    } else {
        !bits
    }
}

fn sortable_64(bits: u64) -> u64 {
    if bits >> 63 == 0 {
        bits ^ 1 << 63
    } else {
        !bits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key_of(field: &Field<'_>, kind: StringKind) -> Vec<u8> {
        let mut key = Vec::new();
        push_segment(&mut key, field, kind);
        key
    }

    #[test]
    fn keys_are_the_bytes_of_real_files() {
        let mut key = Vec::new();
        push_segment(&mut key, &Field::Long(8), StringKind::Binary);
        push_segment(&mut key, &Field::Short(2), StringKind::Binary);
        push_segment(&mut key, &Field::Long(256), StringKind::Binary);
        assert_eq!(key, b"\x7F\x80\x00\x00\x08\x7F\x80\x02\x7F\x80\x00\x01\x00");
        assert_eq!(
            key_of(&Field::Bytes(b"large"), StringKind::Text),
            b"\x7FLARGE\0"
        );
        let long = key_of(&Field::Bytes(b"0123456789abcd"), StringKind::Binary);
        assert_eq!(long, b"\x7F01234567\x0989abcd\0\0\x06");
        assert_eq!(key_of(&Field::Null, StringKind::Text), [0]);
        assert_eq!(key_of(&Field::Bytes(b""), StringKind::Binary), [0x40]);
        assert_eq!(key_of(&Field::Bit(true), StringKind::Binary), [0x7F, 0xFF]);
    }

    proptest! {
        #[test]
        fn keys_sort_like_values(a: i64, b: i64, x: f64, y: f64, s: Vec<u8>, t: Vec<u8>) {
            let key = |field: &Field<'_>| key_of(field, StringKind::Binary);
            prop_assert_eq!(key(&Field::LongLong(a)).cmp(&key(&Field::LongLong(b))), a.cmp(&b));
            prop_assert_eq!(key(&Field::LongLong(a)), long_long_key(a));
            prop_assert_eq!(long_long_of_key(&long_long_key(a)), Some(a));
            let (c, d) = (a as i32, b as i32);
            prop_assert_eq!(key(&Field::Long(c)).cmp(&key(&Field::Long(d))), c.cmp(&d));
            prop_assert_eq!(long_of_key(&long_key(c)), Some(c));
            let floats = key(&Field::Float64(x)).cmp(&key(&Field::Float64(y)));
            prop_assert_eq!(floats, x.total_cmp(&y));
            prop_assert_eq!(key(&Field::Bytes(&s)).cmp(&key(&Field::Bytes(&t))), s.cmp(&t));
        }
    }
}

//! Little-endian numbers and byte strings in log records.

/// Appends numbers and strings to a record.
pub(crate) trait PutBytes {
    fn put_u8(&mut self, value: u8);
    /// Appends the lower 16 bits.
    fn put_u16(&mut self, value: usize);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    /// Appends a string with its length in two bytes.
    fn put_string(&mut self, value: &[u8]);
}

impl PutBytes for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: usize) {
        let value = u16::try_from(value).unwrap_or_else(|_| panic!("{value} has over 16 bits"));
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_string(&mut self, value: &[u8]) {
        self.put_u16(value.len());
        self.extend_from_slice(value);
    }
}

/// Takes numbers and strings off the front of a record. Every method gives `None` when the bytes
/// end early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeBytes<'a>(pub(crate) &'a [u8]);

impl<'a> TakeBytes<'a> {
    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number of 16 bits.
    pub(crate) fn u16(&mut self) -> Option<usize> {
        self.array()
            .map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A string with its length in front.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length)
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

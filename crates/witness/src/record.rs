//! What a run sends: records, and the name of the run.

use std::fmt;

/// Bytes of a record on the wire and in files.
pub(crate) const RECORD_BYTES: usize = 24;

/// The kind of records that state a fact about the run and stand for no transaction.
const FACT: u8 = 0;

/// One transaction that a database has acknowledged as durable, or a fact about the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Record {
    /// What was acknowledged, as the workload numbers its kinds; 0 is a fact about the run.
    pub kind: u8,
    /// The database of the run, counted from 0.
    pub database: u16,
    /// When it was acknowledged, in milliseconds since the run began.
    pub time_ms: u32,
    /// Its sequence number: a position in a log, or the number of a trade.
    pub position: u64,
    /// A hash by which it is known again.
    pub hash: u64,
}

impl Record {
    /// A fact about the run, which counts for no transaction. `time` is what the workload makes of it.
    #[must_use]
    pub fn fact(database: u16, time: u32, position: u64, hash: u64) -> Self {
        Self {
            kind: FACT,
            database,
            time_ms: time,
            position,
            hash,
        }
    }

    /// Whether it stands for an acknowledged transaction.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.kind != FACT
    }

    /// Appends the record to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend([self.kind, 0]);
        out.extend(self.database.to_le_bytes());
        out.extend(self.time_ms.to_le_bytes());
        out.extend(self.position.to_le_bytes());
        out.extend(self.hash.to_le_bytes());
    }

    /// Reads a record; `None` if the bytes are none.
    pub(crate) fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let [kind, 0, d0, d1, t0, t1, t2, t3, rest @ ..] = bytes else {
            return None;
        };
        let (position, hash) = rest.split_first_chunk::<8>()?;
        Some(Self {
            kind: *kind,
            database: u16::from_le_bytes([*d0, *d1]),
            time_ms: u32::from_le_bytes([*t0, *t1, *t2, *t3]),
            position: u64::from_le_bytes(*position),
            hash: u64::from_le_bytes(*hash.first_chunk::<8>()?),
        })
    }
}

/// Reads records that lie one behind the other; `None` if the bytes are not whole records.
pub(crate) fn decode_all(bytes: &[u8]) -> Option<Vec<Record>> {
    let (records, rest) = bytes.as_chunks::<RECORD_BYTES>();
    if !rest.is_empty() {
        return None;
    }
    records.iter().map(Record::decode).collect()
}

/// The random number by which a run is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub [u8; 16]);

impl RunId {
    /// A number that no other run has.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Reads 32 hexadecimal digits; `None` if the text is something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let number = u128::from_str_radix(text, 16).ok()?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            kind: 3,
            database: 0x1234,
            time_ms: 77,
            position: u64::MAX - 1,
            hash: 42,
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        Record::fact(1, 0, 2, 3).encode(&mut bytes);
        assert_eq!(bytes.len(), 2 * RECORD_BYTES);
        assert_eq!(
            decode_all(&bytes),
            Some(vec![record, Record::fact(1, 0, 2, 3)])
        );
        assert_eq!(decode_all(&bytes[1..]), None);
        bytes[1] = 9;
        assert_eq!(decode_all(&bytes), None);
    }

    #[test]
    fn a_run_id_is_read_as_it_is_printed() {
        let id = RunId::random().unwrap();
        assert_eq!(RunId::parse(&id.to_string()), Some(id));
        assert_ne!(RunId::random().unwrap(), id);
        for wrong in ["", "12", "+0000000000000000000000000000001", "../../../etc"] {
            assert_eq!(RunId::parse(wrong), None, "{wrong}");
        }
    }
}

//! Hashes by which the log that is read back is known to be the log that was written.

use crate::position::LogPosition;

/// A checksum over the records of a log file, from the first one or from the one at which it began. It
/// begins anew in each file, so that it can be computed again from any file that is still there.
#[derive(Debug, Clone)]
pub struct RecordChain {
    file_bytes: u64,
    stream: u32,
    generation: u32,
    sum: u32,
}

impl RecordChain {
    /// A chain whose first record begins at `from` or later, in a log with files of `file_bytes` and
    /// the random number `stream` in its signature.
    #[must_use]
    pub fn new(from: LogPosition, file_bytes: u64, stream: u32) -> Self {
        Self {
            file_bytes,
            stream,
            generation: from.generation(file_bytes),
            sum: stream,
        }
    }

    /// Adds the next record.
    pub fn add(&mut self, begin: LogPosition, record: &[u8]) {
        let generation = begin.generation(self.file_bytes);
        if generation != self.generation {
            (self.generation, self.sum) = (generation, self.stream);
        }
        let mut hasher = crc32fast::Hasher::new_with_initial(self.sum);
        hasher.update(&begin.0.to_le_bytes());
        hasher.update(record);
        self.sum = hasher.finalize();
    }

    /// The hash of the record that was added last, which began at `begin`: 32 bits of the record with
    /// its position, below 32 bits of all records of its file up to it.
    #[must_use]
    pub fn hash(&self, begin: LogPosition, record: &[u8]) -> u64 {
        let mut hasher = crc32fast::Hasher::new_with_initial(!self.stream);
        hasher.update(&begin.0.to_le_bytes());
        hasher.update(record);
        u64::from(self.sum) << 32 | u64::from(hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: u64 = 65_536;

    fn at(generation: u32, offset: u64) -> LogPosition {
        LogPosition::new(generation, offset, FILE)
    }

    fn hash_of(from: LogPosition, records: &[(LogPosition, &[u8])]) -> u64 {
        let mut chain = RecordChain::new(from, FILE, 7);
        records
            .iter()
            .for_each(|(begin, record)| chain.add(*begin, record));
        let (begin, record) = records.last().unwrap();
        chain.hash(*begin, record)
    }

    #[test]
    fn whatever_was_changed_before_in_the_file_changes_the_hash() {
        let from = at(1, 4_096);
        let log: [(LogPosition, &[u8]); 3] = [
            (at(1, 4_112), b"begin"),
            (at(1, 4_200), b"update"),
            (at(1, 4_300), b"commit"),
        ];
        let right = hash_of(from, &log);
        let mut changed = log;
        changed[1].1 = b"updatf";
        assert_ne!(hash_of(from, &changed), right);
        let mut moved = log;
        moved[0].0 = at(1, 4_113);
        assert_ne!(hash_of(from, &moved), right);
        assert_ne!(hash_of(from, &log[1..]), right);
    }

    #[test]
    fn a_file_is_enough_for_the_hashes_of_its_records() {
        let (old, new) = ((at(1, 4_112), &b"old"[..]), (at(2, 4_112), &b"new"[..]));
        assert_eq!(hash_of(at(1, 0), &[old, new]), hash_of(at(2, 0), &[new]));
        // The same record in another file is another one.
        assert_ne!(
            hash_of(at(1, 0), &[(at(1, 4_112), b"new")]),
            hash_of(at(2, 0), &[new])
        );
    }
}

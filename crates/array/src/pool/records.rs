//! Records in a vector, named by `u32`: taken and given back without touching the allocator.

/// Records of one kind, each under a number that is free again once the record is taken out.
#[derive(Debug)]
pub(crate) struct Records<T> {
    entries: Vec<Entry<T>>,
    /// The first free entry, or `END`; the others are linked behind it.
    first_free: u32,
    taken: usize,
}

#[derive(Debug)]
enum Entry<T> {
    Free { next: u32 },
    Taken(T),
}

/// The end of the list of free entries.
const END: u32 = u32::MAX;

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            first_free: END,
            taken: 0,
        }
    }
}

impl<T> Records<T> {
    /// Keeps `record` and says under which number.
    pub(crate) fn insert(&mut self, record: T) -> u32 {
        self.taken += 1;
        if self.first_free == END {
            let key = u32::try_from(self.entries.len()).unwrap_or(END);
            assert!(key != END, "more records in flight than numbers");
            self.entries.push(Entry::Taken(record));
            return key;
        }
        let key = self.first_free;
        let entry = &mut self.entries[key as usize];
        match entry {
            Entry::Free { next } => self.first_free = *next,
            Entry::Taken(_) => panic!("entry {key} of the free list holds a record"),
        }
        *entry = Entry::Taken(record);
        key
    }

    /// The record under `key`, which must be there.
    pub(crate) fn get(&self, key: u32) -> &T {
        match &self.entries[key as usize] {
            Entry::Taken(record) => record,
            Entry::Free { .. } => panic!("no record under number {key}"),
        }
    }

    /// The record under `key`, which must be there.
    pub(crate) fn get_mut(&mut self, key: u32) -> &mut T {
        match &mut self.entries[key as usize] {
            Entry::Taken(record) => record,
            Entry::Free { .. } => panic!("no record under number {key}"),
        }
    }

    /// Takes the record under `key` out; the number is free again.
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let entry = &mut self.entries[key as usize];
        let free = Entry::Free {
            next: self.first_free,
        };
        match std::mem::replace(entry, free) {
            Entry::Taken(record) => {
                self.first_free = key;
                self.taken -= 1;
                record
            }
            Entry::Free { .. } => panic!("no record under number {key}"),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::Records;

    #[test]
    fn numbers_come_back_and_records_stay_apart() {
        let mut records = Records::default();
        let first = records.insert("first");
        let second = records.insert("second");
        assert_eq!(records.remove(first), "first");
        let third = records.insert("third");
        assert_eq!(third, first);
        assert_eq!(
            (*records.get(second), *records.get(third)),
            ("second", "third")
        );
        *records.get_mut(second) = "changed";
        assert_eq!(records.remove(second), "changed");
        assert_eq!(records.len(), 1);
    }

    #[test]
    #[should_panic(expected = "no record under number")]
    fn a_record_is_taken_out_once() {
        let mut records = Records::default();
        let key = records.insert(1);
        records.remove(key);
        records.remove(key);
    }
}

//! Which long value belongs to which row.

use rustc_hash::FxHashMap;

/// Ids of long values by row. A row that the builder made has the one the builder gave it until its
/// long value is replaced; only what differs is kept.
#[derive(Debug, Default)]
pub(crate) struct LongValueIds {
    built_rows: u64,
    next: u32,
    replaced: FxHashMap<u64, u32>,
    /// Of inserted rows, in order; 0 where there is none yet.
    inserted: Vec<u32>,
}

impl LongValueIds {
    /// The ids of a built database.
    pub(crate) fn new(built_rows: u64) -> Self {
        Self {
            built_rows,
            next: built_rows as u32 + 1,
            ..Self::default()
        }
    }

    /// The long value of a row.
    pub(crate) fn of(&self, row: u64) -> u32 {
        match row.checked_sub(self.built_rows) {
            Some(inserted) => self
                .inserted
                .get(inserted as usize)
                .copied()
                .unwrap_or(1)
                .max(1),
            None => self.replaced.get(&row).copied().unwrap_or(row as u32 + 1),
        }
    }

    /// Numbers a new long value.
    pub(crate) fn take(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The row has this long value from now on.
    pub(crate) fn set(&mut self, row: u64, id: u32) {
        let Some(inserted) = row.checked_sub(self.built_rows) else {
            self.replaced.insert(row, id);
            return;
        };
        let inserted = inserted as usize;
        if self.inserted.len() <= inserted {
            self.inserted.resize(inserted + 1, 0);
        }
        self.inserted[inserted] = id;
    }

    /// The row is gone.
    pub(crate) fn forget(&mut self, row: u64) {
        self.replaced.remove(&row);
    }
}

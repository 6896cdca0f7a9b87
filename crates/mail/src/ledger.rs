//! Which versions of rows have been committed, for as many rows as memory allows: a read that gives
//! an older one has met a lost write.

use std::collections::HashMap;

/// Rows whose latest version is remembered at most; about 4 MiB.
const MOST_ROWS: usize = 100_000;

/// Remembers committed versions. It is only ever asked by row, so the order of the map is not seen.
#[derive(Debug, Default)]
pub struct VersionLedger {
    versions: HashMap<u64, u32>,
}

impl VersionLedger {
    /// The version of `row` that is known to have been committed; 0 when nothing is known.
    #[must_use]
    pub fn committed(&self, row: u64) -> u32 {
        self.versions.get(&row).copied().unwrap_or(0)
    }

    /// Notes a committed replacement.
    pub fn commit(&mut self, row: u64, version: u32) {
        if self.versions.len() < MOST_ROWS || self.versions.contains_key(&row) {
            let latest = self.versions.entry(row).or_insert(version);
            *latest = version.max(*latest);
        }
    }

    /// Forgets a row that has been deleted.
    pub fn forget(&mut self, row: u64) {
        self.versions.remove(&row);
    }
}

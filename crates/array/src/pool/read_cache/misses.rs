//! Counts the misses of lines that are not in the cache, for rules that copy a line only when it
//! was missed more than once.
//!
//! Source of the rule: the "nhit" promotion of Open CAS (confirmed: three hits by default). The
//! table is direct-mapped: a line that falls on another's place starts at one.

/// Lines missed lately and how often.
#[derive(Debug)]
pub(super) struct MissTable {
    copy_at: u8,
    entries: Vec<(u32, u8)>,
}

/// Most lines counted at the same time.
const ENTRIES_MAX: usize = 1 << 20;

impl MissTable {
    /// A table for a cache of `lines` lines, whose lines are copied at their `copy_at`-th miss.
    pub(super) fn new(copy_at: u8, lines: u32) -> Self {
        let length = (lines as usize).next_power_of_two().min(ENTRIES_MAX);
        let length = if copy_at > 1 { length } else { 0 };
        Self {
            copy_at,
            entries: vec![(u32::MAX, 0); length],
        }
    }

    /// Counts a miss of `line`; says whether it is the one to copy the line at.
    pub(super) fn count(&mut self, line: u32) -> bool {
        if self.copy_at <= 1 {
            return true;
        }
        let place = line.wrapping_mul(0x9E37_79B1) as usize & (self.entries.len() - 1);
        let (counted, misses) = &mut self.entries[place];
        if *counted != line {
            (*counted, *misses) = (line, 0);
        }
        *misses += 1;
        if *misses >= self.copy_at {
            *misses = 0;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::MissTable;

    #[test]
    fn the_nth_miss_copies() {
        let mut table = MissTable::new(3, 64);
        let copied: Vec<bool> = (0..6).map(|_| table.count(5)).collect();
        assert_eq!(copied, [false, false, true, false, false, true]);
        assert!(MissTable::new(1, 64).count(9));
    }
}

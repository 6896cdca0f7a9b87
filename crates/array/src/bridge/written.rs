//! Which bytes of a file have been written: all others read as zero, whatever the volume holds.

use std::collections::BTreeMap;

/// Disjoint ranges that do not touch, by their first byte: first byte to end.
#[derive(Debug, Default)]
pub(super) struct Written {
    ranges: BTreeMap<u64, u64>,
}

impl Written {
    /// Bytes from `first` to before `end` have been written.
    pub(super) fn add(&mut self, mut first: u64, mut end: u64) {
        while let Some((&start, &stop)) = self.ranges.range(..=end).next_back() {
            if stop < first {
                break;
            }
            first = first.min(start);
            end = end.max(stop);
            self.ranges.remove(&start);
        }
        self.ranges.insert(first, end);
    }

    /// Nothing from `first` on has been written any more.
    pub(super) fn cut(&mut self, first: u64) {
        let beyond = self.ranges.split_off(&first);
        drop(beyond);
        if let Some(mut last) = self.ranges.last_entry() {
            let end = (*last.get()).min(first);
            *last.get_mut() = end;
        }
    }

    /// Shows the parts of `first..end` that have never been written.
    pub(super) fn holes(&self, first: u64, end: u64, mut show: impl FnMut(u64, u64)) {
        let before = self.ranges.range(..=first).next_back();
        let mut at = before.map_or(first, |(_, &stop)| stop.max(first));
        for (&start, &stop) in self.ranges.range(first..end) {
            if start > at {
                show(at, start);
            }
            at = at.max(stop);
        }
        if at < end {
            show(at, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_a_list_of_bytes(
            steps in prop::collection::vec((0_u64..60, 1_u64..20, 0_u8..4), 1..40),
        ) {
            let (mut written, mut list) = (Written::default(), [false; 80]);
            for (first, length, kind) in steps {
                if kind == 0 {
                    written.cut(first);
                    list[first as usize..].fill(false);
                } else {
                    written.add(first, first + length);
                    list[first as usize..(first + length) as usize].fill(true);
                }
                let mut seen = [true; 80];
                written.holes(0, 80, |from, to| seen[from as usize..to as usize].fill(false));
                prop_assert_eq!(seen, list);
            }
        }
    }
}

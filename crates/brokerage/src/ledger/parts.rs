//! The trades of a run, divided into parts that fit into a table of fixed size.

use super::{IdRanges, RANGE_BITS};

/// Trades with neighbouring ids that the driver has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) first: i64,
    pub(super) trades: u64,
}

/// Windows that are compared at once, and all ids around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) windows: Vec<Window>,
}

impl Part {
    pub(super) fn trades(&self) -> u64 {
        self.windows.iter().map(|window| window.trades).sum()
    }

    /// The entry of a trade in the table of this part.
    pub(super) fn place(&self, trade: i64) -> Option<usize> {
        let mut before = 0;
        for window in &self.windows {
            let number = trade.checked_sub(window.first)?;
            if (0..window.trades as i64).contains(&number) {
                return usize::try_from(before + number as u64).ok();
            }
            before += window.trades;
        }
        None
    }
}

/// Divides the ids above `base` into parts with at most this many trades in use.
pub(super) fn parts(base: i64, ranges: &IdRanges, table_trades: u64) -> Vec<Part> {
    let mut parts = vec![Part {
        first: base + 1,
        last: i64::MAX,
        windows: Vec::new(),
    }];
    for (&range, &highest) in &ranges.0 {
        let mut first = base + 1 + (range << RANGE_BITS) as i64;
        let mut left = highest + 1;
        while left > 0 {
            let part = parts.last_mut().expect("there is one from the start");
            let trades = left.min(table_trades - part.trades());
            if trades > 0 {
                part.windows.push(Window { first, trades });
                (first, left) = (first + trades as i64, left - trades);
            }
            if left > 0 {
                part.last = first - 1;
                parts.push(Part {
                    first,
                    last: i64::MAX,
                    windows: Vec::new(),
                });
            }
        }
    }
    parts
}

//! What a pool counts. All numbers but the states are cumulative.

/// Counters and state of a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolCounters {
    /// Bytes in a page; 0 for a pool without pages.
    pub page_bytes: u64,
    /// Pages that lie on each tier now, the highest first.
    pub pages: [u64; 3],
    /// Pages for which there is room in each tier, apart from data that no volume has.
    pub slots: [u64; 3],
    /// Pages the volumes would have if every sector of them were written.
    pub pages_promised: u64,
    /// First writes refused because no page was free.
    pub refused_first_writes: u64,
    /// Times the share of pages in use rose over a warning level.
    pub warnings: u64,
    /// Pages being moved now.
    pub moves_under_way: u64,
    /// Moves that are planned and have not begun.
    pub moves_planned: u64,
    /// Pages that arrived on a higher tier.
    pub pages_moved_up: u64,
    /// Pages that arrived on a lower tier.
    pub pages_moved_down: u64,
    /// Pages that arrived on the same tier, out of a group that was being emptied.
    pub pages_moved_across: u64,
    /// Moves given up because a disk group failed, or the page was trimmed, or there was no room.
    pub moves_abandoned: u64,
    /// Sectors copied again because they were written during a move.
    pub sectors_copied_again: u64,
    /// Writes that waited for a move or for a page to be zeroed.
    pub writes_held: u64,
    /// Pages zeroed because their place had held other data.
    pub pages_zeroed: u64,
    /// The read cache's counters; zeros if the pool has none.
    pub read_cache: ReadCacheCounters,
}

impl PoolCounters {
    /// Whether the volumes promise more than the pool holds.
    pub fn is_overcommitted(&self) -> bool {
        self.pages_promised > self.slots.iter().sum::<u64>()
    }

    /// Bytes that arrived on a higher tier.
    pub fn bytes_moved_up(&self) -> u64 {
        self.pages_moved_up * self.page_bytes
    }

    /// Bytes that arrived on a lower tier.
    pub fn bytes_moved_down(&self) -> u64 {
        self.pages_moved_down * self.page_bytes
    }
}

/// Counters and state of a read cache. Reads that go past it, as those of pages that lie on
/// solid state, are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCacheCounters {
    /// Lines it has room for.
    pub lines_max: u64,
    /// Lines that can be read from it now: how warm it is.
    pub lines: u64,
    /// Lines that hold a place in it, readable or not.
    pub lines_held: u64,
    /// Reads served from it.
    pub hits: u64,
    /// Reads that found at least one line missing.
    pub misses: u64,
    /// Lines copied into it.
    pub fills: u64,
    /// Lines not copied because too many were being copied, or too fast.
    pub fills_skipped: u64,
    /// Lines whose copy was dropped before it was complete, because they were written.
    pub fills_cancelled: u64,
    /// Lines that left for others.
    pub evictions: u64,
    /// Readable lines that were written or trimmed.
    pub invalidations: u64,
    /// Lines brought up to date by a write.
    pub updates: u64,
    /// Times all contents were lost, to a failover or a failed disk.
    pub losses: u64,
}

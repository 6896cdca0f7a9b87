//! What the cache has done and holds.

/// Gauges at this moment and counters since the cache was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStatistics {
    /// Pages the cache may hold at present.
    pub capacity_pages: u64,
    /// Pages it may hold at its largest; `None` if its size is always the same.
    pub largest_pages: Option<u64>,
    /// Pages in the cache.
    pub resident_pages: u64,
    /// Pages that differ from the disk.
    pub dirty_pages: u64,
    /// Pages that somebody holds.
    pub pinned_pages: u64,
    /// Write requests on their way.
    pub writes_outstanding: u64,
    /// Uses of a page that was in the cache.
    pub hits: u64,
    /// Fetches of a page that was not.
    pub misses: u64,
    /// Read requests for one page that somebody waits for.
    pub reads: u64,
    /// Read requests ahead of need.
    pub preread_requests: u64,
    /// Pages those brought in.
    pub preread_pages: u64,
    /// Pages of those that were read over and thrown away.
    pub preread_gap_pages: u64,
    /// Pages asked for ahead of need that were not read because the cache was short of frames.
    pub preread_refused: u64,
    /// Pages read ahead that left unused.
    pub preread_unused: u64,
    /// Pages made without a read.
    pub created: u64,
    /// Write requests, each of one page or of several in a row.
    pub writes: u64,
    /// Pages written, clean bridge pages included.
    pub pages_written: u64,
    /// Clean pages written to join dirty neighbours.
    pub bridge_pages: u64,
    /// Pages of the largest write.
    pub largest_write_pages: u64,
    /// Writes begun because a page had to leave.
    pub scavenge_writes: u64,
    /// Times a page was not written because the log was not durable far enough.
    pub writes_blocked_by_log: u64,
    /// Page images put into the log ahead of a write.
    pub images_logged: u64,
    /// Payloads copied because a page changed on its way to the disk.
    pub copies: u64,
    /// Pages that left the cache.
    pub evictions: u64,
    /// Fetches that waited because no frame was free (page-fault stalls).
    pub page_fault_stalls: u64,
    /// Frames given beyond the capacity, because all pages were held or a page was created while no
    /// frame was free.
    pub overcommits: u64,
}

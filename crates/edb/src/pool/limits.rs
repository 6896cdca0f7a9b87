//! The numbers of the pool, in pages and nanoseconds.

use super::replacement::LruKSettings;
use crate::settings::EngineSettings;
use runtime::time::{MILLISECOND_NS, SECOND_NS};

/// The numbers the pool works with; see [`EngineSettings`] for their meaning and sources.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // Each field is described under the same name in `EngineSettings`.
pub struct PoolSettings {
    pub page_size_bytes: usize,
    pub cache_size_bytes: u64,
    pub log_file_size_bytes: u64,
    pub checkpoint_depth_bytes: u64,
    pub checkpoint_outstanding_writes: u32,
    pub flush_urgent_percent: u32,
    pub flush_urgency_step_bytes: u64,
    pub flush_retry_ns: u64,
    pub flush_idle_ns: u64,
    pub outstanding_io_max: u32,
    pub max_coalesce_read_bytes: u64,
    pub max_coalesce_write_bytes: u64,
    pub coalesce_gap_read_bytes: u64,
    pub coalesce_gap_write_bytes: u64,
    pub start_flush_percent: f64,
    pub stop_flush_percent: f64,
    pub scavenge_delay_ns: u64,
    pub lru_k: LruKSettings,
}

impl From<&EngineSettings> for PoolSettings {
    fn from(settings: &EngineSettings) -> Self {
        Self {
            page_size_bytes: settings.page_size_bytes,
            cache_size_bytes: settings.cache_size_bytes,
            log_file_size_bytes: settings.log_file_size_bytes,
            checkpoint_depth_bytes: settings.checkpoint_depth_bytes,
            checkpoint_outstanding_writes: settings.checkpoint_outstanding_writes,
            flush_urgent_percent: settings.flush_urgent_percent,
            flush_urgency_step_bytes: settings.flush_urgency_step_bytes,
            flush_retry_ns: settings.flush_retry_ms * MILLISECOND_NS,
            flush_idle_ns: settings.flush_idle_ms * MILLISECOND_NS,
            outstanding_io_max: settings.outstanding_io_max,
            max_coalesce_read_bytes: settings.max_coalesce_read_bytes,
            max_coalesce_write_bytes: settings.max_coalesce_write_bytes,
            coalesce_gap_read_bytes: settings.coalesce_gap_read_bytes,
            coalesce_gap_write_bytes: settings.coalesce_gap_write_bytes,
            start_flush_percent: settings.start_flush_percent,
            stop_flush_percent: settings.stop_flush_percent,
            scavenge_delay_ns: settings.scavenge_delay_ms * MILLISECOND_NS,
            lru_k: LruKSettings {
                correlation_ns: settings.lru_k_correlation_ms * MILLISECOND_NS,
                timeout_ns: settings.lru_k_timeout_s * SECOND_NS,
                history_entries: settings.lru_k_history_entries,
            },
        }
    }
}

/// The smallest cache that can work.
const LEAST_PAGES: usize = 16;
/// The highest urgency. Source: ESE.
pub(super) const MOST_URGENCY: u32 = 127;
/// The urgency of writing everything before the database is closed. Source: ESE.
pub(super) const CLOSING_URGENCY: u32 = 25;

/// The settings, converted once.
pub(super) struct Limits {
    /// Frames.
    pub(super) capacity: usize,
    /// Free frames below which an allocation evicts for itself.
    pub(super) low: usize,
    /// Free frames the scavenger wants, between low and high.
    pub(super) target: usize,
    /// Free frames at which the scavenger stops.
    pub(super) high: usize,
    /// Pages of the largest write.
    pub(super) write_pages: usize,
    /// Clean pages in a row that a write may carry along.
    pub(super) bridge_pages: usize,
    /// Pages of the largest read.
    pub(super) read_pages: usize,
    /// Pages in a row that a read may go over.
    pub(super) gap_pages: usize,
    pub(super) settings: PoolSettings,
}

impl Limits {
    pub(super) fn new(settings: &PoolSettings) -> Self {
        let page_bytes = settings.page_size_bytes as u64;
        let pages = |bytes: u64| (bytes / page_bytes) as usize;
        let capacity = pages(settings.cache_size_bytes);
        assert!(
            capacity >= LEAST_PAGES,
            "a cache of {capacity} pages cannot work: give it at least {LEAST_PAGES}"
        );
        let share = |percent: f64| (capacity as f64 * percent / 100.0) as usize;
        let low = share(settings.start_flush_percent).max(1);
        let high = share(settings.stop_flush_percent).max(low + 1);
        Self {
            capacity,
            low,
            target: (low + high).div_ceil(2),
            high,
            write_pages: pages(settings.max_coalesce_write_bytes).max(1),
            bridge_pages: pages(settings.coalesce_gap_write_bytes),
            read_pages: pages(settings.max_coalesce_read_bytes).max(1),
            gap_pages: pages(settings.coalesce_gap_read_bytes),
            settings: *settings,
        }
    }

    /// Write requests that may be outstanding at an urgency of 1..=127: four ramps whose ends are
    /// 1/128, 1/32, 1/4 and all of half the total at urgencies 15, 31, 63 and 127. Source: ESE.
    pub(super) fn outstanding_writes(&self, urgency: u32) -> u32 {
        let most = f64::from(self.settings.outstanding_io_max) / 2.0;
        let ramps = [
            (0.0, 0.0),
            (15.0, most / 128.0),
            (31.0, most / 32.0),
            (63.0, most / 4.0),
            (127.0, most),
        ];
        let urgency = f64::from(urgency.min(MOST_URGENCY));
        let mut allowed = most;
        for pair in ramps.windows(2) {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            if urgency <= to {
                allowed = low + (high - low) * (urgency - from) / (to - from);
                break;
            }
        }
        (allowed as u32).max(1)
    }

    /// Write requests the flusher may have outstanding when the log has grown `lag_bytes` since the
    /// oldest change that is not on the disk.
    pub(super) fn flusher_writes(&self, lag_bytes: u64) -> u32 {
        let settings = &self.settings;
        let relaxed_bytes =
            settings.checkpoint_depth_bytes * u64::from(settings.flush_urgent_percent) / 100;
        let relaxed = settings.checkpoint_outstanding_writes.max(1);
        if lag_bytes <= relaxed_bytes {
            return relaxed;
        }
        let overdue_bytes = lag_bytes - relaxed_bytes;
        let steps = overdue_bytes / settings.flush_urgency_step_bytes.max(1);
        let urgency = (1 + steps).min(u64::from(MOST_URGENCY)) as u32;
        self.outstanding_writes(urgency).max(relaxed)
    }

    /// Write requests the scavenger may have outstanding with `available` frames free: rising
    /// linearly from the target down to the low mark.
    pub(super) fn scavenger_writes(&self, available: usize) -> u32 {
        if available >= self.target {
            return self.outstanding_writes(1);
        }
        if available <= self.low {
            return self.outstanding_writes(MOST_URGENCY);
        }
        let missing = (self.target - available) as u32;
        let span = (self.target - self.low) as u32;
        self.outstanding_writes((MOST_URGENCY * missing / span).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgency_follows_the_four_ramps() {
        let settings = PoolSettings::from(&EngineSettings::default());
        let limits = Limits::new(&settings);
        let at = |urgency| limits.outstanding_writes(urgency);
        assert_eq!(
            [at(1), at(15), at(31), at(63), at(127)],
            [1, 4, 16, 128, 512]
        );
        assert_eq!(at(CLOSING_URGENCY), 11);
        let depth = settings.checkpoint_depth_bytes;
        assert_eq!(limits.flusher_writes(depth * 5 / 4), 1);
        let much = depth * 5 / 4 + 126 * settings.flush_urgency_step_bytes;
        assert_eq!(limits.flusher_writes(much), 512);
        assert_eq!(limits.scavenger_writes(limits.low), 512);
        assert_eq!(limits.scavenger_writes(limits.target), 1);
    }
}

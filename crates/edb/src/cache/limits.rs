//! The numbers of the cache, in pages and nanoseconds.

use crate::settings::{
    CHECKPOINT_OUTSTANDING_WRITES, EngineSettings, FLUSH_URGENT_PERCENT, OUTSTANDING_IO_MAX,
};
use config::ByteSize;
use std::cell::Cell;

/// The smallest cache that can work.
const LEAST_PAGES: usize = 16;
/// The highest urgency. Source: ESE.
pub(super) const MOST_URGENCY: u32 = 127;
/// The urgency of writing everything before the database is closed. Source: ESE.
pub(super) const CLOSING_URGENCY: u32 = 25;

/// What follows from the number of frames, which may change.
#[derive(Clone, Copy)]
struct Marks {
    capacity: usize,
    low: usize,
    target: usize,
    high: usize,
}

impl Marks {
    fn of(capacity: usize, settings: &EngineSettings) -> Self {
        let engine = &settings.engine;
        let share = |percent: f64| (capacity as f64 * percent / 100.0) as usize;
        let low = share(engine.start_flush_percent).max(1);
        let high = share(engine.stop_flush_percent).max(low + 1);
        Self {
            capacity,
            low,
            target: (low + high).div_ceil(2),
            high,
        }
    }
}

/// The settings, converted once, and the frames there are at present.
pub(super) struct Limits {
    marks: Cell<Marks>,
    /// Frames that the cache shall come to.
    wanted: Cell<usize>,
    /// The fewest frames it may come to, and the most.
    fewest: usize,
    most: usize,
    /// Pages of the largest write.
    pub(super) write_pages: usize,
    /// Clean pages in a row that a write may carry along.
    pub(super) bridge_pages: usize,
    /// Pages of the largest read.
    pub(super) read_pages: usize,
    /// Pages in a row that a read may go over.
    pub(super) gap_pages: usize,
    pub(super) settings: EngineSettings,
}

impl Limits {
    pub(super) fn new(settings: &EngineSettings) -> Self {
        let engine = &settings.engine;
        let pages = |size: ByteSize| (size.bytes() / engine.page_size.bytes()) as usize;
        let capacity = engine.cache_pages();
        assert!(
            capacity >= LEAST_PAGES,
            "a cache of {capacity} pages cannot work: give it at least {LEAST_PAGES}"
        );
        // One that has a smallest size begins with it, and grows once it is known what memory there is.
        let fewest = engine.fewest_cache_pages();
        Self {
            marks: Cell::new(Marks::of(fewest, settings)),
            wanted: Cell::new(fewest),
            fewest,
            most: capacity,
            write_pages: pages(engine.max_coalesced_write).max(1),
            bridge_pages: pages(engine.coalesce_write_gap),
            read_pages: pages(engine.max_coalesced_read).max(1),
            gap_pages: pages(engine.coalesce_read_gap),
            settings: *settings,
        }
    }

    /// Frames of the cache: the most pages it can hold at present.
    pub(super) fn capacity(&self) -> usize {
        self.marks.get().capacity
    }

    /// Free frames below which an allocation evicts for itself.
    pub(super) fn low(&self) -> usize {
        self.marks.get().low
    }

    /// Free frames the scavenger wants, between low and high.
    pub(super) fn target(&self) -> usize {
        self.marks.get().target
    }

    /// Free frames at which the scavenger stops.
    pub(super) fn high(&self) -> usize {
        self.marks.get().high
    }

    /// The frames that the cache shall come to: `frames`, or the nearest number that the settings allow.
    pub(super) fn want(&self, frames: usize) {
        self.wanted.set(frames.clamp(self.fewest, self.most));
    }

    /// The most frames it may come to; `None` if that is always the same.
    pub(super) fn largest(&self) -> Option<usize> {
        (self.fewest < self.most).then_some(self.most)
    }

    /// Whether the cache has other frames than it shall come to.
    pub(super) fn is_resizing(&self) -> bool {
        self.wanted.get() != self.capacity()
    }

    /// Comes nearer to the frames wanted: gains all that are missing, or gives up those of `available` free ones
    /// that are not needed to stay above the low mark, so that nobody has to wait for a frame. Says whether the
    /// number has changed.
    pub(super) fn resize(&self, available: usize) -> bool {
        let (capacity, wanted) = (self.capacity(), self.wanted.get());
        let lost = capacity
            .saturating_sub(wanted)
            .min(available.saturating_sub(self.low()));
        let now = wanted.max(capacity - lost);
        self.marks.set(Marks::of(now, &self.settings));
        now != capacity
    }

    /// Write requests that may be outstanding at an urgency of 1..=127: four ramps whose ends are
    /// 1/128, 1/32, 1/4 and all of half the total at urgencies 15, 31, 63 and 127. Source: ESE.
    pub(super) fn outstanding_writes(&self, urgency: u32) -> u32 {
        let most = f64::from(OUTSTANDING_IO_MAX) / 2.0;
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
        let relaxed_bytes = settings.engine.checkpoint_depth.bytes() * FLUSH_URGENT_PERCENT / 100;
        let relaxed = CHECKPOINT_OUTSTANDING_WRITES;
        if lag_bytes <= relaxed_bytes {
            return relaxed;
        }
        let overdue_bytes = lag_bytes - relaxed_bytes;
        let steps = overdue_bytes / settings.internals.flush_urgency_step_bytes.max(1);
        let urgency = (1 + steps).min(u64::from(MOST_URGENCY)) as u32;
        self.outstanding_writes(urgency).max(relaxed)
    }

    /// Write requests the scavenger may have outstanding with `available` frames free: rising
    /// linearly from the target down to the low mark.
    pub(super) fn scavenger_writes(&self, available: usize) -> u32 {
        let Marks { low, target, .. } = self.marks.get();
        if available >= target {
            return self.outstanding_writes(1);
        }
        if available <= low {
            return self.outstanding_writes(MOST_URGENCY);
        }
        let missing = (target - available) as u32;
        let span = (target - low) as u32;
        self.outstanding_writes((MOST_URGENCY * missing / span).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgency_follows_the_four_ramps() {
        let settings = EngineSettings::default();
        let limits = Limits::new(&settings);
        let at = |urgency| limits.outstanding_writes(urgency);
        assert_eq!(
            [at(1), at(15), at(31), at(63), at(127)],
            [1, 4, 16, 128, 512]
        );
        assert_eq!(at(CLOSING_URGENCY), 11);
        let depth = settings.engine.checkpoint_depth.bytes();
        assert_eq!(limits.flusher_writes(depth * 5 / 4), 1);
        let much = depth * 5 / 4 + 126 * settings.internals.flush_urgency_step_bytes;
        assert_eq!(limits.flusher_writes(much), 512);
        assert_eq!(limits.scavenger_writes(limits.low()), 512);
        assert_eq!(limits.scavenger_writes(limits.target()), 1);
    }
}

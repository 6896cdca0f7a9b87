//! When a write of the log is durable.
//!
//! A device with a volatile write cache completes a write when it is in that cache. A commit then
//! flushes the cache and waits for that, too. So a log write takes as long as its own request plus
//! the first flush that begins after it; the time between the two is the host's, not the storage's.

use measure::host::DeviceRequest;

/// A write without a flush for this long counts as durable: the database does not flush it.
const FLUSH_TIMEOUT_NS: u64 = 1_000_000_000;

/// Log writes that are not durable yet.
#[derive(Debug)]
pub(super) struct Durability {
    /// Whether the device has a volatile cache.
    needs_flush: bool,
    /// In the order of completion.
    waiting: Vec<DeviceRequest>,
}

impl Durability {
    /// For a device with or without a volatile write cache.
    pub fn new(needs_flush: bool) -> Self {
        Self {
            needs_flush,
            waiting: Vec::new(),
        }
    }

    /// Takes a completed write, and returns it if it is durable by that.
    pub fn write(&mut self, write: DeviceRequest) -> Option<DeviceRequest> {
        if !self.needs_flush || write.failed {
            return Some(write);
        }
        self.waiting.push(write);
        None
    }

    /// Takes a completed flush, and returns the writes that are durable by it, with the flush's
    /// latency added.
    pub fn flush(&mut self, flush: &DeviceRequest) -> impl Iterator<Item = DeviceRequest> {
        let started_ns = flush.ended_ns.saturating_sub(flush.latency_ns);
        let (latency_ns, failed) = (flush.latency_ns, flush.failed);
        let flushed = self.ended_until(started_ns);
        self.waiting
            .drain(..flushed)
            .map(move |write| DeviceRequest {
                latency_ns: write.latency_ns + latency_ns,
                failed,
                ..write
            })
    }

    /// Returns the writes that were not flushed in time.
    pub fn unflushed(&mut self, now_ns: u64) -> impl Iterator<Item = DeviceRequest> {
        let late = self.ended_until(now_ns.saturating_sub(FLUSH_TIMEOUT_NS));
        self.waiting.drain(..late)
    }

    /// Removes all pending writes.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    fn ended_until(&self, moment_ns: u64) -> usize {
        self.waiting
            .partition_point(|write| write.ended_ns <= moment_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::host::{Direction, ProcessName};

    fn request(direction: Direction, started_ns: u64, ended_ns: u64) -> DeviceRequest {
        DeviceRequest {
            extent: 0,
            direction,
            is_synchronous: true,
            bytes: 8_192,
            latency_ns: ended_ns - started_ns,
            ended_ns,
            process: 1,
            command: ProcessName::new(b"postgres"),
            failed: false,
        }
    }

    fn latencies(writes: impl Iterator<Item = DeviceRequest>) -> Vec<u64> {
        writes.map(|write| write.latency_ns).collect()
    }

    #[test]
    fn a_write_lasts_until_the_first_flush_that_begins_after_it() {
        let mut durability = Durability::new(true);
        assert_eq!(durability.write(request(Direction::Write, 0, 100)), None);
        assert_eq!(durability.write(request(Direction::Write, 50, 120)), None);
        // It began before the second one was in the cache.
        let flush = request(Direction::Flush, 110, 500);
        assert_eq!(latencies(durability.flush(&flush)), [100 + 390]);
        let flush = request(Direction::Flush, 510, 600);
        assert_eq!(latencies(durability.flush(&flush)), [70 + 90]);
        assert!(latencies(durability.flush(&flush)).is_empty());
    }

    #[test]
    fn a_flush_that_fails_fails_the_writes_before_it() {
        let mut durability = Durability::new(true);
        assert_eq!(durability.write(request(Direction::Write, 0, 10)), None);
        let flush = DeviceRequest {
            failed: true,
            ..request(Direction::Flush, 20, 30)
        };
        assert!(durability.flush(&flush).all(|write| write.failed));
    }

    #[test]
    fn nobody_waits_where_nothing_is_flushed() {
        let write = request(Direction::Write, 0, 100);
        assert_eq!(Durability::new(false).write(write), Some(write));
        let mut durability = Durability::new(true);
        assert_eq!(durability.write(write), None);
        assert!(latencies(durability.unflushed(FLUSH_TIMEOUT_NS)).is_empty());
        assert_eq!(
            latencies(durability.unflushed(FLUSH_TIMEOUT_NS + 100)),
            [100]
        );
    }
}

//! When a write of the log is durable.
//!
//! A device with a cache that forgets calls a write done when it lies in that cache. Who commits
//! then has the cache flushed and waits for that, too. So a log write takes as long as its own
//! request and the first flush that begins after it has come back; what the host does between the
//! two is not the storage's.

use measure::host::DeviceRequest;

/// A write that no flush has followed for so long is not waited with: whoever wrote it does not ask
/// for more.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Log writes that are not durable yet.
#[derive(Debug)]
pub(super) struct Durability {
    /// Whether there is a cache to be flushed.
    needs_flush: bool,
    /// In the order of their ends.
    waiting: Vec<DeviceRequest>,
}

impl Durability {
    /// Of writes to a device that has, or has not, a cache that forgets.
    pub fn new(needs_flush: bool) -> Self {
        Self {
            needs_flush,
            waiting: Vec::new(),
        }
    }

    /// Takes in a write that came back, and gives it when it is durable by that.
    pub fn write(&mut self, write: DeviceRequest) -> Option<DeviceRequest> {
        if !self.needs_flush || write.failed {
            return Some(write);
        }
        self.waiting.push(write);
        None
    }

    /// Takes in a flush that came back, and gives the writes that are durable by it, with the time
    /// that this took.
    pub fn flush(&mut self, flush: &DeviceRequest) -> impl Iterator<Item = DeviceRequest> {
        let begun_ns = flush.ended_ns.saturating_sub(flush.latency_ns);
        let (latency_ns, failed) = (flush.latency_ns, flush.failed);
        let flushed = self.ended_until(begun_ns);
        self.waiting
            .drain(..flushed)
            .map(move |write| DeviceRequest {
                latency_ns: write.latency_ns + latency_ns,
                failed,
                ..write
            })
    }

    /// Gives the writes that nobody has had flushed until this moment.
    pub fn unflushed(&mut self, now_ns: u64) -> impl Iterator<Item = DeviceRequest> {
        let late = self.ended_until(now_ns.saturating_sub(PATIENCE_NS));
        self.waiting.drain(..late)
    }

    /// Forgets all.
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

    fn request(direction: Direction, begun_ns: u64, ended_ns: u64) -> DeviceRequest {
        DeviceRequest {
            extent: 0,
            direction,
            is_synchronous: true,
            bytes: 8_192,
            latency_ns: ended_ns - begun_ns,
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
        assert!(latencies(durability.unflushed(PATIENCE_NS)).is_empty());
        assert_eq!(latencies(durability.unflushed(PATIENCE_NS + 100)), [100]);
    }
}

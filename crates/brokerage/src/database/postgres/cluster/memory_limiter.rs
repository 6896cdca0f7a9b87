//! Limits the page cache of a server, while its own memory varies.
//!
//! A control group counts both together. So the limit follows: the memory of processes and shared
//! buffers now, plus the page cache that is allowed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::page_cache::MemoryGroup;

/// Interval at which the limit is adjusted.
const EVERY: Duration = Duration::from_millis(100);
/// Headroom, so that a session that sorts is not killed before the limit has followed. The page
/// cache uses it meanwhile.
pub(super) const SPARE_BYTES: u64 = 48 << 20;
/// The limit falls by no more than this share at a time: many sessions may be about to start, and
/// they allocate their memory within a second.
const FALL: f64 = 0.02;

/// A thread that adjusts the limit, until it is dropped.
#[derive(Debug)]
pub struct MemoryLimiter {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MemoryLimiter {
    /// Limits the page cache of a group to this many bytes, with a limit that falls gradually from
    /// its current value.
    #[must_use]
    pub fn begin(group: &MemoryGroup, page_cache_bytes: u64, from_bytes: u64) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let (files, ended) = (group.files(), Arc::clone(&ends));
        let thread = thread::spawn(move || {
            let mut limit_bytes = from_bytes;
            while !ended.load(Ordering::Relaxed) {
                if let Some(own_bytes) = files.own_bytes() {
                    let lowest = (limit_bytes as f64 * (1.0 - FALL)) as u64;
                    limit_bytes = lowest.max(own_bytes + page_cache_bytes + SPARE_BYTES);
                    files.limit(limit_bytes);
                }
                thread::sleep(EVERY);
            }
        });
        Self {
            ends,
            thread: Some(thread),
        }
    }
}

impl Drop for MemoryLimiter {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there leaves nothing locked.
            let _ = thread.join();
        }
    }
}

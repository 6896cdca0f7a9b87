//! Notices when this process does not run although it is due: it was paused, the machine was
//! suspended, or no CPU was free.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::SHORTEST_PAUSE_MS;

/// How often the thread is due.
const INTERVAL: Duration = Duration::from_millis(50);

/// The times in which this process did not run although it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pauses {
    /// The longest of all, short ones included.
    pub(super) longest: Duration,
    /// All that were [`SHORTEST_PAUSE_MS`] or longer, together.
    pub(super) total: Duration,
}

/// A thread that sleeps a short time, over and over, and measures how much longer it was away.
#[derive(Debug)]
pub(super) struct PauseWatch {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    longest_ns: AtomicU64,
    total_ns: AtomicU64,
    is_over: AtomicBool,
}

impl PauseWatch {
    /// Begins to watch; `None` when no thread can be started.
    pub(super) fn begin() -> Option<Self> {
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("pauses".to_owned());
        let spawned = thread.spawn(move || {
            while !seen.is_over.load(Ordering::Relaxed) {
                let begun = now();
                std::thread::sleep(INTERVAL);
                let late = now().saturating_sub(begun).saturating_sub(INTERVAL);
                let late_ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
                seen.longest_ns.fetch_max(late_ns, Ordering::Relaxed);
                if late.as_secs_f64() * 1e3 >= SHORTEST_PAUSE_MS {
                    seen.total_ns.fetch_add(late_ns, Ordering::Relaxed);
                }
            }
        });
        spawned.ok().map(|_| Self { shared })
    }

    /// The pauses since the last time this was asked.
    pub(super) fn take(&self) -> Pauses {
        let taken = |ns: &AtomicU64| Duration::from_nanos(ns.swap(0, Ordering::Relaxed));
        Pauses {
            longest: taken(&self.shared.longest_ns),
            total: taken(&self.shared.total_ns),
        }
    }
}

impl Drop for PauseWatch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

/// Time since boot, suspension included.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default() // It is never negative.
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The test stops itself for a while by a process that continues it.
    #[test]
    fn a_paused_process_is_noticed() {
        let watch = PauseWatch::begin().unwrap();
        std::thread::sleep(INTERVAL * 3);
        watch.take();
        let id = std::process::id();
        let script = format!("kill -STOP {id}; sleep 0.6; kill -CONT {id}");
        let status = Command::new("sh").args(["-c", &script]).status();
        assert!(status.unwrap().success());
        std::thread::sleep(INTERVAL * 3);
        let pauses = watch.take();
        assert!(pauses.longest >= Duration::from_millis(400), "{pauses:?}");
        assert!(pauses.total >= pauses.longest);
    }
}

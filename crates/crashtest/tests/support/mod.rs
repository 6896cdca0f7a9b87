//! Simulations on all CPUs.

use crashtest::{Failure, Totals, run};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Simulates the seeds until one fails; what was gone through, and the lowest seed that failed.
pub fn run_seeds(
    seeds: Range<u64>,
    in_thread: impl Fn(u64) -> crashtest::Outcome + Sync,
) -> (Totals, Option<Box<Failure>>) {
    let (next, failed_at) = (AtomicU64::new(seeds.start), AtomicU64::new(seeds.end));
    let results = Mutex::new((Totals::default(), None::<Box<Failure>>));
    let work = || {
        let mut totals = Totals::default();
        let mut failure = None;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= failed_at.load(Ordering::Relaxed) {
                break;
            }
            let outcome = in_thread(seed);
            totals += &outcome.totals;
            if outcome.failure.is_some() {
                failed_at.fetch_min(seed, Ordering::Relaxed);
                failure = outcome.failure;
                break;
            }
        }
        let mut results = results.lock().expect("no thread has panicked");
        results.0 += &totals;
        if let Some(failure) = failure
            && results
                .1
                .as_ref()
                .is_none_or(|known| failure.seed < known.seed)
        {
            results.1 = Some(failure);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    results.into_inner().expect("no thread has panicked")
}

/// Simulates the seeds with the engine as it is.
pub fn run_all(seeds: Range<u64>) -> (Totals, Option<Box<Failure>>) {
    run_seeds(seeds, run)
}

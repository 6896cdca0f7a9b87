//! Crash tests of the storage engine: many seeds, on all CPUs.

mod words;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::crashtest::{Failure, Totals};
use workload::progress::StopRequest;

use crate::workers;
use execution::Error;
use execution::clock::Stopwatch;
use execution::events::{Event, Observer};

pub use ::crashtest::{FaultKind, KindTotals, trace};

/// Seeds that a thread takes at a time.
const CHUNK: u64 = 8;

/// Which seeds to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first seed that is simulated.
    pub from: u64,
    /// How many seeds follow each other from there.
    pub count: u64,
}

/// What came of many seeds. Its text is a table of what they went through.
#[derive(Clone, Debug)]
pub struct CrashtestOutcome {
    /// The seeds that were to be simulated.
    pub seeds: Seeds,
    /// Seeds that were simulated.
    pub simulated: u64,
    /// What they went through.
    pub totals: Totals,
    /// The lowest seed that failed, explained. Seeds after it were not all simulated.
    pub failure: Option<Box<Failure>>,
    /// Whether somebody stopped it before all seeds were simulated.
    pub is_interrupted: bool,
    /// Wall-clock time that the simulations took.
    pub elapsed: Duration,
}

/// What one thread makes of its seeds.
struct Chunk {
    simulated: u64,
    totals: Totals,
    failure: Option<Box<Failure>>,
}

/// Simulates seeds until one fails, all are done or somebody asks to `stop`, on up to `jobs` threads
/// (as many as there are CPUs without a number).
///
/// # Errors
/// If the seeds go beyond the largest number that there is.
pub fn run(
    seeds: Seeds,
    jobs: Option<usize>,
    mut observer: Box<dyn Observer>,
    stop: &StopRequest,
) -> Result<CrashtestOutcome, Error> {
    let Seeds { from, count } = seeds;
    let Some(end) = from.checked_add(count) else {
        return Err(Error::usage(
            format!("There are no {count} seeds from {from} on."),
            "Begin with a smaller seed.",
        ));
    };
    let watch = Stopwatch::start();
    let failed_at = AtomicU64::new(end);
    let chunks = usize::try_from(count.div_ceil(CHUNK)).unwrap_or(usize::MAX);
    let work = |_, number: usize| {
        let first = from + number as u64 * CHUNK;
        Ok(simulate(first, end.min(first + CHUNK), &failed_at, stop))
    };
    let mut done = 0;
    let report = |chunk: Option<(usize, &Chunk)>| {
        done += chunk.map_or(0, |(_, chunk)| chunk.simulated);
        observer.event(Event::SeedsProgress { done, of: count });
    };
    let jobs = jobs.unwrap_or_else(workers::cpus);
    let results = workers::compute(jobs, chunks, stop, work, report)?;
    let mut outcome = CrashtestOutcome {
        seeds,
        simulated: 0,
        totals: Totals::default(),
        failure: None,
        is_interrupted: false,
        elapsed: watch.elapsed(),
    };
    for chunk in results.into_iter().flatten() {
        outcome.simulated += chunk.simulated;
        outcome.totals += &chunk.totals;
        // In the order of the seeds: the first is the lowest.
        outcome.failure = outcome.failure.or(chunk.failure);
    }
    outcome.is_interrupted = outcome.failure.is_none() && outcome.simulated < count;
    Ok(outcome)
}

/// Simulates the seeds from `first` up to `end`, as long as none before them has failed.
fn simulate(first: u64, end: u64, failed_at: &AtomicU64, stop: &StopRequest) -> Chunk {
    let mut chunk = Chunk {
        simulated: 0,
        totals: Totals::default(),
        failure: None,
    };
    for seed in first..end {
        if seed >= failed_at.load(Ordering::Relaxed) || stop.is_stopped() {
            break;
        }
        let outcome = ::crashtest::run(seed);
        chunk.simulated += 1;
        chunk.totals += &outcome.totals;
        if outcome.failure.is_some() {
            failed_at.fetch_min(seed, Ordering::Relaxed);
            chunk.failure = outcome.failure;
            break;
        }
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use execution::events::ignore;

    #[test]
    fn threads_make_no_difference_and_every_seed_counts() {
        let seeds = Seeds { from: 5, count: 37 };
        let stop = StopRequest::new();
        let one = run(seeds, Some(1), ignore(), &stop).unwrap();
        let three = run(seeds, Some(3), ignore(), &stop).unwrap();
        assert_eq!((one.simulated, three.simulated), (37, 37));
        assert_eq!(one.totals, three.totals);
        assert!(one.failure.is_none() && !one.is_interrupted);
        let text = one.to_string();
        assert!(
            text.starts_with("37 seeds from 5: none failed, in "),
            "{text}"
        );
        let by_kind: u64 = one.totals.kinds.values().map(|kind| kind.seeds).sum();
        assert_eq!(by_kind, 37);
    }

    #[test]
    fn a_wish_to_stop_ends_it() {
        let stop = StopRequest::new();
        let asks = stop.clone();
        let observer = move |event: Event<'_>| {
            if let Event::SeedsProgress { done, .. } = event
                && done > 0
            {
                asks.stop();
            }
        };
        let seeds = Seeds {
            from: 0,
            count: 1_000_000,
        };
        let outcome = run(seeds, Some(1), Box::new(observer), &stop).unwrap();
        assert!(outcome.is_interrupted && outcome.simulated < 1_000_000);
    }

    #[test]
    fn seeds_beyond_the_largest_number_are_refused() {
        let seeds = Seeds {
            from: u64::MAX - 1,
            count: 3,
        };
        let refused = run(seeds, Some(1), ignore(), &StopRequest::new());
        assert!(refused.is_err());
    }
}

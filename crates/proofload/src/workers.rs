//! Computes many independent items at once, on all CPUs.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use workload::progress::StopRequest;

use execution::Error;

/// How often progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// Other processes that compute items too, each in several slots at once.
pub trait Helpers: Sync {
    /// How many items they compute at once.
    fn slots(&self) -> usize;

    /// Has the item of this name computed in a slot, and brings its files to `directory`. False when the
    /// helper is gone, or was stopped: the item is then still to be computed.
    ///
    /// # Errors
    /// That of the item.
    fn compute(&self, slot: usize, name: &str, directory: &Path) -> Result<bool, Error>;
}

/// The error of a helper that was asked for what it does not know.
pub fn unknown_item(name: &str) -> Error {
    Error::usage(
        format!("There is nothing to compute of the name {name}."),
        "Give all ranks the same command line and the same files.",
    )
}

/// No other process.
pub struct Alone;

impl Helpers for Alone {
    fn slots(&self) -> usize {
        0
    }

    fn compute(&self, _: usize, _: &str, _: &Path) -> Result<bool, Error> {
        Ok(false)
    }
}

/// The number of CPUs.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Computes the items 0 to `count` on up to `jobs` threads; where the system gives no threads, one
/// after the other on the calling one. Gives the results in the order of the items, `None` for those
/// that were not begun because of a wish to `stop`.
///
/// `work` gets the number of the thread, from 0, and that of the item.
///
/// `report` runs on the calling thread, with each item that is done, and with `None` from time to
/// time and at the end.
///
/// # Errors
/// That of the first item, in their order, that has failed. No item is begun after a failure.
pub fn compute<T: Send>(
    jobs: usize,
    count: usize,
    stop: &StopRequest,
    work: impl Fn(usize, usize) -> Result<T, Error> + Sync,
    mut report: impl FnMut(Option<(usize, &T)>),
) -> Result<Vec<Option<T>>, Error> {
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let take = || {
        if stop.is_stopped() || has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let number = next.fetch_add(1, Ordering::Relaxed);
        (number < count).then_some(number)
    };
    let one = |thread, number| {
        let result = work(thread, number);
        has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
        (number, result)
    };
    let each = |thread, sender: Sender<_>| {
        while let Some(number) = take() {
            if sender.send(one(thread, number)).is_err() {
                return;
            }
        }
    };
    let mut results: Vec<Option<Result<T, Error>>> = (0..count).map(|_| None).collect();
    let mut keep = |done: Option<(usize, Result<T, Error>)>| {
        let Some((number, result)) = done else {
            return report(None);
        };
        report(result.as_ref().ok().map(|done| (number, done)));
        results[number] = Some(result);
    };
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        let each = &each;
        let spawn = |thread: &usize| {
            let (thread, sender) = (*thread, sender.clone());
            let worker = thread::Builder::new();
            worker
                .spawn_scoped(scope, move || each(thread, sender))
                .is_ok()
        };
        let spawned = (0..jobs.clamp(1, count.max(1))).filter(spawn).count();
        drop(sender);
        if spawned == 0 {
            while let Some(number) = take() {
                keep(Some(one(0, number)));
            }
            return;
        }
        loop {
            match receiver.recv_timeout(REPORT_INTERVAL) {
                Ok(done) => keep(Some(done)),
                Err(RecvTimeoutError::Timeout) => keep(None),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    report(None);
    results.into_iter().map(Option::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let mut done = Vec::new();
        let work = |_, number: usize| Ok(number * 10);
        let report = |item: Option<(usize, &usize)>| done.extend(item.map(|(number, _)| number));
        let results = compute(3, 5, &StopRequest::new(), work, report).unwrap();
        assert_eq!(results, [0, 10, 20, 30, 40].map(Some));
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn nothing_is_begun_after_a_failure_or_a_wish_to_stop() {
        let begun = AtomicUsize::new(0);
        let stop = StopRequest::new();
        let work = |_, number| {
            begun.fetch_add(1, Ordering::Relaxed);
            match number {
                2 => Err(Error::usage("two", "")),
                number => Ok(number),
            }
        };
        let error = compute(1, 9, &stop, work, |_| {}).unwrap_err();
        assert_eq!((error.to_string().as_str(), begun.into_inner()), ("two", 3));
        let stops = |_, number| {
            stop.stop();
            Ok(number)
        };
        let results = compute(1, 3, &stop, stops, |_| {}).unwrap();
        assert_eq!(results, [Some(0), None, None]);
    }
}

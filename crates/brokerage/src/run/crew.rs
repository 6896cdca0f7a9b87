//! Who works on which thread.
//!
//! Users and hands spend their time waiting for the server. Where a session lets others work
//! meanwhile, many of them share a thread, which goes to sleep only when none of them has anything
//! to do: the more answers come at once, the less each of them costs. Where a session holds its
//! thread, as one with a file does, everybody has a thread of their own; so too where the system
//! allows no io_uring, by which shared threads wait.

use super::line::Line;
use runtime::thread::complete;
use runtime::{Runtime, UringOptions};
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use workload::mail::store::{Failure, FailureKind};

/// Somebody's work, begun on the thread where it is done.
pub type Work = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// So many share a thread at least, where there are so many: that is a few thousand transactions a
/// second, a fraction of what a thread can carry.
const LEAST_ON_A_THREAD: usize = 16;

/// Work as a crew takes it.
pub fn work<F: Future<Output = ()> + 'static>(begin: impl FnOnce() -> F + Send + 'static) -> Work {
    Box::new(|| Box::pin(begin()))
}

/// A thread with work on it. When that is done, it gives the share of its time in which it was busy,
/// if it was a shared one: what the thread of one session does is that session's matter.
pub type Thread = JoinHandle<Option<f64>>;

/// Sets everybody to work, on shared threads if their sessions allow that. The work ends on its own;
/// a panic in it ends the run.
///
/// # Errors
/// The system gives no more threads. Those that it gave work already.
pub fn hire(
    people: Vec<Work>,
    shares_threads: bool,
    line: &Arc<Line>,
    threads: &mut Vec<Thread>,
) -> io::Result<()> {
    // What the system refuses here it refuses on each thread: nobody gets one to find that out.
    let number = match shares_threads && Runtime::wall_clock(&ring()).is_ok() {
        true => threads_for(people.len(), processors()),
        false => people.len(),
    };
    let mut crews: Vec<Vec<Work>> = Vec::new();
    crews.resize_with(number, Vec::new);
    for (place, work) in people.into_iter().enumerate() {
        crews[place % number].push(work);
    }
    for crew in crews {
        let line = Arc::clone(line);
        let named = thread::Builder::new().name("proofload-user".to_owned());
        threads.push(named.spawn(move || {
            let _ends = EndsTheRun(line);
            carry_out(crew)
        })?);
    }
    Ok(())
}

/// How many threads so many people share on a machine with so many processors: half of them are
/// left to everything else, a server on the same machine above all.
fn threads_for(people: usize, processors: usize) -> usize {
    (people / LEAST_ON_A_THREAD).min(processors / 2).max(1)
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

/// A ring that serves sockets: it knows no files and no memory.
fn ring() -> UringOptions {
    UringOptions {
        registered_files: 0,
        registered_buffers: 0,
        ..UringOptions::default()
    }
}

fn carry_out(crew: Vec<Work>) -> Option<f64> {
    let is_alone = crew.len() == 1;
    let runtime = (!is_alone).then(|| Runtime::wall_clock(&ring()).ok());
    let Some(runtime) = runtime.flatten() else {
        beside_each_other(crew);
        return None;
    };
    let begun = Instant::now();
    let handle = runtime.handle();
    let tasks: Vec<_> = crew.into_iter().map(|work| handle.spawn(work())).collect();
    runtime.block_on(async {
        for task in tasks {
            task.await;
        }
    });
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let used = Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec as u32);
    Some(used.as_secs_f64() / begun.elapsed().as_secs_f64())
}

/// What to say of shared threads that were busy for this share of their time, if anything.
#[must_use]
pub fn caution(busy: f64) -> Option<String> {
    /// A thread as busy as this makes answers wait for each other now and then.
    const TOO_BUSY: f64 = 0.7;
    let percent = busy * 100.0;
    (busy > TOO_BUSY).then(|| {
        format!(
            "A thread on which users work was busy for {percent:.0} % of the time: response times \
             hold some waiting for it, and this program may have held the load back. More \
             processors give it more threads."
        )
    })
}

/// Gives everybody a thread, and works on this one, too.
fn beside_each_other(mut crew: Vec<Work>) {
    let Some(first) = crew.pop() else { return };
    thread::scope(|scope| {
        for begin in crew {
            scope.spawn(|| complete(begin()));
        }
        complete(first());
    });
}

/// Ends the run when a thread ends by a panic: without its people it would measure nobody.
struct EndsTheRun(Arc<Line>);

impl Drop for EndsTheRun {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(panicked());
        }
    }
}

/// The failure that a panic is.
#[must_use]
pub fn panicked() -> Failure {
    Failure {
        kind: FailureKind::Internal,
        file: String::new(),
        page: None,
        operation: "running the house".to_owned(),
        error: "a thread of the run ended by a panic; this is a bug of the program".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::thread::pause;

    #[test]
    fn few_people_share_one_thread_and_many_leave_half_of_the_processors() {
        assert_eq!(threads_for(1, 64), 1);
        assert_eq!(threads_for(52, 2), 1);
        assert_eq!(threads_for(52, 64), 3);
        assert_eq!(threads_for(1_000, 64), 32);
        assert_eq!(threads_for(1_000, 1), 1);
    }

    #[test]
    fn a_busy_thread_is_told() {
        assert_eq!(caution(0.3), None);
        assert!(caution(0.93).is_some_and(|told| told.contains("93 %")));
    }

    #[test]
    fn a_shared_thread_tells_how_busy_it_was() {
        let rests = || {
            work(|| async {
                let until = Instant::now() + Duration::from_millis(20);
                while Instant::now() < until {
                    pause(Duration::from_millis(1)).await;
                }
            })
        };
        let share = carry_out(vec![rests(), rests()]);
        assert!(
            share.is_some_and(|share| (0.0..1.0).contains(&share)),
            "{share:?}"
        );
        assert_eq!(carry_out(vec![rests()]), None);
    }
}

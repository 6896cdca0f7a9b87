//! Assigns clients (users and market workers) to threads.
//!
//! Clients spend their time waiting for the server. If a session can share its thread, many of them
//! run on one thread, which sleeps only when none of them has anything to do: the more answers come
//! at once, the less each of them costs. If a session blocks its thread, as one with a file does,
//! every client has a thread of its own; so too if the system gives shared threads nothing to wait
//! by.

use super::shard_link::ShardLink;
use runtime::thread::complete;
use runtime::{RingOptions, Runtime, WallClockOptions};
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use workload::failure::Failure;

/// A client, constructed on the thread where it runs.
pub type Work = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// Fewest clients per shared thread: they are a few thousand transactions a second, a fraction of
/// what a thread can run.
const MIN_CLIENTS_PER_THREAD: usize = 16;

/// Boxes a client, to be constructed on its thread.
pub fn work<F: Future<Output = ()> + 'static>(begin: impl FnOnce() -> F + Send + 'static) -> Work {
    Box::new(|| Box::pin(begin()))
}

/// A thread with clients. When they are done, it returns its CPU utilization, if it was a shared
/// one.
pub type Thread = JoinHandle<Option<f64>>;

/// Starts all clients, on shared threads if their sessions allow that. They end on their own; a
/// panic in one ends the run.
///
/// # Errors
/// The system refused a thread. Clients on the threads before it are running.
pub fn spawn_clients(
    clients: Vec<Work>,
    shares_threads: bool,
    link: &Arc<ShardLink>,
    threads: &mut Vec<Thread>,
) -> io::Result<()> {
    // If the system refuses a runtime here it would refuse one on each thread.
    let number = match shares_threads && Runtime::wall_clock(&for_sockets()).is_ok() {
        true => threads_for(clients.len(), cpus()),
        false => clients.len(),
    };
    let mut groups: Vec<Vec<Work>> = Vec::new();
    groups.resize_with(number, Vec::new);
    for (place, work) in clients.into_iter().enumerate() {
        groups[place % number].push(work);
    }
    for client_threads in groups {
        let link = Arc::clone(link);
        let named = thread::Builder::new().name("proofload-user".to_owned());
        threads.push(named.spawn(move || {
            let _ends = FailOnPanic(link);
            run_clients(client_threads)
        })?);
    }
    Ok(())
}

/// Number of threads that the clients share: at most half of the CPUs, the rest is for everything
/// else, a server on the same machine above all.
fn threads_for(clients: usize, processors: usize) -> usize {
    (clients / MIN_CLIENTS_PER_THREAD)
        .min(processors / 2)
        .max(1)
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

/// Sockets need no registered files and buffers.
fn for_sockets() -> WallClockOptions {
    WallClockOptions {
        ring: RingOptions {
            registered_files: 0,
            registered_buffers: 0,
            ..RingOptions::default()
        },
        ..WallClockOptions::default()
    }
}

fn run_clients(client_threads: Vec<Work>) -> Option<f64> {
    let is_single = client_threads.len() == 1;
    let runtime = (!is_single).then(|| Runtime::wall_clock(&for_sockets()).ok());
    let Some(runtime) = runtime.flatten() else {
        run_on_own_threads(client_threads);
        return None;
    };
    let started = Instant::now();
    let handle = runtime.handle();
    let tasks: Vec<_> = client_threads
        .into_iter()
        .map(|work| handle.spawn(work()))
        .collect();
    runtime.block_on(async {
        for task in tasks {
            task.await;
        }
    });
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let used = Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec as u32);
    Some(used.as_secs_f64() / started.elapsed().as_secs_f64())
}

/// A warning about shared threads with this CPU utilization, if it is too high.
#[must_use]
pub fn warning(busy: f64) -> Option<String> {
    /// From here on clients notably wait for each other.
    const TOO_BUSY: f64 = 0.7;
    let percent = busy * 100.0;
    (busy > TOO_BUSY).then(|| {
        format!(
            "A thread that runs users was busy for {percent:.0} % of the time: response times \
             include waiting for it, and this program may have been the bottleneck. More CPUs give \
             it more threads."
        )
    })
}

/// Runs every client on a thread of its own, the first on this one.
fn run_on_own_threads(mut client_threads: Vec<Work>) {
    let Some(first) = client_threads.pop() else {
        return;
    };
    thread::scope(|scope| {
        for begin in client_threads {
            scope.spawn(|| complete(begin()));
        }
        complete(first());
    });
}

/// Ends the run when a thread panics: without its clients it would measure nothing.
struct FailOnPanic(Arc<ShardLink>);

impl Drop for FailOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(panicked());
        }
    }
}

/// The failure reported for a panic.
#[must_use]
pub fn panicked() -> Failure {
    Failure::of_panic("running the clients")
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::thread::pause;

    #[test]
    fn few_clients_share_one_thread_and_many_leave_half_of_the_cpus() {
        assert_eq!(threads_for(1, 64), 1);
        assert_eq!(threads_for(52, 2), 1);
        assert_eq!(threads_for(52, 64), 3);
        assert_eq!(threads_for(1_000, 64), 32);
        assert_eq!(threads_for(1_000, 1), 1);
    }

    #[test]
    fn a_busy_thread_is_warned_about() {
        assert_eq!(warning(0.3), None);
        assert!(warning(0.93).is_some_and(|warning| warning.contains("93 %")));
    }

    #[test]
    fn a_shared_thread_reports_its_utilization() {
        let rests = || {
            work(|| async {
                let until = Instant::now() + Duration::from_millis(20);
                while Instant::now() < until {
                    pause(Duration::from_millis(1)).await;
                }
            })
        };
        let share = run_clients(vec![rests(), rests()]);
        assert!(
            share.is_some_and(|share| (0.0..1.0).contains(&share)),
            "{share:?}"
        );
        assert_eq!(run_clients(vec![rests()]), None);
    }
}

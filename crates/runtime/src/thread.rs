//! Waiting, whoever waits: a task of a runtime, beside others, or a thread of its own.
//!
//! Programs that wait for others through system calls or libraries need a thread for each wait; those
//! that wait through a runtime share one. Code written as `async` over this module runs as either:
//! in a [`Runtime`](crate::Runtime) it lets other tasks work meanwhile, and by [`complete`] it holds
//! its thread.

use crate::executor::Handle;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Carries `future` out on this thread, which sleeps while it waits.
///
/// # Panics
/// It has to wait, and this is a task of a runtime: those await.
pub fn complete<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static WAKER: Waker = Waker::from(Arc::new(Unparks(thread::current())));
    }
    let mut future = pin!(future);
    let waker = WAKER.with(Waker::clone);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        // What would wake it may well be a task of that runtime.
        let is_free = Handle::current().is_none();
        assert!(is_free, "a task must not hold the thread of its runtime");
        thread::park();
    }
}

/// Waits for so long.
pub async fn pause(length: Duration) {
    match Handle::current() {
        Some(handle) => {
            let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
            handle.sleep_ns(length_ns).await;
        }
        None => thread::sleep(length),
    }
}

struct Job<T> {
    done: Option<T>,
    waker: Option<Waker>,
    has_failed: bool,
}

/// Notifies whoever waits when the thread has ended, be it by a panic.
struct Reports<T>(Arc<Mutex<Job<T>>>);

impl<T> Drop for Reports<T> {
    fn drop(&mut self) {
        let mut job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        job.has_failed = job.done.is_none();
        if let Some(waker) = job.waker.take() {
            drop(job);
            waker.wake();
        }
    }
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Carries out what holds a thread for a while: a task has it done by a thread made for it.
///
/// # Panics
/// The work has.
pub async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::current().is_none() {
        return work();
    }
    let job = Arc::new(Mutex::new(Job {
        done: None,
        waker: None,
        has_failed: false,
    }));
    let reports = Reports(Arc::clone(&job));
    // Where the system gives no thread, the work is still there to be done here.
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = Arc::clone(&work);
    let spawned = thread::Builder::new().spawn(move || {
        let work = take(&taken)?;
        let done = work();
        let mut job = reports.0.lock().unwrap_or_else(PoisonError::into_inner);
        job.done = Some(done);
        Some(())
    });
    if spawned.is_err()
        && let Some(work) = take(&work)
    {
        return work();
    }
    poll_fn(|context| {
        let mut job = job.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(done) = job.done.take() {
            return Poll::Ready(done);
        }
        assert!(!job.has_failed, "work on another thread ended by a panic");
        job.waker = Some(context.waker().clone());
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IoDriver, Runtime, WallClockOptions};
    use std::cell::RefCell;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::rc::Rc;

    /// A runtime with each I/O driver that there is here.
    fn runtimes() -> impl Iterator<Item = Runtime> {
        let drivers = [IoDriver::IoUring, IoDriver::Threads].map(Some);
        let options = drivers.map(WallClockOptions::with_driver);
        options
            .into_iter()
            .filter_map(|options| Runtime::wall_clock(&options).ok())
    }

    #[test]
    fn a_thread_waits_until_somebody_wakes_it() {
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let other = Arc::clone(&waker);
        let mut polls = 0;
        let future = poll_fn(move |context| {
            polls += 1;
            *other.lock().unwrap() = Some(context.waker().clone());
            if polls > 2 {
                Poll::Ready(polls)
            } else {
                Poll::Pending
            }
        });
        let wakes = thread::spawn(move || {
            let begun = std::time::Instant::now();
            while begun.elapsed() < Duration::from_secs(10) && Arc::strong_count(&waker) > 1 {
                if let Some(waker) = waker.lock().unwrap().take() {
                    waker.wake();
                }
            }
        });
        assert_eq!(complete(future), 3);
        wakes.join().unwrap();
    }

    #[test]
    #[should_panic(expected = "must not hold the thread")]
    fn a_task_may_not_hold_its_runtime() {
        let runtime = Runtime::wall_clock(&WallClockOptions::default()).unwrap();
        runtime.block_on(async { complete(pause(Duration::from_millis(1))) });
    }

    #[test]
    fn a_task_pauses_and_has_work_done_elsewhere_beside_others() {
        for runtime in runtimes() {
            pauses(&runtime);
        }
    }

    fn pauses(runtime: &Runtime) {
        let order = Rc::new(RefCell::new(Vec::new()));
        let beside = Rc::clone(&order);
        let others = runtime.handle().spawn(async move {
            pause(Duration::from_millis(1)).await;
            beside.borrow_mut().push("beside");
        });
        let mine = Rc::clone(&order);
        runtime.block_on(async move {
            let here = thread::current().id();
            let there = elsewhere(|| {
                thread::sleep(Duration::from_millis(50));
                thread::current().id()
            });
            assert_ne!(there.await, here);
            mine.borrow_mut().push("elsewhere");
            others.await;
        });
        assert_eq!(*order.borrow(), ["beside", "elsewhere"]);
        assert!(Handle::current().is_none());
        let here = thread::current().id();
        assert_eq!(complete(elsewhere(|| thread::current().id())), here);
    }

    #[test]
    #[should_panic(expected = "ended by a panic")]
    fn a_panic_elsewhere_comes_back() {
        let runtime = Runtime::wall_clock(&WallClockOptions::default()).unwrap();
        runtime.block_on(elsewhere(|| panic!("on purpose")));
    }

    #[test]
    fn tasks_wait_for_sockets_beside_each_other() {
        for runtime in runtimes() {
            waits_for_sockets(&runtime);
        }
    }

    fn waits_for_sockets(runtime: &Runtime) {
        let pairs: Vec<_> = (0..20).map(|_| UnixStream::pair().unwrap()).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let answers = thread::spawn(move || {
            // The last one first: nobody's wait holds up another's.
            for (number, mut stream) in theirs.into_iter().enumerate().rev() {
                let mut asked = [0];
                stream.read_exact(&mut asked).unwrap();
                stream.write_all(&[asked[0], number as u8]).unwrap();
            }
        });
        let tasks: Vec<_> = ours
            .into_iter()
            .map(|mut stream| {
                runtime.handle().spawn(async move {
                    stream.write_all(&[7]).unwrap();
                    let handle = Handle::current().unwrap();
                    handle.readable(stream.as_fd()).unwrap().await;
                    let mut answer = [0; 2];
                    stream.read_exact(&mut answer).unwrap();
                    // The end of the connection counts as something to read.
                    handle.readable(stream.as_fd()).unwrap().await;
                    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
                    answer
                })
            })
            .collect();
        runtime.block_on(async move {
            for (number, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await, [7, number as u8]);
            }
        });
        answers.join().unwrap();
    }

    #[test]
    fn a_wait_that_is_given_up_disturbs_nobody() {
        for runtime in runtimes() {
            gives_up(&runtime);
        }
    }

    fn gives_up(runtime: &Runtime) {
        runtime.block_on(async {
            let handle = Handle::current().unwrap();
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            for _ in 0..10 {
                let mut wait = Box::pin(handle.readable(ours.as_fd()).unwrap());
                poll_fn(|context| {
                    assert!(wait.as_mut().poll(context).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            theirs.write_all(&[1]).unwrap();
            handle.readable(ours.as_fd()).unwrap().await;
            handle.readable(ours.as_fd()).unwrap().await;
        });
    }
}

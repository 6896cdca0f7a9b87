//! The single-threaded executor and its two clocks.
//!
//! Ready tasks run first come, first served. When none is ready, the [`Driver`] waits: the virtual
//! clock jumps to the next timer, the wall clock sleeps in the kernel until a request completes or
//! a timer is due. With the virtual clock everything, the order of tasks included, depends on
//! nothing but the program and its seeds.

use crate::time::{Sleep, Timers};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// What moves time forward and brings completions in.
pub(crate) trait Driver {
    /// Nanoseconds since the runtime started.
    fn now_ns(&self) -> u64;

    /// Hands queued requests to the device and wakes the owners of completed ones, without waiting.
    fn turn(&self);

    /// Waits until `deadline_ns`, or until a request completes, or until another thread wakes a
    /// task. `None`: no timer is pending.
    fn park(&self, deadline_ns: Option<u64>);

    /// Interrupts [`Driver::park`] from another thread; `None` where no other thread can wake.
    fn unparker(&self) -> Option<Arc<dyn Fn() + Send + Sync>> {
        None
    }
}

/// The clock of simulations.
#[derive(Default)]
struct VirtualClock {
    now_ns: Cell<u64>,
}

impl Driver for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn turn(&self) {}

    fn park(&self, deadline_ns: Option<u64>) {
        let deadline_ns = deadline_ns
            .expect("every task waits and no timer is set: the simulated program is deadlocked");
        assert!(
            deadline_ns >= self.now_ns.get(),
            "virtual time never goes back"
        );
        self.now_ns.set(deadline_ns);
    }
}

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

/// The queue of tasks that can go on. Wakers may be called from any thread, hence the lock; on the
/// runtime's own thread it is never contended.
struct ReadyQueue {
    tasks: Mutex<VecDeque<usize>>,
    unpark: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    home: std::thread::ThreadId,
}

impl ReadyQueue {
    fn push(&self, task: usize) {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(task);
        if std::thread::current().id() != self.home {
            let unpark = self.unpark.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(unpark) = unpark.as_ref() {
                unpark();
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    fn len(&self) -> usize {
        self.tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

struct TaskWaker {
    task: usize,
    queued: AtomicBool,
    ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.push(self.task);
        }
    }
}

struct Task {
    /// Taken out while the task runs.
    future: Option<TaskFuture>,
    waker: Arc<TaskWaker>,
}

struct Shared {
    driver: Rc<dyn Driver>,
    is_virtual: bool,
    timers: Timers,
    tasks: RefCell<Vec<Option<Task>>>,
    free_slots: RefCell<Vec<usize>>,
    ready: Arc<ReadyQueue>,
}

/// Owns the tasks of one thread. Dropping it drops them.
pub struct Runtime {
    shared: Rc<Shared>,
}

/// A cheap way to reach the runtime from inside its tasks.
#[derive(Clone)]
pub struct Handle {
    shared: Weak<Shared>,
}

impl Runtime {
    /// A runtime whose time is simulated and starts at zero.
    #[must_use]
    pub fn virtual_clock() -> Self {
        Self::with_driver(Rc::new(VirtualClock::default()), true)
    }

    pub(crate) fn with_driver(driver: Rc<dyn Driver>, is_virtual: bool) -> Self {
        let ready = Arc::new(ReadyQueue {
            tasks: Mutex::default(),
            unpark: Mutex::new(driver.unparker()),
            home: std::thread::current().id(),
        });
        let shared = Shared {
            driver,
            is_virtual,
            timers: Timers::default(),
            tasks: RefCell::default(),
            free_slots: RefCell::default(),
            ready,
        };
        Self {
            shared: Rc::new(shared),
        }
    }

    /// A handle for tasks and volumes.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            shared: Rc::downgrade(&self.shared),
        }
    }

    /// Runs `future` and everything it spawns until `future` is done. Tasks still running then stay
    /// where they are until the next call, or are dropped with the runtime.
    pub fn block_on<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> T {
        let mut main = self.handle().spawn(future);
        loop {
            // One round of the tasks ready now; those they wake come in the next round, so that a
            // task which yields for ever cannot keep completions and timers out.
            for _ in 0..self.shared.ready.len() {
                let Some(task) = self.shared.ready.pop() else {
                    break;
                };
                self.run_task(task);
            }
            if let Some(result) = main.take_result() {
                return result;
            }
            self.shared.driver.turn();
            self.shared.timers.fire_until(self.shared.driver.now_ns());
            if self.shared.ready.len() == 0 {
                self.shared
                    .driver
                    .park(self.shared.timers.next_deadline_ns());
                self.shared.timers.fire_until(self.shared.driver.now_ns());
            }
        }
    }

    fn run_task(&self, slot: usize) {
        let (mut future, waker) = {
            let mut tasks = self.shared.tasks.borrow_mut();
            let Some(task) = tasks[slot].as_mut() else {
                return;
            };
            task.waker.queued.store(false, Ordering::Release);
            let Some(future) = task.future.take() else {
                return;
            };
            (future, Waker::from(Arc::clone(&task.waker)))
        };
        let finished = future
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready();
        let mut tasks = self.shared.tasks.borrow_mut();
        if finished {
            tasks[slot] = None;
            self.shared.free_slots.borrow_mut().push(slot);
            drop(tasks); // The future may own handles whose drop reaches back here.
            drop(future);
        } else if let Some(task) = tasks[slot].as_mut() {
            task.future = Some(future);
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Futures may spawn or wake while they are dropped, so take them out first.
        let tasks = std::mem::take(&mut *self.shared.tasks.borrow_mut());
        drop(tasks);
    }
}

impl Handle {
    fn shared(&self) -> Rc<Shared> {
        self.shared
            .upgrade()
            .expect("a handle is used only while its runtime lives")
    }

    pub(crate) fn timers(&self) -> impl std::ops::Deref<Target = Timers> + use<> {
        struct Guard(Rc<Shared>);
        impl std::ops::Deref for Guard {
            type Target = Timers;
            fn deref(&self) -> &Timers {
                &self.0.timers
            }
        }
        Guard(self.shared())
    }

    /// Nanoseconds since the runtime started, on its clock.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.shared().driver.now_ns()
    }

    /// Whether time is simulated.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.shared().is_virtual
    }

    /// Starts a task. It runs even if the returned handle is dropped.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        let shared = self.shared();
        let outcome = Rc::new(Outcome {
            result: RefCell::new(None),
            waiter: RefCell::new(None),
        });
        let completion = Rc::clone(&outcome);
        let future: TaskFuture = Box::pin(async move {
            let result = future.await;
            *completion.result.borrow_mut() = Some(result);
            if let Some(waiter) = completion.waiter.borrow_mut().take() {
                waiter.wake();
            }
        });
        let slot = shared.free_slots.borrow_mut().pop().unwrap_or_else(|| {
            shared.tasks.borrow_mut().push(None);
            shared.tasks.borrow().len() - 1
        });
        let waker = Arc::new(TaskWaker {
            task: slot,
            queued: AtomicBool::new(true),
            ready: Arc::clone(&shared.ready),
        });
        shared.tasks.borrow_mut()[slot] = Some(Task {
            future: Some(future),
            waker,
        });
        shared.ready.push(slot);
        JoinHandle { outcome }
    }

    /// Waits for `duration_ns`.
    #[must_use = "a sleep does nothing unless awaited"]
    pub fn sleep_ns(&self, duration_ns: u64) -> Sleep {
        self.sleep_until_ns(self.now_ns().saturating_add(duration_ns))
    }

    /// Waits until the clock shows `deadline_ns`.
    #[must_use = "a sleep does nothing unless awaited"]
    pub fn sleep_until_ns(&self, deadline_ns: u64) -> Sleep {
        Sleep::new(self.clone(), deadline_ns)
    }

    /// Lets every other ready task run once.
    pub async fn yield_now(&self) {
        let mut yielded = false;
        std::future::poll_fn(|context| {
            if yielded {
                return Poll::Ready(());
            }
            yielded = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

struct Outcome<T> {
    result: RefCell<Option<T>>,
    waiter: RefCell<Option<Waker>>,
}

/// Awaits a task's result. Dropping it lets the task run on alone.
pub struct JoinHandle<T> {
    outcome: Rc<Outcome<T>>,
}

impl<T> JoinHandle<T> {
    /// Whether the task is done and its result waits to be taken.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.result.borrow().is_some()
    }

    fn take_result(&mut self) -> Option<T> {
        self.outcome.result.borrow_mut().take()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(result) = self.take_result() {
            return Poll::Ready(result);
        }
        *self.outcome.waiter.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}

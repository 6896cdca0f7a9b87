//! The single-threaded executor and its two clocks.
//!
//! Ready tasks run first come, first served, but for a few urgent ones on the wall clock. When none
//! is ready, the [`Driver`] waits: the virtual clock jumps to the next timer, the wall clock sleeps
//! in the kernel until a request completes or a timer is due. With the virtual clock everything,
//! the order of tasks included, depends on nothing but the program and its seeds.

mod join;
mod ready;
mod timers;
mod virtual_clock;

pub use join::JoinHandle;
pub use timers::Sleep;

use crate::driver::Driver;
use crate::outstanding::{OutstandingRequest, SimulatedRequests};
use crate::source::{EventSource, Sources};
use ready::{LOCAL, ReadyQueue, TaskWaker};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use timers::Timers;
use virtual_clock::VirtualClock;

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// The way to the runtime that runs on this thread at the moment.
    static CURRENT: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

/// Makes a runtime's tasks those of the thread; gives way to the runtime before when dropped.
struct Running<'a> {
    shared: &'a Shared,
    outer_runtime: u64,
    outer_handle: Option<Handle>,
}

impl<'a> Running<'a> {
    fn new(shared: &'a Rc<Shared>) -> Self {
        let handle = Handle {
            shared: Rc::clone(shared),
        };
        let outer_handle = CURRENT.replace(Some(handle));
        LOCAL.with(|local| {
            local.tasks.swap(&shared.waiting_tasks);
            let outer_runtime = local.runtime.replace(shared.ready.runtime);
            assert!(
                outer_runtime != shared.ready.runtime,
                "a runtime's own task cannot run it"
            );
            Self {
                shared,
                outer_runtime,
                outer_handle,
            }
        })
    }

    fn len(&self) -> usize {
        LOCAL.with(|local| local.tasks.borrow().len())
    }

    fn pop(&self) -> Option<usize> {
        LOCAL.with(|local| local.tasks.borrow_mut().pop_front())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.outer_handle.take());
        LOCAL.with(|local| {
            local.tasks.swap(&self.shared.waiting_tasks);
            local.runtime.set(self.outer_runtime);
        });
    }
}

/// The place of a task, which stays for other tasks when one is done.
struct Task {
    /// Taken out while the task runs, and for good when it is done.
    running: Option<(TaskFuture, Waker)>,
    /// Whether the task is in the queue or will be run from it.
    queued: Arc<TaskWaker>,
}

struct Shared {
    driver: Rc<dyn Driver>,
    is_virtual: bool,
    timers: Timers,
    sources: Sources,
    simulated_requests: SimulatedRequests,
    tasks: RefCell<Vec<Task>>,
    free_slots: RefCell<Vec<usize>>,
    ready: Arc<ReadyQueue>,
    /// The local queue while the runtime is not running; that of the runtime which it interrupts
    /// while it is.
    waiting_tasks: RefCell<VecDeque<usize>>,
    /// Set when the runtime is dropped: nothing is started any more.
    closed: Cell<bool>,
    /// The time when the present turn of the loop began.
    turn_ns: Cell<u64>,
    /// Turns of the loop so far.
    turns: Cell<u64>,
}

impl Shared {
    /// The next instant at which a timer or a model needs attention. In simulated time models have
    /// gone through everything by then that no task waits for.
    fn next_instant_ns(&self) -> Option<u64> {
        let timer_ns = self.timers.next_deadline_ns();
        if self.is_virtual {
            return self.sources.advance_until_awaited(timer_ns);
        }
        let event_ns = self.sources.next_event_ns();
        timer_ns.into_iter().chain(event_ns).min()
    }

    /// Begins a turn: notes the time and lets models and timers have what is due.
    fn begin_turn(&self) {
        let now_ns = self.driver.now_ns();
        self.turn_ns.set(now_ns);
        self.turns.set(self.turns.get() + 1);
        if !self.sources.is_empty() {
            self.sources.advance_to(now_ns);
        }
        self.timers.fire_until(now_ns);
    }
}

/// Owns the tasks of one thread. Dropping it drops them and waits for requests under way.
pub struct Runtime {
    shared: Rc<Shared>,
}

/// A cheap way to reach the runtime from inside its tasks. A handle may outlive its runtime; tasks
/// spawned then are dropped at once.
#[derive(Clone)]
pub struct Handle {
    shared: Rc<Shared>,
}

impl Runtime {
    /// A runtime whose time is simulated and starts at zero.
    #[must_use]
    pub fn virtual_clock() -> Self {
        Self::with_driver(Rc::new(VirtualClock::default()))
    }

    pub(crate) fn with_driver(driver: Rc<dyn Driver>) -> Self {
        let shared = Shared {
            ready: Arc::new(ReadyQueue::new(driver.unparker())),
            is_virtual: driver.is_virtual(),
            driver,
            timers: Timers::default(),
            sources: Sources::default(),
            simulated_requests: SimulatedRequests::default(),
            tasks: RefCell::default(),
            free_slots: RefCell::default(),
            waiting_tasks: RefCell::default(),
            closed: Cell::new(false),
            turn_ns: Cell::new(0),
            turns: Cell::new(0),
        };
        Self {
            shared: Rc::new(shared),
        }
    }

    /// A handle for tasks and volumes.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            shared: Rc::clone(&self.shared),
        }
    }

    /// Runs `future` and everything it spawns until `future` is done. Tasks still running then stay
    /// where they are until the next call, or are dropped with the runtime.
    pub fn block_on<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> T {
        let shared = &*self.shared;
        let running = Running::new(&self.shared);
        let mut main = self.handle().spawn(future);
        shared.begin_turn();
        loop {
            shared.ready.fetch_remote();
            // One round of the tasks ready now; those they wake come in the next round, so that a
            // task which yields for ever cannot keep completions and timers out.
            for _ in 0..running.len() {
                let Some(task) = running.pop() else {
                    break;
                };
                let urgent = self.run_task(task);
                shared.driver.attend(urgent);
            }
            if let Some(result) = main.take_result() {
                shared.driver.turn(); // What tasks have asked for goes on without us.
                return result;
            }
            if running.len() == 0 && !shared.ready.remote_waits.load(Ordering::Acquire) {
                // It does not wait if something is due by now.
                shared.driver.park(shared.next_instant_ns());
            } else {
                shared.driver.turn();
            }
            shared.begin_turn();
        }
    }

    /// Runs a task once; says whether it is an urgent one.
    fn run_task(&self, slot: usize) -> bool {
        let running = {
            let mut tasks = self.shared.tasks.borrow_mut();
            let task = &mut tasks[slot];
            task.queued.queued.store(false, Ordering::Release);
            let running = task.running.take();
            running.map(|running| (running, task.queued.urgent))
        };
        // `None` for a late wake of a task that is done.
        let Some(((mut future, waker), urgent)) = running else {
            return false;
        };
        let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_ready() {
            drop(future); // It may own handles whose drop reaches back here.
            drop(waker);
            self.shared.free_slots.borrow_mut().push(slot);
        } else {
            self.shared.tasks.borrow_mut()[slot].running = Some((future, waker));
        }
        urgent
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shared.closed.set(true);
        // Futures may spawn or wake while they are dropped, so take them out first.
        let tasks = std::mem::take(&mut *self.shared.tasks.borrow_mut());
        drop(tasks);
        // A model holds a handle, and so what holds the model: neither would ever go.
        self.shared.sources.clear();
        self.shared.driver.shut_down();
    }
}

impl Handle {
    /// From now on `source` takes part in the passing of time, as long as the runtime lives.
    pub fn drive(&self, source: Rc<dyn EventSource>) {
        self.shared.sources.add(source);
    }

    fn timers(&self) -> &Timers {
        &self.shared.timers
    }

    pub(crate) fn driver(&self) -> Rc<dyn Driver> {
        Rc::clone(&self.shared.driver)
    }

    /// The runtime whose task this is; `None` on a thread where none runs.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Nanoseconds since the runtime started, on its clock.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.shared.driver.now_ns()
    }

    /// What [`Handle::now_ns`] was when the present turn of tasks began: at most as old as the tasks
    /// that ran before this one in the turn took. It never goes back and costs nothing, which suits
    /// ages of milliseconds and more.
    #[must_use]
    pub fn turn_ns(&self) -> u64 {
        self.shared.turn_ns.get()
    }

    /// How many turns of tasks have begun. While it stays the same, a task has not waited.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.shared.turns.get()
    }

    /// The requests that were handed to storage `age_ns` ago or earlier and have not been answered,
    /// oldest first. It looks at every request under way, so ask now and then.
    #[must_use]
    pub fn outstanding_requests(&self, age_ns: u64) -> Vec<OutstandingRequest> {
        let Some(before_ns) = self.now_ns().checked_sub(age_ns) else {
            return Vec::new();
        };
        let mut requests = self.shared.driver.issued_before(before_ns);
        requests.extend(self.shared.simulated_requests.issued_before(before_ns));
        requests.sort_unstable();
        requests
    }

    pub(crate) fn simulated_requests(&self) -> &SimulatedRequests {
        &self.shared.simulated_requests
    }

    /// Whether time is simulated.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.shared.is_virtual
    }

    /// Starts a task. It runs even if the returned handle is dropped.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> JoinHandle<T> {
        let (join, finish) = join::pair();
        self.spawn_as(async move { finish.with(future.await) }, false);
        join
    }

    /// As [`Handle::spawn`], for a task that does little and that many others wait for: on the wall
    /// clock it goes before the tasks that are ready already, and what it asks for is handed to the
    /// device at once. Simulated time has no use for that, as tasks take none there.
    pub fn spawn_urgent<T: 'static>(
        &self,
        future: impl Future<Output = T> + 'static,
    ) -> JoinHandle<T> {
        let (join, finish) = join::pair();
        let urgent = !self.shared.is_virtual;
        self.spawn_as(async move { finish.with(future.await) }, urgent);
        join
    }

    /// Starts a task that nobody waits for.
    pub fn spawn_alone(&self, future: impl Future<Output = ()> + 'static) {
        self.spawn_as(future, false);
    }

    fn spawn_as(&self, future: impl Future<Output = ()> + 'static, urgent: bool) {
        let shared = &*self.shared;
        if shared.closed.get() {
            return;
        }
        let slot = self.place_for_task(urgent);
        let task = &mut shared.tasks.borrow_mut()[slot];
        let waker = Waker::from(Arc::clone(&task.queued));
        task.running = Some((Box::pin(future), waker));
        shared.ready.push(slot, urgent);
    }

    /// A free place, whose task is as good as queued.
    fn place_for_task(&self, urgent: bool) -> usize {
        let shared = &*self.shared;
        let queued = |slot: usize| {
            Arc::new(TaskWaker {
                task: slot,
                urgent,
                queued: AtomicBool::new(true),
                ready: Arc::clone(&shared.ready),
            })
        };
        let free = shared.free_slots.borrow_mut().pop();
        let mut tasks = shared.tasks.borrow_mut();
        let Some(slot) = free else {
            let slot = tasks.len();
            tasks.push(Task {
                running: None,
                queued: queued(slot),
            });
            return slot;
        };
        let task = &mut tasks[slot];
        // Where somebody still has a waker of the task before, the new one gets wakers of its own.
        match Arc::get_mut(&mut task.queued) {
            Some(waker) => {
                waker.urgent = urgent;
                *waker.queued.get_mut() = true;
            }
            None => task.queued = queued(slot),
        }
        slot
    }

    /// Waits for so many nanoseconds on the runtime's clock.
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

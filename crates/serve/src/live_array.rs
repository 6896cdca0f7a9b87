//! The thread of the model.

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use array::payload::Bytes;
use array::{
    Array, ArrayError, ArraySettings, HostCompletion, HostError, HostOperation, SECTOR_BYTES,
    VolumeId,
};

use crate::client::{Answer, Client, Command};
use crate::served::Served;
use crate::store::{OpenedStore, Store, StoreError};

/// Before an answer is due the thread does not sleep any more: it would wake up later than that.
const SPIN: Duration = Duration::from_micros(20);
/// Requests that are taken in before answers that are due are given.
const MOST_AT_ONCE: usize = 64;
/// How often the array is shown to whoever watches it, at most.
const WATCH_NS: u64 = 5_000_000;
/// How often the store forgets what is on the disks, at most.
const FORGET_NS: u64 = 50_000_000;
/// The kernel may not put timers of the thread off to save wake-ups.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::MIN;

/// Sees the array at its time in ns: once before it begins, and then while something goes on. It may let something
/// happen to it.
pub type Watcher = Box<dyn FnMut(&mut Array<Bytes>, u64) + Send>;

/// Why an array does not go live.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The array cannot be built.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread cannot be started.
    #[error("the thread of the array cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// An array that goes on with the wall clock.
pub struct LiveArray {
    client: Client,
    thread: JoinHandle<Served>,
}

impl LiveArray {
    /// Builds the array and lets its time begin. What is written is kept in `store`, or in memory where there is
    /// none. `watcher` sees the array before it begins, and then while something goes on.
    ///
    /// # Errors
    /// The settings break a rule, the store cannot be used, or there is no thread.
    pub fn start(
        settings: ArraySettings,
        seed: u64,
        store: Option<Store>,
        mut watcher: Watcher,
    ) -> Result<Self, StartError> {
        let (sender, receiver) = mpsc::channel();
        let (built, is_built) = mpsc::channel();
        let power_cuts = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&power_cuts);
        let thread = thread::Builder::new().name("array".to_owned());
        let thread = thread.spawn(move || {
            // The model is not made for other threads than its own.
            let (mut array, store, now_ns) = match build(&settings, seed, store) {
                Ok(built) => built,
                Err(error) => {
                    let _ = built.send(Err(error));
                    return Served::default();
                }
            };
            watcher(&mut array, now_ns);
            // The time of an array with a store goes on where it was when everything was there again.
            let started = Instant::now()
                .checked_sub(Duration::from_nanos(now_ns))
                .unwrap_or_else(Instant::now);
            if built.send(Ok(started)).is_err() {
                return Served::default();
            }
            // Without it answers are some 50 us later, which shows in the lateness.
            let _ = rustix::thread::set_current_timer_slack(Some(TIMER_SLACK_NS));
            Model::new(array, watcher, receiver, started, store, counted).run()
        })?;
        let started = match is_built.recv() {
            Ok(built) => built?,
            Err(_) => unreachable!("the thread says whether it has built the array"),
        };
        let client = Client {
            sender,
            started,
            power_cuts,
            opened_at: None,
            unaligned: Arc::default(),
        };
        Ok(Self { client, thread })
    }

    /// Whether it answers no more: its store could not be written.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// A client of it.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Answers what is under way, and ends. Requests of clients that come later fail.
    ///
    /// # Panics
    /// If the model has broken a rule of its own.
    #[must_use]
    pub fn stop(self) -> Served {
        let _ = self.client.sender.send(Command::Stop);
        match self.thread.join() {
            Ok(served) => served,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// The array as its store has it, and its time.
fn build(
    settings: &ArraySettings,
    seed: u64,
    store: Option<Store>,
) -> Result<(Array<Bytes>, Option<OpenedStore>, u64), StartError> {
    let mut array = Array::new(settings, seed)?;
    let Some(store) = store else {
        return Ok((array, None, 0));
    };
    let (store, now_ns) = store.attach(&mut array)?;
    Ok((array, Some(store), now_ns))
}

/// A request that the model has.
struct UnderWay {
    volume: VolumeId,
    operation: HostOperation,
    bytes: u64,
    answer: Answer,
}

/// The model with the requests that it has.
struct Model {
    array: Array<Bytes>,
    watcher: Watcher,
    watched_ns: u64,
    forgotten_ns: u64,
    receiver: Receiver<Command>,
    started: Instant,
    /// The time up to which the model has gone on.
    now_ns: u64,
    /// By their tags.
    under_way: Vec<Option<UnderWay>>,
    free_tags: Vec<usize>,
    completed: Vec<HostCompletion<Bytes>>,
    served: Served,
    store: Option<OpenedStore>,
    power_cuts: Arc<AtomicU64>,
    stops: bool,
}

impl Model {
    fn new(
        array: Array<Bytes>,
        watcher: Watcher,
        receiver: Receiver<Command>,
        started: Instant,
        store: Option<OpenedStore>,
        power_cuts: Arc<AtomicU64>,
    ) -> Self {
        Self {
            power_cuts,
            array,
            watcher,
            watched_ns: 0,
            forgotten_ns: 0,
            receiver,
            started,
            now_ns: 0,
            under_way: Vec::new(),
            free_tags: Vec::new(),
            completed: Vec::new(),
            served: Served::default(),
            store,
            stops: false,
        }
    }

    fn run(mut self) -> Served {
        if let Err(error) = self.serve() {
            // What is under way ends with the channel of its answer.
            self.served.store_error = Some(error);
        }
        self.served
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            self.answer_due()?;
            // After the last answer nothing comes that would be waited for.
            if self.stops && self.free_tags.len() == self.under_way.len() {
                break;
            }
            if let Some(command) = self.next_command() {
                self.take(command)?;
                self.take_more()?;
            }
        }
        if let Some(store) = &mut self.store {
            store.drain(&mut self.array, self.now_ns)?;
            store.sync()?;
        }
        Ok(())
    }

    fn clock_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// Lets the model go on until now, and answers what has ended.
    fn answer_due(&mut self) -> io::Result<()> {
        let now_ns = self.clock_ns().max(self.now_ns);
        self.advance_to(now_ns)?;
        if now_ns - self.forgotten_ns >= FORGET_NS
            && let Some(store) = &mut self.store
        {
            self.forgotten_ns = now_ns;
            store.forget(&self.array)?;
        }
        if now_ns - self.watched_ns >= WATCH_NS {
            self.watched_ns = now_ns;
            (self.watcher)(&mut self.array, self.now_ns);
        }
        Ok(())
    }

    fn advance_to(&mut self, now_ns: u64) -> io::Result<()> {
        self.now_ns = now_ns;
        let mut completed = std::mem::take(&mut self.completed);
        self.array.advance_to(now_ns, &mut completed);
        if let Some(store) = &mut self.store {
            store.commit(&mut self.array, now_ns)?;
        }
        self.power_cuts
            .store(self.array.power_cuts(), Ordering::Release);
        for end in completed.drain(..) {
            let tag = end.tag as usize;
            let Some(ended) = self.under_way[tag].take() else {
                unreachable!("request {tag} has ended twice");
            };
            self.free_tags.push(tag);
            let times_ns = (end.submitted_ns, end.completed_ns, self.clock_ns());
            let what = (ended.volume, ended.operation, ended.bytes);
            self.served.note(what, times_ns, end.result);
            (ended.answer)(end.result.map(|()| end.payload));
        }
        self.completed = completed;
        Ok(())
    }

    /// Waits for a command until the model has something to do.
    fn next_command(&mut self) -> Option<Command> {
        let Some(next_ns) = self.array.next_event_ns() else {
            // What has happened last would otherwise be seen with the next request only.
            (self.watcher)(&mut self.array, self.now_ns);
            let command = self.receiver.recv();
            return Some(command.unwrap_or(Command::Stop));
        };
        let left = Duration::from_nanos(next_ns.saturating_sub(self.clock_ns()));
        let received = match left.checked_sub(SPIN).filter(|left| !left.is_zero()) {
            Some(left) => self
                .receiver
                .recv_timeout(left)
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
            None => {
                std::hint::spin_loop();
                self.receiver.try_recv()
            }
        };
        match received {
            Ok(command) => Some(command),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Command::Stop),
        }
    }

    fn take_more(&mut self) -> io::Result<()> {
        for _ in 1..MOST_AT_ONCE {
            match self.receiver.try_recv() {
                Ok(command) => self.take(command)?,
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn take(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Stop => self.stops = true,
            Command::Inspect(inspection) => inspection(&self.array),
            Command::Look(look) => {
                let now_ns = self.clock_ns().max(self.now_ns);
                self.advance_to(now_ns)?;
                (self.watcher)(&mut self.array, now_ns);
                self.served.under_way = (self.under_way.len() - self.free_tags.len()) as u64;
                look(&mut self.array, &mut self.served);
            }
            Command::Faults { faults, begun } => {
                let now_ns = self.clock_ns().max(self.now_ns);
                self.advance_to(now_ns)?;
                for (after_ns, fault) in faults {
                    self.array.inject(now_ns.saturating_add(after_ns), fault);
                }
                self.advance_to(now_ns)?;
                (self.watcher)(&mut self.array, self.now_ns);
                let _ = begun.send(now_ns);
            }
            Command::Request {
                answer,
                opened_at: Some(opened_at),
                ..
            } if opened_at != self.array.power_cuts() => answer(Err(HostError::NoPath)),
            Command::Request {
                at_ns,
                mut request,
                answer,
                ..
            } => {
                // Time in the model does not run backwards: what had to happen before comes first.
                let at_ns = at_ns.max(self.now_ns);
                if self
                    .array
                    .next_event_ns()
                    .is_some_and(|next_ns| next_ns < at_ns)
                {
                    self.advance_to(at_ns)?;
                }
                self.now_ns = at_ns;
                if let Some(store) = &mut self.store {
                    store.note(&request);
                }
                let under_way = Some(UnderWay {
                    volume: request.volume,
                    operation: request.operation,
                    bytes: u64::from(request.sectors) * SECTOR_BYTES,
                    answer,
                });
                let tag = match self.free_tags.pop() {
                    Some(tag) => {
                        self.under_way[tag] = under_way;
                        tag
                    }
                    None => {
                        self.under_way.push(under_way);
                        self.under_way.len() - 1
                    }
                };
                request.tag = tag as u64;
                self.array.submit(at_ns, request);
            }
        }
        Ok(())
    }
}

//! The simulated disk: takes requests, lets time pass, strikes faults, loses power.

use super::content::{Block, SECTOR_BYTES};
use super::crash::{CutWrite, after_power_loss};
use super::faults::{ArmedFault, Fault, FaultEffect};
use super::options::{AfterPowerLoss, SimulatedOptions};
use super::state::{Image, State};
use super::under_way::UnderWay;
use super::wrong_blocks::WrongRead;
use crate::buffer::BLOCK_BYTES;
use crate::executor::Handle;
use crate::file::{IoError, IoFailure, IoOperation};
use crate::sync::{Permit, Semaphore};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

/// One line of the log for debugging.
#[derive(Debug, Clone)]
pub struct LoggedOperation {
    /// When the operation ended, on the runtime's clock.
    pub at_ns: u64,
    /// What was asked of the disk.
    pub operation: IoOperation,
    /// Of which file; the directory for operations on directories.
    pub file: String,
    /// Where in the file; the new size for a change of size.
    pub offset_bytes: u64,
    /// Bytes asked for; 0 where no bytes move.
    pub length_bytes: u64,
    /// What came of it.
    pub outcome: LoggedOutcome,
}

/// What came of an operation, faults included that the caller does not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedOutcome {
    /// It was done.
    Done,
    /// A write was done and is durable.
    DoneDurably,
    /// A write was reported as done, and nothing was written.
    Lost,
    /// A write was reported as done, and other bytes were written.
    Corrupted,
    /// A write was reported as done, and went to another place.
    Misdirected,
    /// A read returned other bytes than there are.
    Flipped,
    /// A read returned bytes of an earlier time.
    Stale,
    /// It failed.
    Failed(IoFailure),
}

impl LoggedOutcome {
    /// Whether the storage did something else than what was asked of it. That a file is not there is an
    /// answer.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        !matches!(
            self,
            Self::Done | Self::DoneDurably | Self::Failed(IoFailure::NotFound)
        )
    }
}

impl fmt::Display for LoggedOperation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:>14} ns  {:<8} {} at {} ({} bytes): {}",
            self.at_ns,
            self.operation.to_string(),
            self.file,
            self.offset_bytes,
            self.length_bytes,
            self.outcome
        )
    }
}

impl fmt::Display for LoggedOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Done => "done",
            Self::DoneDurably => "done, durable",
            Self::Lost => "reported as done, lost",
            Self::Corrupted => "a bit was corrupted",
            Self::Misdirected => "reported as done, misdirected",
            Self::Flipped => "a bit was flipped",
            Self::Stale => "older bytes were returned",
            Self::Failed(failure) => return failure.fmt(formatter),
        })
    }
}

/// What a request is about; the material of errors and of the log.
pub(super) struct Subject {
    pub(super) operation: IoOperation,
    pub(super) file: String,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
}

impl Subject {
    pub(super) fn error(&self, failure: IoFailure) -> IoError {
        IoError {
            operation: self.operation,
            file: self.file.clone(),
            offset_bytes: self.offset_bytes,
            length_bytes: self.length_bytes,
            failure,
        }
    }
}

/// A request that the disk works on.
pub(super) struct Ticket {
    pub(super) subject: Subject,
    pub(super) effect: Option<FaultEffect>,
    pub(super) due_ns: u64,
    _slot: Permit,
    _under_way: UnderWay,
}

pub(super) struct Inner {
    pub(super) handle: Handle,
    pub(super) options: SimulatedOptions,
    pub(super) state: RefCell<State>,
    pub(super) random: RefCell<Xoshiro256PlusPlus>,
    pub(super) zero: Block,
    slots: Rc<Semaphore>,
    faults: RefCell<Vec<ArmedFault>>,
    log: RefCell<VecDeque<LoggedOperation>>,
    requests: Cell<u64>,
    faults_injected: Cell<u64>,
    pub(super) capacity_bytes: Cell<u64>,
    /// What is left, once power is lost.
    survivors: RefCell<Option<Image>>,
    /// The writes that the power cut met.
    cut_writes: RefCell<Vec<CutWrite>>,
    /// The writes that a full disk has ended.
    pub(super) short_writes: RefCell<Vec<CutWrite>>,
    pub(super) wrong_reads: RefCell<Vec<WrongRead>>,
}

/// A disk with its file system, in memory. Clones share it.
#[derive(Clone)]
pub struct SimulatedDisk {
    pub(super) inner: Rc<Inner>,
}

impl SimulatedDisk {
    /// An empty disk. It passes time on the clock of `handle`.
    #[must_use]
    pub fn new(handle: &Handle, options: SimulatedOptions) -> Self {
        Self::with_state(handle, options, State::default())
    }

    fn with_state(handle: &Handle, options: SimulatedOptions, state: State) -> Self {
        let inner = Inner {
            handle: handle.clone(),
            state: RefCell::new(state),
            random: RefCell::new(Xoshiro256PlusPlus::seed_from_u64(options.seed)),
            zero: Rc::new([0; BLOCK_BYTES]),
            slots: Semaphore::new(options.queue_depth),
            faults: RefCell::default(),
            log: RefCell::default(),
            requests: Cell::new(0),
            faults_injected: Cell::new(0),
            capacity_bytes: Cell::new(options.capacity_bytes),
            survivors: RefCell::default(),
            cut_writes: RefCell::default(),
            short_writes: RefCell::default(),
            wrong_reads: RefCell::default(),
            options,
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    /// The handle whose clock the disk runs on.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.inner.handle.clone()
    }

    /// Arranges for something to go wrong. Several faults may be set; the first that strikes wins.
    pub fn set_fault(&self, fault: Fault) {
        self.inner.faults.borrow_mut().push(ArmedFault::new(fault));
    }

    /// Calls off all faults.
    pub fn clear_faults(&self) {
        self.inner.faults.borrow_mut().clear();
    }

    /// How many requests were made so far, failed ones included.
    #[must_use]
    pub fn request_count(&self) -> u64 {
        self.inner.requests.get()
    }

    /// How many requests a fault was injected into so far, power cuts not counted.
    #[must_use]
    pub fn faults_injected(&self) -> u64 {
        self.inner.faults_injected.get()
    }

    /// Bytes that the files on the disk take up.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.inner.state.borrow().used_bytes()
    }

    /// The latest operations, oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<LoggedOperation> {
        self.inner.log.borrow().iter().cloned().collect()
    }

    /// Loses power now, in the middle of whatever is under way. `seed` decides which of the changes
    /// that were not yet durable are left. All requests under way and all later ones fail (or hang,
    /// see [`AfterPowerLoss`]). A second call changes nothing.
    pub fn crash(&self, seed: u64) {
        if !self.has_power() {
            return;
        }
        let (image, writes) = self.image_after_power_loss(seed);
        *self.inner.survivors.borrow_mut() = Some(image);
        *self.inner.cut_writes.borrow_mut() = writes;
    }

    /// The writes that were under way or not flushed when power was lost, and what is left of them.
    #[must_use]
    pub fn cut_writes(&self) -> Vec<CutWrite> {
        self.inner.cut_writes.borrow().clone()
    }

    /// Whether power is still there.
    #[must_use]
    pub fn has_power(&self) -> bool {
        self.inner.survivors.borrow().is_none()
    }

    /// The disk as it comes back after [`SimulatedDisk::crash`], without faults and with the same
    /// options. `handle` may belong to another runtime.
    ///
    /// # Panics
    /// If power was not lost.
    #[must_use]
    pub fn reopen(&self, handle: &Handle) -> Self {
        assert!(
            !self.has_power(),
            "a disk is reopened only after it lost power"
        );
        self.restarted(handle, self.next_options())
    }

    /// The disk as whoever starts next finds it, with other options: after a power cut what that
    /// left, otherwise what is visible, as after a process was killed.
    #[must_use]
    pub fn restarted(&self, handle: &Handle, options: SimulatedOptions) -> Self {
        let survivors = self.inner.survivors.borrow().clone();
        let image = survivors.unwrap_or_else(|| {
            self.settle();
            self.inner.state.borrow().visible_image()
        });
        Self::with_state(handle, options, State::from_image(image))
    }

    /// Bytes for which there is room.
    pub(super) fn free_bytes(&self) -> u64 {
        let capacity_bytes = self.inner.capacity_bytes.get();
        capacity_bytes.saturating_sub(self.used_bytes())
    }

    /// Gives the disk another size.
    pub fn set_capacity_bytes(&self, capacity_bytes: u64) {
        self.inner.capacity_bytes.set(capacity_bytes);
    }

    /// The disk as it would come back if power were lost now; this one goes on undisturbed.
    #[must_use]
    pub fn crashed_copy(&self, handle: &Handle, seed: u64) -> Self {
        let (image, _) = self.image_after_power_loss(seed);
        Self::with_state(handle, self.next_options(), State::from_image(image))
    }

    /// The disk as a process finds it that starts after this one was killed: nothing is lost but
    /// the requests under way.
    #[must_use]
    pub fn killed_copy(&self, handle: &Handle) -> Self {
        self.settle();
        let image = self.inner.state.borrow().visible_image();
        Self::with_state(handle, self.next_options(), State::from_image(image))
    }

    fn image_after_power_loss(&self, seed: u64) -> (Image, Vec<CutWrite>) {
        self.settle();
        after_power_loss(&self.inner.state.borrow(), self.inner.options.tearing, seed)
    }

    fn next_options(&self) -> SimulatedOptions {
        let mut options = self.inner.options.clone();
        options.seed = options.seed.wrapping_add(1);
        options
    }

    /// Brings the state up to date with requests that nobody waits for any more.
    fn settle(&self) {
        let now_ns = self.inner.handle.now_ns();
        self.inner.state.borrow_mut().complete_abandoned(now_ns);
    }

    /// Takes a request in: waits for a free slot and draws its latency.
    pub(super) async fn begin(&self, subject: Subject) -> Result<Ticket, IoError> {
        let inner = &self.inner;
        inner.requests.set(inner.requests.get() + 1);
        let effect = self.strike(&subject);
        if let Some(FaultEffect::CutPower(seed)) = effect {
            self.crash(seed);
        }
        self.require_power(&subject).await?;
        let under_way = UnderWay::begin(
            &inner.handle,
            subject.operation,
            &subject.file,
            subject.offset_bytes,
            subject.length_bytes,
        );
        let slot = inner.slots.acquire().await;
        self.require_power(&subject).await?;
        self.settle();
        let options = &inner.options;
        let latency_ns = match subject.operation {
            IoOperation::Read => &options.read_ns,
            IoOperation::Write => &options.write_ns,
            IoOperation::Sync => &options.sync_ns,
            _ => &options.directory_ns,
        };
        let latency_ns = inner.random.borrow_mut().random_range(latency_ns.clone());
        let delay_ns = match effect {
            Some(FaultEffect::Delay { by_ns }) => by_ns,
            _ => 0,
        };
        let due_ns = inner.handle.now_ns() + latency_ns;
        Ok(Ticket {
            subject,
            effect,
            due_ns: due_ns.saturating_add(delay_ns),
            _slot: slot,
            _under_way: under_way,
        })
    }

    fn strike(&self, subject: &Subject) -> Option<FaultEffect> {
        let mut injected = None;
        for fault in self.inner.faults.borrow().iter() {
            // Every fault counts every request, whichever strikes.
            let effect = fault.strike(subject.operation, &subject.file);
            injected = injected.or(effect);
        }
        if injected
            .as_ref()
            .is_some_and(|effect| !matches!(effect, FaultEffect::CutPower(_)))
        {
            let count = &self.inner.faults_injected;
            count.set(count.get() + 1);
        }
        injected
    }

    /// Lets the request's time pass; fails if power is lost meanwhile or the fault says so.
    pub(super) async fn work(&self, ticket: &Ticket) -> Result<(), IoError> {
        let handle = &self.inner.handle;
        if ticket.due_ns == u64::MAX {
            std::future::pending::<()>().await;
        }
        if ticket.due_ns > handle.now_ns() {
            handle.sleep_until_ns(ticket.due_ns).await;
        } else {
            handle.yield_now().await;
        }
        self.require_power(&ticket.subject).await?;
        self.settle();
        if let Some(FaultEffect::Fail(failure)) = &ticket.effect {
            return Err(self.fail(&ticket.subject, failure.clone()));
        }
        Ok(())
    }

    async fn require_power(&self, subject: &Subject) -> Result<(), IoError> {
        if self.has_power() {
            return Ok(());
        }
        match self.inner.options.after_power_loss {
            AfterPowerLoss::Fail => Err(subject.error(IoFailure::PowerLost)),
            AfterPowerLoss::Hang => std::future::pending().await,
        }
    }

    /// Notes a failure and makes the error of it.
    pub(super) fn fail(&self, subject: &Subject, failure: IoFailure) -> IoError {
        self.note(subject, LoggedOutcome::Failed(failure.clone()));
        subject.error(failure)
    }

    /// Adds a line to the log.
    pub(super) fn note(&self, subject: &Subject, outcome: LoggedOutcome) {
        let capacity = self.inner.options.log_length;
        let mut log = self.inner.log.borrow_mut();
        if log.len() == capacity {
            log.pop_front();
        }
        if capacity > 0 {
            log.push_back(LoggedOperation {
                at_ns: self.inner.handle.now_ns(),
                operation: subject.operation,
                file: subject.file.clone(),
                offset_bytes: subject.offset_bytes,
                length_bytes: subject.length_bytes,
                outcome,
            });
        }
    }

    /// Inverts one bit somewhere in `bytes`.
    pub(super) fn flip_bit(&self, bytes: &mut [u8]) {
        let mut random = self.inner.random.borrow_mut();
        let sector = random.random_range(0..bytes.len() / SECTOR_BYTES);
        let byte = sector * SECTOR_BYTES + random.random_range(0..SECTOR_BYTES);
        bytes[byte] ^= 1 << random.random_range(0..8);
    }
}

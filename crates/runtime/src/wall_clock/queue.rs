//! The two ways to the kernel behind one interface.

use super::completion::Completion;
use super::in_flight::{InFlight, Operation};
use super::options::{DriverInUse, IoDriver, WallClockError, WallClockOptions};
use super::ring::Ring;
use super::threads::{Call, Pool};
use io_uring::squeue;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

/// A request in the form that a driver hands to the kernel. It points into the [`InFlight`] that it was
/// made of.
#[allow(clippy::large_enum_variant, reason = "it is moved once, on the stack")]
pub(super) enum Prepared {
    Entry(squeue::Entry),
    Call(Call),
}

/// The I/O driver of a reactor.
pub(super) enum Queue {
    Ring(Rc<Ring>),
    Threads(Pool),
}

impl Queue {
    /// The driver that was asked for, or the quickest that this system allows. Its waits end when
    /// `wake` can be read.
    pub(super) fn new(
        options: &WallClockOptions,
        wake: &Arc<OwnedFd>,
    ) -> Result<(Self, DriverInUse), WallClockError> {
        let threads = || Pool::new(&options.threads, Arc::clone(wake));
        let in_use = |driver| DriverInUse {
            driver,
            fallback_reason: None,
        };
        if options.driver == Some(IoDriver::Threads) {
            return Ok((Self::Threads(threads()?), in_use(IoDriver::Threads)));
        }
        match Ring::new(&options.ring, Arc::clone(wake)) {
            Ok(ring) => Ok((Self::Ring(Rc::new(ring)), in_use(IoDriver::IoUring))),
            Err(refusal) if options.driver.is_some() => Err(refusal.into()),
            Err(refusal) => {
                let in_use = DriverInUse {
                    driver: IoDriver::Threads,
                    fallback_reason: Some(refusal.to_string()),
                };
                Ok((Self::Threads(threads()?), in_use))
            }
        }
    }

    /// Makes the driver's form of a request, leaving out the first `done` bytes, which an earlier
    /// request has moved already.
    pub(super) fn prepare(
        &self,
        in_flight: &mut InFlight,
        operation: Operation,
        done: usize,
    ) -> Prepared {
        match self {
            Self::Ring(ring) => Prepared::Entry(ring.entry(in_flight, operation, done)),
            Self::Threads(_) => Prepared::Call(Call::new(in_flight, operation, done)),
        }
    }

    /// Queues a request under a number, to be handed over soon. What it points into must stay until
    /// its completion was taken.
    pub(super) fn push(&self, number: u32, prepared: Prepared) {
        match (self, prepared) {
            (Self::Ring(ring), Prepared::Entry(entry)) => ring.push_request(number, entry),
            (Self::Threads(pool), Prepared::Call(call)) => pool.push(number, call),
            _ => unreachable!("a queue gets what it has prepared"),
        }
    }

    /// Requests that are queued and not handed over.
    pub(super) fn queued(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.queued(),
            Self::Threads(pool) => pool.queued(),
        }
    }

    /// Asks for a [`Completion::Readable`].
    pub(super) fn await_readable(&self, number: u32, file: BorrowedFd<'_>) {
        match self {
            Self::Ring(ring) => ring.await_readable(number, file),
            Self::Threads(pool) => pool.await_readable(number, file),
        }
    }

    /// Takes such a wait back. Returns `false` where its completion comes all the same.
    pub(super) fn forget_readable(&self, number: u32) -> bool {
        match self {
            Self::Ring(_) => false,
            Self::Threads(pool) => pool.forget_readable(number),
        }
    }

    /// Hands queued requests over, without waiting.
    pub(super) fn hand_over(&self) {
        match self {
            Self::Ring(ring) => ring.hand_over(),
            Self::Threads(pool) => pool.turn(),
        }
    }

    /// Hands queued requests over and waits for a completion or until the descriptor to wake by can
    /// be read, at most for `timeout_ns`.
    pub(super) fn wait(&self, timeout_ns: Option<u64>) {
        match self {
            Self::Ring(ring) => ring.wait(timeout_ns),
            Self::Threads(pool) => pool.wait(timeout_ns),
        }
    }

    /// Takes the completions that have come in.
    pub(super) fn take(&self, arrived: &mut Vec<Completion>) {
        match self {
            Self::Ring(ring) => ring.take(arrived),
            Self::Threads(pool) => pool.take(arrived),
        }
    }

    /// Gives back what the driver has of the system. No request is in flight, and none comes.
    pub(super) fn shut_down(&self) {
        match self {
            Self::Ring(_) => {}
            Self::Threads(pool) => pool.shut_down(),
        }
    }

    /// The ring, where there is one.
    pub(super) fn ring(&self) -> Option<&Rc<Ring>> {
        match self {
            Self::Ring(ring) => Some(ring),
            Self::Threads(_) => None,
        }
    }
}

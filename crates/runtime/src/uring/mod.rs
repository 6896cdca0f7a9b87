//! The wall clock: waiting in the kernel through io_uring.
//!
//! `reactor` owns the ring. A request is an [`InFlight`] (the memory and the file it needs) with a number
//! in the table of `slots`; it stays there until the kernel is done, even if the task that
//! waited is gone, so that the kernel never works on memory that has been given to somebody else.
//! When no task can run, the reactor sleeps in the kernel until a request completes, the next timer
//! is due, or another thread wakes a task.

mod options;
mod reactor;
mod slots;

pub use options::{UringError, UringOptions};
pub use reactor::Readable;
pub(crate) use reactor::{Descriptor, InFlight, Memory, Operation, Reactor, Vectors};

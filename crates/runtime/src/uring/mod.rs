//! The wall clock: waiting in the kernel through io_uring.
//!
//! `reactor` owns the ring. A request is a `in_flight` (the memory and the file it needs) with a number
//! in the table of `slots`; the in_flight stays there until the kernel is done, even if the task that
//! waited is gone, so that the kernel never works on memory that has been given to somebody else.
//! When no task can run, the reactor sleeps in the kernel until a request completes, the next timer
//! is due, or another thread wakes a task. `tables` registers files and memory with the ring.

mod descriptor;
mod in_flight;
mod options;
mod reactor;
mod slots;
mod tables;

pub(crate) use descriptor::Descriptor;
pub(crate) use in_flight::{InFlight, Memory, Operation, Vectors};
pub use options::{UringError, UringOptions};
pub(crate) use reactor::Reactor;
pub use reactor::Readable;

//! What an executor needs of a clock and of the I/O behind it.

use crate::memory::{Mapping, Registration};
use crate::outstanding::OutstandingRequest;
use std::any::Any;
use std::rc::Rc;

/// What moves time forward and brings completions in.
pub(crate) trait Driver: Any {
    /// Whether time is simulated.
    fn is_virtual(&self) -> bool;

    /// Nanoseconds since the runtime started.
    fn now_ns(&self) -> u64;

    /// Hands queued requests to the device and wakes the owners of completed ones, without waiting.
    fn turn(&self) {}

    /// Called after each task of a round: a turn, if the task was urgent or enough has come together
    /// to be worth one.
    fn attend(&self, _urgent: bool) {}

    /// Waits until `deadline_ns`, or until a request completes, or until another thread wakes a
    /// task. `None`: no timer is pending.
    fn park(&self, deadline_ns: Option<u64>);

    /// Interrupts [`Driver::park`] from another thread; `None` where no other thread can wake.
    fn unparker(&self) -> Option<Box<dyn Fn() + Send + Sync>> {
        None
    }

    /// Registers a mapping with the kernel for I/O, none of whose slots of `slot_bytes` may be cut in
    /// two. `None` if there is nothing to register with, or no room.
    fn register(self: Rc<Self>, _mapping: &Mapping, _slot_bytes: usize) -> Option<Registration> {
        None
    }

    /// The requests handed over before this time and not answered.
    fn issued_before(&self, _before_ns: u64) -> Vec<OutstandingRequest> {
        Vec::new()
    }

    /// Waits for the requests that are still in flight; called once, when no task is left.
    fn shut_down(&self) {}
}

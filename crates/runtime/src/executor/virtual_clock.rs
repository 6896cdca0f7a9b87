//! The clock of simulations: time jumps to the next instant that anything happens at.

use crate::driver::Driver;
use std::cell::Cell;

/// Simulated time, which starts at zero.
#[derive(Default)]
pub(super) struct VirtualClock {
    now_ns: Cell<u64>,
}

impl Driver for VirtualClock {
    fn is_virtual(&self) -> bool {
        true
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

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

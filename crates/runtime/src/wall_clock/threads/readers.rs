//! Where the thread of a reactor sleeps: in `ppoll`, on the descriptor by which it is woken and on those
//! that somebody waits to read from.

#![allow(unsafe_code)] // Descriptors whose waits are leaked may be closed: plain numbers, no borrows.

use crate::wall_clock::completion::Completion;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The waits for something to read.
pub(super) struct Readers {
    wake: Arc<OwnedFd>,
    /// The first is that of `wake`.
    polled: Vec<libc::pollfd>,
    /// The numbers of the waits, in the order of the others in `polled`.
    numbers: Vec<u32>,
    /// Waits that are over.
    ready: Vec<u32>,
}

fn polled(fd: i32) -> libc::pollfd {
    libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    }
}

impl Readers {
    pub(super) fn new(wake: Arc<OwnedFd>) -> Self {
        Self {
            polled: vec![polled(wake.as_raw_fd())],
            wake,
            numbers: Vec::new(),
            ready: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn add(&mut self, number: u32, file: BorrowedFd<'_>) {
        self.polled.push(polled(file.as_raw_fd()));
        self.numbers.push(number);
    }

    /// Ends a wait; `false` if it is over already.
    pub(super) fn forget(&mut self, number: u32) -> bool {
        let Some(index) = self.numbers.iter().position(|other| *other == number) else {
            return false;
        };
        self.remove(index);
        true
    }

    fn remove(&mut self, index: usize) -> u32 {
        self.polled.swap_remove(index + 1);
        self.numbers.swap_remove(index)
    }

    /// Sleeps until one of the descriptors can be read, at most for `timeout_ns`.
    pub(super) fn sleep(&mut self, timeout_ns: Option<u64>) {
        let timeout = timeout_ns.map(|timeout_ns| libc::timespec {
            // Their types differ between C libraries.
            tv_sec: (timeout_ns / 1_000_000_000) as _,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        let count = self.polled.len() as libc::nfds_t;
        // SAFETY: the kernel reads and writes the list, which is that long, and reads the timeout and no
        // set of signals. A number that is no open file any more is answered with POLLNVAL.
        let found =
            unsafe { libc::ppoll(self.polled.as_mut_ptr(), count, timeout, std::ptr::null()) };
        if found <= 0 {
            return; // The time is over, or a signal came: whoever waits looks again.
        }
        if self.polled[0].revents != 0 {
            let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
        }
        for index in (0..self.numbers.len()).rev() {
            if self.polled[index + 1].revents != 0 {
                let number = self.remove(index);
                self.ready.push(number);
            }
        }
    }

    /// Takes the waits that are over.
    pub(super) fn take(&mut self, arrived: &mut Vec<Completion>) {
        arrived.extend(self.ready.drain(..).map(Completion::Readable));
    }
}

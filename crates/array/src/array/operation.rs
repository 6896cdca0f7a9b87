//! Reads and writes that the front has at the back end.

use crate::controller::Ticket;
use crate::group::IoClass;
use crate::host::HostError;
use crate::payload::Payload;
use crate::pool::{PoolCompletion, PoolError};

use super::Array;

/// What an operation is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Fills cache lines, a host request, or both.
    #[default]
    Fill,
    /// Brings the dirty lines of a unit to disk.
    Destage,
    /// Brings a host's write to disk.
    WriteThrough,
}

/// A host request that waits for a part of what a fill brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiter {
    pub ticket: Ticket,
    pub first_sector: u64,
    pub sectors: u32,
}

/// A read or write at the back end.
#[derive(Debug, Default)]
pub(super) struct Operation {
    pub purpose: Purpose,
    pub controller: u8,
    pub volume: u16,
    pub first_sector: u64,
    pub sectors: u32,
    /// Lines a fill has pinned or a destage carries.
    pub lines: Vec<u32>,
    /// Host requests that wait for it.
    pub waiters: Vec<Waiter>,
    /// The unit a destage is for, as the dirty units know it.
    pub unit: u32,
    /// Since when the oldest of what a destage carries was dirty.
    pub dirty_since_ns: u64,
    /// Whether another write through the cache met this one: which of them the disks hold in the
    /// end is not known.
    pub contested: bool,
}

impl<P: Payload> Array<P> {
    pub(super) fn begin(&mut self, purpose: Purpose, controller: usize, volume: u16) -> u32 {
        let id = self.operations.take();
        let operation = &mut self.operations[id];
        operation.purpose = purpose;
        operation.controller = controller as u8;
        operation.volume = volume;
        operation.lines.clear();
        operation.waiters.clear();
        operation.contested = false;
        self.controllers[controller].operations_open += 1;
        self.volumes[usize::from(volume)].operations_open += 1;
        id
    }

    /// Hands on what has become possible without time passing, until nothing more has.
    pub(super) fn settle(&mut self, now_ns: u64) {
        loop {
            let mut quiet = true;
            while let Some(completion) = self.backend.pop_done() {
                let pool = usize::from(self.pool_of_group[usize::from(completion.group.0)]);
                self.pools[pool].backend_done(now_ns, completion, &mut self.backend);
            }
            for pool in 0..self.pools.len() {
                while let Some(completion) = self.pools[pool].pop_done() {
                    self.operation_done(now_ns, &completion);
                    quiet = false;
                }
            }
            if let Some(volume) = self.moved.pop() {
                self.move_on(now_ns, usize::from(volume));
                quiet = false;
            }
            if let Some(server) = self.woken.pop() {
                let server = usize::from(server);
                self.wake_clean(now_ns, server);
                self.wake_flushes(now_ns, server);
                self.wake_writers(now_ns, server);
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    fn operation_done(&mut self, now_ns: u64, completion: &PoolCompletion<P>) {
        let id = completion.owner_id;
        let operation = &self.operations[id];
        let controller = usize::from(operation.controller);
        let volume = usize::from(operation.volume);
        self.controllers[controller].operations_open -= 1;
        self.volumes[volume].operations_open -= 1;
        let error = completion.result.err().map(host_error);
        match operation.purpose {
            Purpose::Fill => self.filled(now_ns, id, error, &completion.payload),
            Purpose::Destage => self.destaged(now_ns, id, error),
            Purpose::WriteThrough => self.written_through(now_ns, id, error),
        }
        self.operations.release(id);
        if self.volumes[volume].moving_to.is_some() {
            self.moved.push(volume as u16);
        }
        if self.controllers[controller].operations_open == 0 {
            self.resume(now_ns, controller);
        }
    }

    /// The class of a host's read.
    pub(super) fn read_class(ahead: bool) -> IoClass {
        if ahead {
            IoClass::ReadAhead
        } else {
            IoClass::HostRead
        }
    }
}

fn host_error(error: PoolError) -> HostError {
    match error {
        PoolError::Full => HostError::PoolFull,
        PoolError::Group(_) => HostError::GroupFailed,
    }
}

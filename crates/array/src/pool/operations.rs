//! What the layers above have asked for and the parts that are still missing.

use std::collections::VecDeque;

use super::records::Records;
use super::request::{PoolCompletion, PoolError};
use crate::payload::Payload;

/// A read or write in flight, made of parts.
#[derive(Debug)]
struct Operation<P> {
    owner_id: u32,
    /// Length of a read; 0 for a write.
    sectors: u32,
    parts_missing: u32,
    error: Option<PoolError>,
    payload: P,
}

/// The operations of a pool and the completions nobody has fetched yet.
#[derive(Debug)]
pub(crate) struct Operations<P> {
    records: Records<Operation<P>>,
    done: VecDeque<PoolCompletion<P>>,
}

impl<P: Payload> Operations<P> {
    pub(crate) fn new() -> Self {
        Self {
            records: Records::default(),
            done: VecDeque::new(),
        }
    }

    /// Begins an operation with one part, which keeps it open while others are added. `sectors`
    /// is the length of a read, 0 for a write.
    pub(crate) fn begin(&mut self, owner_id: u32, sectors: u32) -> u32 {
        self.records.insert(Operation {
            owner_id,
            sectors,
            parts_missing: 1,
            error: None,
            payload: P::default(),
        })
    }

    /// The operation ends only when one part more is done.
    pub(crate) fn add_part(&mut self, operation: u32) {
        self.records.get_mut(operation).parts_missing += 1;
    }

    /// What a part at `offset` of a read holds has arrived; the part is done.
    pub(crate) fn part_read(&mut self, operation: u32, offset: u32, sectors: u32, payload: P) {
        let record = self.records.get_mut(operation);
        assert!(offset + sectors <= record.sectors, "a part beyond its read");
        if sectors == record.sectors {
            record.payload = payload;
        } else if P::CARRIES_BYTES {
            if record.payload.is_empty() {
                record.payload = P::zeroed(record.sectors);
            }
            record.payload.overlay(offset, &payload);
        }
        self.part_done(operation, Ok(()));
    }

    /// All of a read has arrived as one part.
    pub(crate) fn whole_read(&mut self, operation: u32, payload: P) {
        let sectors = self.records.get(operation).sectors;
        self.part_read(operation, 0, sectors, payload);
    }

    /// A part is done; with the last one the operation is.
    pub(crate) fn part_done(&mut self, operation: u32, result: Result<(), PoolError>) {
        let record = self.records.get_mut(operation);
        if let Err(error) = result {
            record.error.get_or_insert(error);
        }
        record.parts_missing -= 1;
        if record.parts_missing > 0 {
            return;
        }
        let record = self.records.remove(operation);
        let owner_id = record.owner_id;
        let completion = match record.error {
            Some(error) => PoolCompletion {
                owner_id,
                result: Err(error),
                payload: P::default(),
            },
            None => PoolCompletion {
                owner_id,
                result: Ok(()),
                payload: record.payload,
            },
        };
        self.done.push_back(completion);
    }

    /// A part of a read holds nothing but zeros; the part is done.
    pub(crate) fn part_zero(&mut self, operation: u32, offset: u32, sectors: u32) {
        self.part_read(operation, offset, sectors, P::zeroed(sectors));
    }

    /// The next completion nobody has fetched.
    pub(crate) fn pop_done(&mut self) -> Option<PoolCompletion<P>> {
        self.done.pop_front()
    }

    /// Operations that are not complete.
    pub(crate) fn in_flight(&self) -> usize {
        self.records.len()
    }
}

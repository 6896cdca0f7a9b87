//! Carries requests out on the array.

use std::sync::Arc;

use array::payload::Bytes;
use array::{Array, HostError, HostOperation, SECTOR_BYTES, VolumeId};

use super::budget::Permit;
use super::outgoing::{Message, Outgoing};
use super::reply::Answered;
use super::request::{Command, Request};
use super::wire::{allocation, errno};
use crate::client::Client;
use crate::covering::Covering;
use crate::volume::ServedVolume;
use crate::zeros::{Zeros, ZerosError};

/// Stretches in an answer about space, at most; the client asks again for the rest.
const MOST_STRETCHES: usize = 1024;

/// Whoever is to answer a request. Dropped without an answer, it says that the server ends.
pub(super) struct Reply {
    answered: Answered,
    outgoing: Arc<Outgoing>,
    permit: Option<Permit>,
}

impl Reply {
    pub fn new(answered: Answered, outgoing: Arc<Outgoing>, permit: Permit) -> Self {
        Self {
            answered,
            outgoing,
            permit: Some(permit),
        }
    }

    pub fn error(mut self, number: u32, message: &str) {
        self.send(self.answered.error(number, message));
    }

    fn done(mut self) {
        self.send(self.answered.done());
    }

    fn send(&mut self, bytes: Vec<u8>) {
        if let Some(permit) = self.permit.take() {
            self.outgoing.send(Message::new(bytes, permit));
        }
    }

    fn end(self, end: Result<(), HostError>) {
        match end {
            Ok(()) => self.done(),
            Err(error) => self.error(number_of(error), &error.to_string()),
        }
    }

    fn data(mut self, offset: u64, length: u32, data: Bytes) {
        let head = self.answered.before_data(offset, length);
        let skipped = (offset % SECTOR_BYTES) as usize;
        if let Some(permit) = self.permit.take() {
            let part = (skipped, length as usize);
            let message = Message::with_data(head, data, part, permit);
            self.outgoing.send(message);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.send(self.answered.error(errno::ESHUTDOWN, "The server ends."));
    }
}

/// What clients see of an error.
fn number_of(error: HostError) -> u32 {
    match error {
        HostError::PoolFull => errno::ENOSPC,
        HostError::NoSuchVolume | HostError::OutOfRange => errno::EINVAL,
        HostError::NoPath
        | HostError::GroupFailed
        | HostError::Unreadable
        | HostError::DataLost => errno::EIO,
    }
}

/// A request for a volume, which is not answered yet.
pub(super) struct Execution<'a> {
    pub client: &'a Client,
    pub volume: &'a ServedVolume,
    pub request: Request,
    pub reply: Reply,
}

impl Execution<'_> {
    /// Carries it out. Waits where parts of sectors are written, and for nothing else.
    pub fn begin(self, payload: Vec<u8>) {
        match self.request.command {
            Command::Read => self.read(),
            Command::Write => self.write(payload),
            Command::Flush => flush(self.client, self.volume.id, self.reply),
            Command::Trim => self.trim(),
            Command::WriteZeroes => self.write_zeros(),
            Command::BlockStatus => self.block_status(),
            Command::Disconnect | Command::Unknown => {
                unreachable!("it is refused before")
            }
        }
    }

    fn submit(
        self,
        operation: HostOperation,
        extent: (u64, u32),
        payload: Bytes,
        answer: impl FnOnce(Reply, Bytes) + Send + 'static,
    ) {
        let reply = self.reply;
        let answer = move |end: Result<Bytes, HostError>| match end {
            Ok(bytes) => answer(reply, bytes),
            Err(error) => reply.end(Err(error)),
        };
        let (client, id) = (self.client, self.volume.id);
        client.submit(id, operation, extent, payload, Box::new(answer));
    }

    fn read(self) {
        let Request { offset, length, .. } = self.request;
        if length == 0 {
            return self.reply.done();
        }
        let extent = Covering::of(offset, length).extent();
        self.submit(
            HostOperation::Read,
            extent,
            Bytes::default(),
            move |reply, bytes| reply.data(offset, length, bytes),
        );
    }

    fn write(self, payload: Vec<u8>) {
        let Request { offset, length, .. } = self.request;
        let covering = Covering::of(offset, length);
        let end = self.end_of_write();
        if length == 0 {
            return end(self.reply, Ok(()));
        }
        if !covering.is_exact(length) {
            let written = self.client.write_unaligned(self.volume, offset, &payload);
            return end(self.reply, written);
        }
        let (extent, bytes) = (covering.extent(), Bytes::new(payload));
        self.submit(HostOperation::Write, extent, bytes, move |reply, _| {
            end(reply, Ok(()));
        });
    }

    /// Only whole sectors are given back; what is around them stays.
    fn trim(self) {
        let Request { offset, length, .. } = self.request;
        let first_sector = offset.div_ceil(SECTOR_BYTES);
        let end_sector = (offset + u64::from(length)) / SECTOR_BYTES;
        let end = self.end_of_write();
        if first_sector >= end_sector {
            return end(self.reply, Ok(()));
        }
        let extent = (first_sector, (end_sector - first_sector) as u32);
        let nothing = Bytes::default();
        self.submit(HostOperation::Trim, extent, nothing, move |reply, _| {
            end(reply, Ok(()));
        });
    }

    fn write_zeros(self) {
        let how = match (self.request.keeps_space(), self.request.must_be_fast()) {
            (true, true) => {
                let reply = self.reply;
                return reply.error(errno::ENOTSUP, NOT_FAST);
            }
            (true, false) => Zeros::WithSpace,
            (false, true) => Zeros::ByPagesOnly,
            (false, false) => Zeros::Anyhow,
        };
        let end = self.end_of_write();
        let (reply, stretch) = (
            self.reply,
            (self.request.offset, u64::from(self.request.length)),
        );
        let answer = move |ended| match ended {
            Ok(()) => end(reply, Ok(())),
            Err(ZerosError::Array(error)) => reply.end(Err(error)),
            Err(ZerosError::NotByPages) => reply.error(errno::ENOTSUP, NOT_FAST),
        };
        let (client, volume) = (self.client, self.volume);
        client.write_zeros(volume, stretch, how, Box::new(answer));
    }

    /// Answers a write that has ended, once it is durable if that is wanted.
    fn end_of_write(&self) -> impl FnOnce(Reply, Result<(), HostError>) + Send + 'static {
        let durable = self.request.is_durable();
        let client = durable.then(|| self.client.clone());
        let id = self.volume.id;
        move |reply, end| match (end, client) {
            (Ok(()), Some(client)) => flush(&client, id, reply),
            (end, _) => reply.end(end),
        }
    }

    fn block_status(self) {
        let Execution {
            client,
            volume,
            request,
            mut reply,
        } = self;
        let id = volume.id;
        client.inspect(Box::new(move |array| {
            let stretches = stretches(array, id, &request);
            reply.send(reply.answered.block_status(&stretches));
        }));
    }
}

const NOT_FAST: &str = "The zeros have to be written.";

/// Answers when everything that was acknowledged before is durable.
fn flush(client: &Client, volume: VolumeId, reply: Reply) {
    let answer = move |end: Result<Bytes, HostError>| reply.end(end.map(drop));
    client.submit(
        volume,
        HostOperation::Flush,
        (0, 0),
        Bytes::default(),
        Box::new(answer),
    );
}

/// Lengths of stretches in bytes, and what `base:allocation` says of each.
fn stretches(array: &Array<Bytes>, volume: VolumeId, request: &Request) -> Vec<(u32, u32)> {
    let most = match request.wants_one_stretch() {
        true => 1,
        false => MOST_STRETCHES,
    };
    let end = request.offset + u64::from(request.length);
    let mut at = request.offset;
    let mut stretches = Vec::new();
    while at < end && stretches.len() < most {
        let covering = Covering::of(at, (end - at) as u32);
        let (first, sectors) = covering.extent();
        let Some((has_space, alike)) = array.has_space(volume, first, u64::from(sectors)) else {
            break;
        };
        let alike_until = ((first + alike) * SECTOR_BYTES).min(end);
        let status = match has_space {
            true => 0,
            false => allocation::HOLE | allocation::ZERO,
        };
        stretches.push(((alike_until - at) as u32, status));
        at = alike_until;
    }
    stretches
}

//! The ring entries made of requests.

use super::Ring;
use crate::buffer::Buffer;
use crate::file::Persistence;
use crate::wall_clock::in_flight::{InFlight, Memory, Operation, Pieces};
use io_uring::{opcode, squeue, types};

impl Ring {
    /// The entry for `operation`, leaving out the first `done` bytes, which an earlier request has moved
    /// already. The entry points into the request's buffers.
    pub(in crate::wall_clock) fn entry(
        &self,
        in_flight: &mut InFlight,
        operation: Operation,
        done: usize,
    ) -> squeue::Entry {
        let fd = types::Fd(in_flight.descriptor.ring_number());
        let entry = match operation {
            Operation::Read { offset_bytes } => {
                self.read(in_flight, fd, offset_bytes + done as u64, done)
            }
            Operation::Write {
                offset_bytes,
                persistence,
            } => {
                let flags = match persistence {
                    Persistence::Volatile => 0,
                    Persistence::Durable => libc::RWF_DSYNC,
                };
                self.write(in_flight, fd, offset_bytes + done as u64, done, flags)
            }
            Operation::Sync { names: false } => opcode::Fsync::new(fd)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
            Operation::Sync { names: true } => opcode::Fsync::new(fd).build(),
            Operation::Allocate {
                offset_bytes,
                length_bytes,
            } => opcode::Fallocate::new(fd, length_bytes)
                .offset(offset_bytes)
                .build(),
            Operation::Rename => {
                let (from, to) = in_flight.names();
                opcode::RenameAt::new(fd, from, fd, to).build()
            }
            Operation::Remove => opcode::UnlinkAt::new(fd, in_flight.names().0).build(),
        };
        if in_flight.descriptor.is_registered() {
            entry.flags(squeue::Flags::FIXED_FILE)
        } else {
            entry
        }
    }

    fn read(
        &self,
        in_flight: &mut InFlight,
        fd: types::Fd,
        offset_bytes: u64,
        done: usize,
    ) -> squeue::Entry {
        let fixed = self.fixed_index(&in_flight.memory);
        match (in_flight.pieces(done), fixed) {
            (Pieces::One(piece), Some(index)) => {
                opcode::ReadFixed::new(fd, piece.iov_base.cast(), length(&piece), index)
                    .offset(offset_bytes)
                    .build()
            }
            (Pieces::One(piece), None) => {
                opcode::Read::new(fd, piece.iov_base.cast(), length(&piece))
                    .offset(offset_bytes)
                    .build()
            }
            (Pieces::Many { first, count }, Some(index)) => {
                opcode::ReadvFixed::new(fd, first, count, index)
                    .offset(offset_bytes)
                    .build()
            }
            (Pieces::Many { first, count }, None) => opcode::Readv::new(fd, first, count)
                .offset(offset_bytes)
                .build(),
        }
    }

    fn write(
        &self,
        in_flight: &mut InFlight,
        fd: types::Fd,
        offset_bytes: u64,
        done: usize,
        flags: i32,
    ) -> squeue::Entry {
        let fixed = self.fixed_index(&in_flight.memory);
        match (in_flight.pieces(done), fixed) {
            (Pieces::One(piece), Some(index)) => {
                opcode::WriteFixed::new(fd, piece.iov_base.cast(), length(&piece), index)
                    .offset(offset_bytes)
                    .rw_flags(flags)
                    .build()
            }
            (Pieces::One(piece), None) => {
                opcode::Write::new(fd, piece.iov_base.cast(), length(&piece))
                    .offset(offset_bytes)
                    .rw_flags(flags)
                    .build()
            }
            (Pieces::Many { first, count }, Some(index)) => {
                opcode::WritevFixed::new(fd, first, count, index)
                    .offset(offset_bytes)
                    .rw_flags(flags)
                    .build()
            }
            (Pieces::Many { first, count }, None) => opcode::Writev::new(fd, first, count)
                .offset(offset_bytes)
                .rw_flags(flags)
                .build(),
        }
    }

    /// The number of the one registered piece of memory in which all buffers of a request lie, if
    /// there is one that the request can use.
    fn fixed_index(&self, memory: &Memory) -> Option<u16> {
        match memory {
            Memory::Read(buffer) => buffer.fixed_index(self.identity()),
            Memory::Write(buffer) => buffer.fixed_index(self.identity()),
            Memory::ReadMany(buffers, _) => self.fixed_index_of_all(buffers.iter()),
            Memory::WriteMany(buffers, _) => {
                self.fixed_index_of_all(buffers.iter().map(|buffer| &**buffer))
            }
            Memory::None | Memory::Names(..) => None,
        }
    }

    fn fixed_index_of_all<'a>(&self, mut buffers: impl Iterator<Item = &'a Buffer>) -> Option<u16> {
        if !self.takes_fixed_vectors {
            return None;
        }
        let index = buffers.next()?.fixed_index(self.identity())?;
        buffers
            .all(|buffer| buffer.fixed_index(self.identity()) == Some(index))
            .then_some(index)
    }
}

fn length(piece: &libc::iovec) -> u32 {
    u32::try_from(piece.iov_len).expect("no buffer is 4 GiB long")
}

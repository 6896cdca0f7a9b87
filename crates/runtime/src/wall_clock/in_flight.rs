//! What a request carries.
//!
//! An [`InFlight`] owns everything that the kernel may touch while it works on a request. The reactor
//! keeps it until the completion arrives, whether or not anybody still waits for it; that is what
//! makes the pointers valid that I/O drivers hand to the kernel.

use super::descriptor::Descriptor;
use crate::buffer::{Buffer, SharedBuffer};
use crate::file::{IoOperation, Persistence};
use crate::outstanding::OutstandingRequest;
use std::ffi::CString;
use std::rc::Rc;

/// Buffers that one request may carry (IOV_MAX of Linux).
const BUFFERS_MAX: usize = 1024;

/// The memory of a request. Moving it does not move the bytes.
pub(crate) enum Memory {
    /// None: a request that moves no bytes, such as a flush.
    None,
    /// The target of a read.
    Read(Buffer),
    /// The targets of a read.
    ReadMany(Vec<Buffer>, Vectors),
    /// The source of a write.
    Write(SharedBuffer),
    /// The sources of a write.
    WriteMany(Vec<SharedBuffer>, Vectors),
    /// The old and the new name of a file; the second is empty for a removal.
    Names(CString, CString),
}

/// The list of pieces that the kernel reads when it takes a vectored request.
#[derive(Default)]
pub(crate) struct Vectors(Vec<libc::iovec>);

impl Vectors {
    /// Lists `pieces` without their first `skip` bytes: as many as one request may carry. What is left
    /// follows in another, as after a request that the kernel has done in part.
    fn fill<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>, mut skip: usize) {
        self.0.clear();
        for piece in pieces {
            if self.0.len() == BUFFERS_MAX {
                break;
            }
            let skipped = skip.min(piece.len());
            skip -= skipped;
            let rest = &piece[skipped..];
            if !rest.is_empty() {
                self.0.push(libc::iovec {
                    iov_base: rest.as_ptr().cast_mut().cast(),
                    iov_len: rest.len(),
                });
            }
        }
    }

    fn pieces(&self) -> Pieces {
        Pieces::Many {
            first: self.0.as_ptr(),
            count: self.0.len() as u32, // At most BUFFERS_MAX.
        }
    }
}

/// What one request moves, as the kernel takes it. It points into the [`Memory`] it was made of.
pub(super) enum Pieces {
    One(libc::iovec),
    Many {
        first: *const libc::iovec,
        count: u32,
    },
}

/// What the kernel is asked to do.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    /// Fill the memory from this offset on.
    Read { offset_bytes: u64 },
    /// Write the memory at this offset.
    Write {
        offset_bytes: u64,
        persistence: Persistence,
    },
    /// Flush data and what is needed to find it; with `names`, everything about a directory.
    Sync { names: bool },
    /// Reserve space and grow the file.
    Allocate {
        offset_bytes: u64,
        length_bytes: u64,
    },
    /// Rename the first name to the second, inside the directory.
    Rename,
    /// Remove the first name from the directory.
    Remove,
}

impl Operation {
    fn name(self) -> &'static str {
        let operation = match self {
            Self::Read { .. } => IoOperation::Read,
            Self::Write { .. } => IoOperation::Write,
            Self::Sync { .. } => IoOperation::Sync,
            Self::Allocate { .. } => IoOperation::Resize,
            Self::Rename => IoOperation::Rename,
            Self::Remove => IoOperation::Remove,
        };
        operation.name()
    }
}

/// Everything that must outlive the request.
pub(crate) struct InFlight {
    pub(crate) descriptor: Rc<Descriptor>,
    pub(crate) memory: Memory,
    /// What was asked for and when, for those who look for requests that are not answered.
    issued: Option<(Operation, u64)>,
}

impl InFlight {
    /// Memory for a request to a file that has not been made.
    pub(crate) fn new(descriptor: Rc<Descriptor>, memory: Memory) -> Self {
        Self {
            descriptor,
            memory,
            issued: None,
        }
    }

    /// Notes that the request is handed over.
    pub(super) fn issue(&mut self, operation: Operation, now_ns: u64) {
        self.issued = Some((operation, now_ns));
    }

    /// The request, if it was handed over before this time.
    pub(super) fn issued_before(&self, before_ns: u64) -> Option<OutstandingRequest> {
        let (operation, issued_ns) = self.issued.filter(|(_, at_ns)| *at_ns < before_ns)?;
        let (offset_bytes, length_bytes) = match operation {
            Operation::Read { offset_bytes } | Operation::Write { offset_bytes, .. } => {
                (offset_bytes, self.memory.length_bytes() as u64)
            }
            Operation::Allocate {
                offset_bytes,
                length_bytes,
            } => (offset_bytes, length_bytes),
            Operation::Sync { .. } | Operation::Rename | Operation::Remove => (0, 0),
        };
        Some(OutstandingRequest {
            issued_ns,
            file: self.descriptor.name(),
            operation: operation.name(),
            is_change: !matches!(operation, Operation::Read { .. }),
            offset_bytes,
            length_bytes,
        })
    }

    /// What a request moves, without the first `done` bytes, which an earlier one has moved already.
    pub(super) fn pieces(&mut self, done: usize) -> Pieces {
        match &mut self.memory {
            Memory::Read(buffer) => Pieces::One(libc::iovec {
                iov_base: buffer[done..].as_mut_ptr().cast(),
                iov_len: buffer.len() - done,
            }),
            Memory::Write(buffer) => Pieces::One(libc::iovec {
                iov_base: buffer[done..].as_ptr().cast_mut().cast(),
                iov_len: buffer.len() - done,
            }),
            Memory::ReadMany(buffers, vectors) => {
                vectors.fill(buffers.iter().map(|buffer| &**buffer), done);
                vectors.pieces()
            }
            Memory::WriteMany(buffers, vectors) => {
                vectors.fill(buffers.iter().map(|buffer| &***buffer), done);
                vectors.pieces()
            }
            Memory::None | Memory::Names(..) => {
                unreachable!("reads and writes carry buffers")
            }
        }
    }

    /// The names that a request on a directory carries.
    pub(super) fn names(&self) -> (*const libc::c_char, *const libc::c_char) {
        let Memory::Names(from, to) = &self.memory else {
            unreachable!("requests on directories carry names");
        };
        (from.as_ptr(), to.as_ptr())
    }
}

impl Memory {
    /// How many bytes a request with this memory moves.
    pub(crate) fn length_bytes(&self) -> usize {
        match self {
            Self::None | Self::Names(..) => 0,
            Self::Read(buffer) => buffer.len(),
            Self::ReadMany(buffers, _) => buffers.iter().map(|buffer| buffer.len()).sum(),
            Self::Write(buffer) => buffer.len(),
            Self::WriteMany(buffers, _) => buffers.iter().map(|buffer| buffer.len()).sum(),
        }
    }
}

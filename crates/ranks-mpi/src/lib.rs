//! Ranks that a launcher of MPI has started: an MPI library carries their messages.
//!
//! Only point-to-point messages are used, and none is waited for: a collective call would wait for ever
//! for a rank that died. All calls are made by the thread that has started MPI
//! (`MPI_THREAD_FUNNELED`); the type is not `Send`, so the compiler sees to it.
//!
//! The C side, `link.c`, is compiled with the header of the MPI that is linked, by the compiler wrapper
//! that `MPICC` names, else `mpicc`. Without the feature `library` the crate is empty.

#![cfg(feature = "library")]
// The calls of a C library; the reason why each is sound stands beside it.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use ranks::{Transport, TransportError};

unsafe extern "C" {
    fn proofload_mpi_start(level: *mut c_int, library: *mut c_char, capacity: c_int) -> c_int;
    fn proofload_mpi_rank(rank: *mut c_int) -> c_int;
    fn proofload_mpi_size(size: *mut c_int) -> c_int;
    fn proofload_mpi_send(
        bytes: *const c_void,
        length: c_int,
        to: c_int,
        request: *mut *mut c_void,
    ) -> c_int;
    fn proofload_mpi_completed(request: *mut c_void, completed: *mut c_int) -> c_int;
    fn proofload_mpi_arrived(arrived: *mut c_int, from: *mut c_int, length: *mut c_int) -> c_int;
    fn proofload_mpi_receive(bytes: *mut c_void, length: c_int, from: c_int) -> c_int;
    fn proofload_mpi_finish() -> c_int;
    fn proofload_mpi_explain(error: c_int, text: *mut c_char, capacity: c_int);
}

/// Room for texts of the library.
const TEXT_BYTES: usize = 512;

/// The ranks of `MPI_COMM_WORLD`.
pub struct MpiTransport {
    rank: usize,
    size: usize,
    library: String,
    thread_level: i32,
    sending: VecDeque<Sending>,
    /// Calls are made by the thread that started MPI.
    not_send: PhantomData<*const ()>,
}

/// A message that is being sent: its bytes must stay until the request has completed.
struct Sending {
    request: *mut c_void,
    _bytes: Vec<u8>,
}

impl MpiTransport {
    /// Starts MPI. To be called once in a process.
    ///
    /// # Errors
    /// What the library says.
    pub fn start() -> Result<Self, TransportError> {
        let mut thread_level = 0;
        let mut text = [0; TEXT_BYTES];
        // SAFETY: the pointers lead to variables of this function, and `text` has that capacity.
        let started = unsafe {
            proofload_mpi_start(&mut thread_level, text.as_mut_ptr(), text.len() as c_int)
        };
        check(started)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has been started, and the pointer leads to a variable of this function.
        check(unsafe { proofload_mpi_rank(&mut rank) })?;
        // SAFETY: as above.
        check(unsafe { proofload_mpi_size(&mut size) })?;
        Ok(Self {
            rank: usize::try_from(rank).unwrap_or_default(),
            size: usize::try_from(size).unwrap_or(1),
            library: first_line(&text),
            thread_level,
            sending: VecDeque::new(),
            not_send: PhantomData,
        })
    }
}

impl Transport for MpiTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn library(&self) -> String {
        // The levels of the standard, in their order.
        let levels = ["single", "funneled", "serialized", "multiple"];
        let level = usize::try_from(self.thread_level).unwrap_or_default();
        let level = levels.get(level).unwrap_or(&"unknown");
        let name = self.library.split(',').next().unwrap_or_default();
        format!("{name}, thread level {level}")
    }

    fn send(&mut self, to: usize, frame: Vec<u8>) -> Result<(), TransportError> {
        let (length, to) = (c_int::try_from(frame.len()), c_int::try_from(to));
        let (Ok(length), Ok(to)) = (length, to) else {
            return Err(TransportError("a message is longer than 2 GiB".to_owned()));
        };
        let mut request = ptr::null_mut();
        // SAFETY: `frame` has `length` bytes on the heap. It is kept beside the request, unchanged, until
        // the request has completed, or for ever (see `drop`).
        let error = unsafe { proofload_mpi_send(frame.as_ptr().cast(), length, to, &mut request) };
        check(error)?;
        self.sending.push_back(Sending {
            request,
            _bytes: frame,
        });
        Ok(())
    }

    fn sending(&mut self) -> Result<usize, TransportError> {
        let mut still = VecDeque::with_capacity(self.sending.len());
        let mut failed = None;
        while let Some(one) = self.sending.pop_front() {
            let mut completed = 0;
            // SAFETY: `request` was made by `proofload_mpi_send`, and it is released by this call only if
            // it has completed or failed; then it is not kept.
            let error = unsafe { proofload_mpi_completed(one.request, &mut completed) };
            match check(error) {
                Ok(()) if completed == 0 => still.push_back(one),
                Ok(()) => {}
                Err(error) => {
                    // Whether the library still reads the bytes is not known.
                    std::mem::forget(one);
                    failed = Some(error);
                }
            }
        }
        self.sending = still;
        failed.map_or(Ok(self.sending.len()), Err)
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>, TransportError> {
        let (mut arrived, mut from, mut length) = (0, 0, 0);
        // SAFETY: the pointers lead to variables of this function.
        let error = unsafe { proofload_mpi_arrived(&mut arrived, &mut from, &mut length) };
        check(error)?;
        if arrived == 0 {
            return Ok(None);
        }
        let mut frame = vec![0; usize::try_from(length).unwrap_or_default()];
        // SAFETY: `frame` has `length` bytes, and the call returns when they are written.
        check(unsafe { proofload_mpi_receive(frame.as_mut_ptr().cast(), length, from) })?;
        Ok(Some((usize::try_from(from).unwrap_or_default(), frame)))
    }

    fn finish(&mut self) -> Result<(), TransportError> {
        // SAFETY: MPI has been started, and `Peers` calls this once, at the end.
        check(unsafe { proofload_mpi_finish() })
    }
}

impl Drop for MpiTransport {
    fn drop(&mut self) {
        // The library may still read what it has not sent.
        for one in self.sending.drain(..) {
            std::mem::forget(one);
        }
    }
}

fn check(error: c_int) -> Result<(), TransportError> {
    if error == 0 {
        return Ok(());
    }
    let mut text = [0; TEXT_BYTES];
    // SAFETY: `text` has that capacity and ends with a zero byte.
    unsafe { proofload_mpi_explain(error, text.as_mut_ptr(), text.len() as c_int) };
    Err(TransportError(first_line(&text)))
}

fn first_line(text: &[c_char; TEXT_BYTES]) -> String {
    // SAFETY: the C side ends the text with a zero byte within its capacity.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    let text = text.to_string_lossy();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

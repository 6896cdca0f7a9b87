//! Choices for the ring, and what can go wrong when it is set up.

use rustix::io::Errno;
use thiserror::Error;

/// Sizes of a ring. The defaults suit hundreds of concurrent requests.
#[derive(Debug, Clone)]
pub struct UringOptions {
    /// Requests that can be queued before they must be handed to the kernel.
    pub submission_entries: u32,
    /// Completions that fit in the ring; more are kept by the kernel until there is room.
    pub completion_entries: u32,
    /// Files that can be registered, which saves a look-up per request. Further files work without.
    pub registered_files: u32,
    /// Pieces of memory of up to 1 GiB that can be registered, which saves pinning pages for every
    /// request. Further memory works without.
    pub registered_buffers: u32,
}

impl Default for UringOptions {
    fn default() -> Self {
        Self {
            submission_entries: 256,
            completion_entries: 4096,
            registered_files: 256,
            registered_buffers: 256,
        }
    }
}

/// Why a wall-clock runtime cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UringError {
    /// The kernel or a sandbox forbids io_uring.
    #[error(
        "this process may not use io_uring; set `sysctl kernel.io_uring_disabled=0`, and in a \
         container allow the io_uring system calls (for example `--security-opt \
         seccomp=unconfined`)"
    )]
    NotPermitted,
    /// The kernel has no io_uring, or one that is too old.
    #[error("this kernel has no usable io_uring; use Linux 5.15 or later with CONFIG_IO_URING")]
    NotAvailable,
    /// The ring's memory counts as locked and the limit is too low.
    #[error("the ring does not fit in the limit on locked memory; raise it with `ulimit -l`")]
    OutOfLockedMemory,
    /// Something else went wrong.
    #[error("setting up io_uring failed: {0}")]
    System(#[source] std::io::Error),
}

impl From<std::io::Error> for UringError {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => Self::NotPermitted,
            Some(Errno::NOSYS | Errno::OPNOTSUPP) => Self::NotAvailable,
            Some(Errno::NOMEM) => Self::OutOfLockedMemory,
            _ => Self::System(error),
        }
    }
}

//! The choice of an I/O driver, and why one cannot be had.

use rustix::io::Errno;
use std::fmt;
use thiserror::Error;

/// A way of handing requests to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoDriver {
    /// A ring of requests shared with the kernel.
    IoUring,
    /// Threads, each of which makes one system call at a time.
    Threads,
}

impl IoDriver {
    /// Its name in settings and results.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::IoUring => "io-uring",
            Self::Threads => "threads",
        }
    }
}

impl fmt::Display for IoDriver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::IoUring => "io_uring",
            Self::Threads => "threads",
        })
    }
}

/// The I/O driver of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInUse {
    /// The I/O driver that was chosen.
    pub driver: IoDriver,
    /// Why it is not io_uring, as a sentence without its full stop; `None` where it is, or where
    /// threads were asked for.
    pub fallback_reason: Option<String>,
}

/// How a wall-clock runtime reaches storage. The default takes io_uring, and threads where that is
/// refused.
#[derive(Debug, Clone, Default)]
pub struct WallClockOptions {
    /// The driver to use and no other; `None` for the quickest that this system allows.
    pub driver: Option<IoDriver>,
    /// Sizes of the ring.
    pub ring: RingOptions,
    /// Size of the pool of threads.
    pub threads: ThreadOptions,
}

impl WallClockOptions {
    /// The defaults with one driver and no other, if there is one here.
    #[must_use]
    pub fn with_driver(driver: Option<IoDriver>) -> Self {
        Self {
            driver,
            ..Self::default()
        }
    }
}

/// Sizes of a ring. The defaults suit hundreds of concurrent requests.
#[derive(Debug, Clone)]
pub struct RingOptions {
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

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            submission_entries: 256,
            completion_entries: 4096,
            registered_files: 256,
            registered_buffers: 256,
        }
    }
}

/// Size of a pool of threads.
#[derive(Debug, Clone)]
pub struct ThreadOptions {
    /// Requests that are with the kernel at the same time; further ones wait for a thread. Threads are
    /// started as they are needed.
    pub threads_max: usize,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        Self { threads_max: 256 }
    }
}

/// Why a wall-clock runtime cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WallClockError {
    /// The driver that was asked for is io_uring, and it is refused.
    #[error("{0}; or choose the I/O driver that does without, \"threads\"")]
    IoUring(#[from] IoUringError),
    /// The system gives nothing to wait by.
    #[error(
        "the system gives this process no event descriptor to wait by ({0}); raise the limit on open \
         files (`ulimit -n`)"
    )]
    NoDescriptor(#[source] std::io::Error),
    /// The system gives no thread.
    #[error(
        "the system gives this process no thread for its I/O ({0}); raise the limit on processes \
         (`ulimit -u`, in a container `--pids-limit`)"
    )]
    NoThread(#[source] std::io::Error),
}

/// Why io_uring cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoUringError {
    /// The kernel or a sandbox forbids io_uring.
    #[error(
        "this process may not use io_uring; set `sysctl kernel.io_uring_disabled=0`, and in a \
         container allow the io_uring system calls (for example `--security-opt \
         seccomp=unconfined`)"
    )]
    NotPermitted,
    /// The kernel has no io_uring, or one without what is needed.
    #[error("this kernel has no usable io_uring")]
    NotAvailable,
    /// The same, but under a filter of system calls, which may be what says so.
    #[error(
        "this kernel has no usable io_uring, or the filter of system calls (seccomp) of this process hides \
         it; in a container allow the io_uring system calls (for example `--security-opt \
         seccomp=unconfined`)"
    )]
    Filtered,
    /// The ring's memory counts as locked and the limit is too low.
    #[error("the ring does not fit in the limit on locked memory; raise it with `ulimit -l`")]
    OutOfLockedMemory,
    /// Something else went wrong.
    #[error("setting up io_uring failed: {0}")]
    System(#[source] std::io::Error),
}

impl From<std::io::Error> for IoUringError {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::ACCESS) => Self::NotPermitted,
            Some(Errno::NOSYS) if is_filtered() => Self::Filtered,
            Some(Errno::NOSYS | Errno::OPNOTSUPP) => Self::NotAvailable,
            Some(Errno::NOMEM) => Self::OutOfLockedMemory,
            _ => Self::System(error),
        }
    }
}

/// Whether a filter of system calls (seccomp) is in force for this thread.
fn is_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

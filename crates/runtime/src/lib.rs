//! Tasks, clocks and files: what the engine, the array model and the workloads run on.
//!
//! One [`Runtime`] lives on one thread and owns the tasks there. It has one of two clocks behind the
//! same API:
//!
//! - the **virtual clock**, where time jumps to the next timer as soon as no task can run, so that
//!   a day passes in minutes and every run with the same seed is the same run, event by event;
//! - the **wall clock**, where waiting is real and I/O goes to files and block devices, through
//!   io_uring or, where that is refused, through threads.
//!
//! Code above never knows which of the two it runs on: it takes a [`Handle`], spawns tasks, sleeps,
//! and reads and writes storage through the traits [`File`] and [`Directory`].
//!
//! - [`executor`] runs tasks and timers, [`sync`] lets tasks wait for each other; [`source`] lets a
//!   model with events of its own, such as an array, take part in the passing of time.
//! - [`mod@file`] is the interface of storage, [`buffer`] memory that devices accept, [`trace`] what is
//!   reported of each request. [`simulated`] is storage for tests that fails and loses power on
//!   demand.
//! - [`outstanding`] says which requests storage has not answered for long.
//! - With the feature `host`: `wall_clock` is the wall clock and its two I/O drivers, `host` real
//!   directories, files and block devices, `raw` a directory of files on a bare block device, `thread` code that runs as a task or
//!   as a thread of its own; [`memory`] has the allocator for programs with large tables.
//!
//! # Features
//!
//! - `host` (default): the wall clock and real storage, on Linux. A program that only predicts does
//!   without, and then compiles no io_uring and no system call; it builds for WebAssembly.

pub mod buffer;
mod driver;
pub mod executor;
pub mod file;
#[cfg(feature = "host")]
pub mod host;
pub mod memory;
pub mod outstanding;
#[cfg(feature = "host")]
pub mod raw;
pub mod simulated;
pub mod source;
pub mod sync;
#[cfg(feature = "host")]
pub mod thread;
pub mod time;
pub mod trace;
#[cfg(feature = "host")]
pub mod wall_clock;

pub use buffer::{Buffer, BufferArena, SharedBuffer, is_zero};
pub use executor::{Handle, JoinHandle, Runtime};
pub use file::{Directory, File, IoError, IoFailure, IoOperation, Persistence};
#[cfg(feature = "host")]
pub use host::{AnyDirectory, AnyFile, HostDirectory, HostFile};
#[cfg(target_family = "wasm")]
pub use memory::FreshZeros;
#[cfg(feature = "host")]
pub use memory::LargePages;
pub use outstanding::OutstandingRequest;
#[cfg(feature = "host")]
pub use raw::{RawDirectory, RawFile};
pub use simulated::{SimulatedDirectory, SimulatedDisk, SimulatedFile, SimulatedOptions};
pub use source::EventSource;
pub use trace::{IoCause, IoDirection, IoEvent, IoObserver};
#[cfg(feature = "host")]
pub use wall_clock::{
    DriverInUse, IoDriver, IoUringError, RingOptions, ThreadOptions, WallClockError,
    WallClockOptions,
};

//! Tasks, time and volumes: the ground everything else stands on.
//!
//! One [`Runtime`] lives on one thread and owns everything that happens there. It comes with one of
//! two clocks behind the same API:
//!
//! - the **wall clock**, where waiting is real and I/O goes to files and block devices through
//!   io_uring;
//! - the **virtual clock**, where time jumps to the next timer as soon as no task can run, so that
//!   a day passes in minutes and every run with the same seed is the same run, event by event.
//!
//! The rooms above never know which of the two they stand on: they take a [`Handle`], spawn tasks,
//! sleep, and talk to storage through the traits [`File`] and [`Directory`].
//!
//! A walk through the modules: [`executor`] runs tasks, [`time`] makes them wait, [`sync`] lets them
//! wait for each other, [`thread`] is for what may wait as a task or as a thread; [`buffer`] is memory that devices accept; [`file`] says what storage looks
//! like and [`trace`] what is reported of each request made to it. [`simulated`] is storage for tests
//! that fails, lies and loses power on demand; [`source`] lets a model with events of its own take
//! part in the course of time; [`memory`] is the allocator for programs with large tables.

pub mod any;
pub mod arena;
pub mod buffer;
mod clock;
pub mod executor;
pub mod file;
pub mod host;
mod join;
pub mod memory;
pub mod raw;
mod ready;
pub mod simulated;
pub mod source;
pub mod sync;
pub mod thread;
pub mod time;
pub mod trace;
pub mod uring;

pub use any::{AnyDirectory, AnyFile};
pub use arena::BufferArena;
pub use buffer::{Buffer, SharedBuffer};
pub use executor::{Handle, Runtime};
pub use file::{Directory, File, IoError, IoFailure, IoOperation, Persistence};
pub use host::{HostDirectory, HostFile};
pub use join::JoinHandle;
pub use memory::LargePages;
pub use raw::{RawDirectory, RawFile};
pub use simulated::{SimulatedDirectory, SimulatedDisk, SimulatedFile, SimulatedOptions};
pub use source::EventSource;
pub use trace::{IoCause, IoDirection, IoEvent, IoObserver};
pub use uring::{UringError, UringOptions};

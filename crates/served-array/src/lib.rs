//! A modelled array in a test: programs use its volumes, parts of it fail on request, and at the end it is gone.
//!
//! ```no_run
//! use served_array::ServedArray;
//! use std::{fs::File, os::unix::fs::FileExt, time::Duration};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A cache that goes on without batteries keeps what was flushed, and nothing else.
//! let array = ServedArray::of("msa2050").size("1GiB").without_batteries().start()?;
//! let volume = File::options().write(true).open(array.volume(1))?;
//! volume.write_all_at(b"kept", 0)?;
//! volume.sync_all()?;
//! array.power_cut(Duration::from_secs(1))?;
//! // What was open is gone; whoever opens the volume again waits until the power is back.
//! let mut kept = [0; 4];
//! File::open(array.volume(1))?.read_exact_at(&mut kept, 0)?;
//! assert_eq!(&kept, b"kept");
//! # Ok(())
//! # }
//! ```
//!
//! - [`ServedArray::of`] says which array; what it returns takes size, settings and events, and starts it.
//! - [`ServedArray::volume`] is the path of a volume, a file through FUSE. Requests take as long as the model says.
//! - [`ServedArray::event`] and [`ServedArray::power_cut`] let something happen, [`ServedArray::state`] says how it is.
//!
//! The array lives in a thread of the test, and the volumes in a temporary directory. It needs Linux with FUSE:
//! [`reason_to_skip`] says what is missing. Tests in Python have the same in `examples/python`.

mod start;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use proofload::Error;
pub use proofload::serve::ServeOutcome;
pub use proofload::serve::state::ServingState;
pub use start::ArrayToServe;

use proofload::serve::{ask_for_event, ask_for_state};
use workload::progress::StopRequest;

/// The device that mounts need.
const FUSE_DEVICE: &str = "/dev/fuse";

/// Why no array can be served here, as a sentence without a full stop.
#[must_use]
pub fn reason_to_skip() -> Option<String> {
    let fuse = File::options().read(true).write(true).open(FUSE_DEVICE);
    fuse.err()
        .map(|error| format!("{FUSE_DEVICE} cannot be opened: {error}"))
}

/// An array that is served. It ends when this is dropped.
#[derive(Debug)]
pub struct ServedArray {
    directory: tempfile::TempDir,
    stop: StopRequest,
    said: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<Result<ServeOutcome, Error>>>,
}

impl ServedArray {
    /// An array by its name, such as `msa2050`, or the path of its description; it is started by
    /// [`ArrayToServe::start`].
    pub fn of(array: impl Into<String>) -> ArrayToServe {
        ArrayToServe::new(array.into())
    }

    /// The path of a volume, from 1 on. Reads and writes of its file do not go through the page cache.
    #[must_use]
    pub fn volume(&self, number: u32) -> PathBuf {
        volume_in(self.directory.path(), number)
    }

    /// Lets something happen now, such as `disk-fail 3` or `disk-slow 5 x20 for 2m`; returns a sentence about it.
    ///
    /// # Errors
    /// There is no such event or no such disk, or the array has ended.
    pub fn event(&self, event: &str) -> Result<String, Error> {
        ask_for_event(&control_in(self.directory.path()), event)
    }

    /// Cuts the power for so long. What programs have open is gone and has to be opened again; what is opened since
    /// waits until the power is back.
    ///
    /// # Errors
    /// The array has ended.
    pub fn power_cut(&self, lasts: Duration) -> Result<(), Error> {
        let ms = lasts.as_millis().max(1);
        self.event(&format!("power-cut for {ms}ms")).map(drop)
    }

    /// What clients have seen, how disks and caches are, what has happened and what is planned.
    ///
    /// # Errors
    /// The array has ended.
    pub fn state(&self) -> Result<ServingState, Error> {
        ask_for_state(&control_in(self.directory.path()))
    }

    /// What has happened so far, in sentences.
    #[must_use]
    pub fn said(&self) -> Vec<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.clone()
    }

    /// Ends the array, and returns what its users have seen.
    ///
    /// # Errors
    /// It could not be mounted or unmounted, or its store could not be written.
    pub fn stop(mut self) -> Result<ServeOutcome, Error> {
        self.stop.stop();
        match self.thread.take() {
            Some(thread) => joined(thread),
            // It is taken here and in `drop` alone.
            None => unreachable!("an array is stopped once"),
        }
    }
}

impl Drop for ServedArray {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A test that has not asked how it ended does not want to know.
            drop(thread.join());
        }
    }
}

/// What the thread has returned; its panic goes on in the test.
fn joined(thread: JoinHandle<Result<ServeOutcome, Error>>) -> Result<ServeOutcome, Error> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn mount_in(directory: &Path) -> PathBuf {
    directory.join("array")
}

fn volume_in(directory: &Path, number: u32) -> PathBuf {
    mount_in(directory).join(format!("volume-{number}"))
}

fn control_in(directory: &Path) -> PathBuf {
    directory.join("control")
}

//! What is reported of each request made to storage.
//!
//! The engine reports to an [`IoObserver`] every device request when it completes. Whoever measures
//! implements the trait; the engine itself keeps no latency statistics.

use crate::file::IoError;

/// Why a request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IoCause {
    /// Pages read on a cache miss or ahead of need, pages written back.
    Database,
    /// The log stream: the writes that commits wait for, and reads during recovery.
    Log,
    /// Reads of full log files, which are verified in the background.
    LogReadBack,
    /// Reads of full log files, as the shipping of logs to copies of a database makes them.
    LogReplication,
    /// Preparing the next log file: zero fill and file headers.
    LogFormat,
    /// Copies of the database header and the checkpoint file.
    Checkpoint,
    /// The background scan that verifies every page.
    Maintenance,
    /// Reads of a backup of a database that is open.
    Backup,
    /// Building, extending or checking a database outside the measured work.
    Build,
}

/// Which way the bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IoDirection {
    /// From the device to memory.
    Read,
    /// From memory to the device.
    Write,
    /// A flush of the device's volatile cache; carries no bytes.
    Flush,
}

/// A request that has completed, well or with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoEvent {
    /// Why it was made.
    pub cause: IoCause,
    /// Read, write or flush.
    pub direction: IoDirection,
    /// Offset in the file, in bytes.
    pub offset_bytes: u64,
    /// Bytes asked for; 0 for a flush.
    pub length_bytes: u64,
    /// When the request was handed to the device, on the runtime's clock.
    pub issued_ns: u64,
    /// When its completion was seen.
    pub completed_ns: u64,
    /// Whether the device carried it out.
    pub succeeded: bool,
}

impl IoEvent {
    /// Time from issue to completion.
    #[must_use]
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.issued_ns)
    }
}

/// Somebody who wants to know of every request.
pub trait IoObserver {
    /// Called once for each request, on the thread that made it.
    fn completed(&self, event: &IoEvent);

    /// Called before [`IoObserver::completed`] if the device did not carry the request out. Whoever
    /// made the request may try again or do without it, so this is the only place where every
    /// failure is seen.
    fn failed(&self, _event: &IoEvent, _error: &IoError) {}
}

/// An observer for those who do not measure.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl IoObserver for NoObserver {
    fn completed(&self, _event: &IoEvent) {}
}

//! How a scenario is run on real storage.

use std::path::PathBuf;
use std::sync::Arc;

use measure::recompute::InterruptedRun;
use workload::controller::Together;

/// The storage under test, and what becomes of the databases on it.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Directories or block devices for the databases, distributed in turn.
    pub on: Vec<PathBuf>,
    /// Directories or block devices for the logs; beside the databases when empty.
    pub log_on: Vec<PathBuf>,
    /// The database of a brokerage: `sqlite`, or the address of a server; when absent, a PostgreSQL
    /// server is started.
    pub database: Option<String>,
    /// Overwrite block devices that hold data.
    pub erase_device: bool,
    /// Keep the databases after the run.
    pub keep: bool,
    /// Run on the databases that an earlier run kept.
    pub reuse: bool,
    /// Size of the array's cache: data that fits it shows nothing of the disks.
    pub array_cache_bytes: Option<u64>,
    /// Let a run pass whose data fits a cache.
    pub allow_cached: bool,
    /// Build the databases and keep them, without a run.
    pub build_only: bool,
    /// A directory for the copies of a backup; without one the databases are only read.
    pub backup_to: Option<PathBuf>,
    /// A directory with copies that such a backup has left. They are put in the places of the databases
    /// before the run.
    pub restore: Option<PathBuf>,
    /// Directories for passive copies, distributed in turn; without one there are none.
    pub copy_to: Vec<PathBuf>,
    /// The other processes that run the same load on databases of their own, if there are any.
    pub together: Together,
    /// Part of the room on the volumes that the databases take, in percent; their size is that of the
    /// profile when absent.
    pub capacity_percent: Option<f64>,
    /// The run that this one goes on with, in the same directory; its databases are there.
    pub resume: Option<Arc<InterruptedRun>>,
    /// Prints what a run waits for before it begins.
    pub notify: Option<fn(&str)>,
    /// A second machine to which acknowledged transactions are reported.
    #[cfg(feature = "host")]
    pub witness: Option<WitnessOptions>,
}

impl RunOptions {
    /// Reports what is waited for.
    pub fn notify(&self, text: &str) {
        if let Some(notify) = self.notify {
            notify(text);
        }
    }
}

/// A witness, and the secret that it shares.
#[cfg(feature = "host")]
#[derive(Clone, Debug)]
pub struct WitnessOptions {
    /// Host and port of the witness.
    pub address: String,
    /// What both sides know and nobody else does.
    pub secret: witness::Secret,
}

//! What may have decided a run besides its storage.

use serde::{Deserialize, Serialize};

/// What may have decided a run besides its storage.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// Which one, for programs.
    pub id: CauseId,
    /// What was seen, as a sentence with its figures.
    pub text: String,
    /// What to do about it, as a sentence.
    pub remedy: String,
}

/// Declares the causes with their identifiers.
macro_rules! cause_ids {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Which cause it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum CauseId {
            $($(#[$about])* $name,)*
            /// One that this version does not know.
            #[default]
            #[serde(other)]
            Unknown,
        }

        impl CauseId {
            /// Every cause that this version knows.
            pub const ALL: &[CauseId] = &[$(CauseId::$name,)*];
        }
    };
}

cause_ids! {
    /// Fewer samples than a verdict needs.
    TooFewSamples,
    /// Fewer requests than the figure needs.
    TooFewRequests,
    /// The measured phase was not steady.
    NotSteady,
    /// The highest rate that a search found did not keep its levels over the measured phase.
    MaximumNotHeld,
    /// A search for the load was ended by a limit that is not the storage's.
    SearchLimit,
    /// Sessions had nothing to do, although the rate was missed.
    IdleSessions,
    /// A given number of threads reached less than the rate, with latencies within their limits.
    FewThreads,
    /// The caches of the engine were still filling.
    CacheFilling,
    /// Memory was short, and the caches of the engine were smaller than they may be.
    CacheShrunk,
    /// The process was paused, or the machine suspended.
    Paused,
    /// Other programs used a device of the run.
    OtherIo,
    /// Files of the database server were on another storage than the one that was measured.
    FilesElsewhere,
    /// The load generator kept the CPUs busy.
    LoadGeneratorBusy,
    /// The database server kept the CPUs busy.
    ServerBusy,
    /// Other programs kept the CPUs busy.
    HostBusy,
    /// Threads of the load generator waited for a CPU.
    RunQueue,
    /// One thread of the load generator had no time left.
    ThreadBusy,
    /// A hypervisor gave the CPUs to other machines.
    CpuSteal,
    /// There was too little memory.
    MemoryPressure,
    /// The host moved memory to its swap space and back.
    Swapping,
    /// The server was shut down by a command, or had no connection left.
    ServerNotAvailable,
    /// Sessions of the database waited for locks.
    LockWaits,
    /// Few sessions of the database waited for storage.
    FewStorageWaits,
    /// Requests waited above the block device.
    AboveDevice,
    /// The transactions were not the mix that the profile asks for.
    WrongMix,
    /// The data fits the cache of the engine.
    EngineCache,
    /// The data fits the memory of the host.
    HostMemory,
    /// The data fits the cache of the array.
    ArrayCache,
    /// Few of the reads reached the device.
    FewReadsAtDevice,
    /// A loop device goes through the page cache of the host.
    BufferedLoop,
    /// A file system sent no flushes to a device with a volatile write cache.
    NoFlushes,
    /// The limit lies within the error bar of a calibrated array.
    Calibration,
}

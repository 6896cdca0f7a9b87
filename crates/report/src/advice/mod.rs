//! Findings and recommendations, derived from the checks that failed and from the figures.
//!
//! Every rule is a function of the result that gives an [`Advice`] or nothing. A rule names the
//! numbers it is based on, so that a reader can disagree with it.

mod consistency;
mod evidence;
mod latency;
mod load;
mod server;

use measure::result::{RunResult, Verdict};

/// A finding with its recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Which rule gave it; programs compare this, people read the title.
    pub id: AdviceId,
    /// The finding in a few words.
    pub title: String,
    /// Why, with the numbers, and what to do.
    pub text: String,
}

impl Advice {
    fn new(id: AdviceId, title: &str, text: String) -> Self {
        Self {
            id,
            title: title.to_string(),
            text,
        }
    }
}

/// Declares the identifiers with their kebab-case names.
macro_rules! advice_ids {
    ($($(#[$meaning:meta])* $variant:ident $id:literal,)*) => {
        /// Which rule gave an [`Advice`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AdviceId {
            $($(#[$meaning])* $variant,)*
        }

        impl AdviceId {
            /// The stable name, as in the `id` of its element on the page.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }
        }
    };
}

advice_ids! {
    /// Requests failed, or pages are bad.
    Errors "errors",
    /// The run ran out of space.
    OutOfSpace "out-of-space",
    /// The database server did not come back.
    ServerUnavailable "server-unavailable",
    /// Consistency checks of the database failed.
    Inconsistent "inconsistent",
    /// The run was stopped.
    Interrupted "interrupted",
    /// The database server was down for a while.
    Downtime "downtime",
    /// The transaction mix was not the one asked for.
    WrongMix "wrong-mix",
    /// One database, or a few, are slower than the others.
    DatabaseDiffers "database-differs",
    /// Database reads are slow, and the host shows no block device.
    NoDevice "no-device",
    /// Database reads are slow in the device.
    DeviceSlow "device-slow",
    /// Database reads are slow because the host's processors are busy.
    HostBusy "host-busy",
    /// Database reads are slow between host and device.
    QueueAboveDevice "queue-above-device",
    /// Log writes are slow, database reads are not.
    LogSlow "log-slow",
    /// Log and database share a device, and both are slow.
    SharedDevice "shared-device",
    /// Page faults waited for free pages of the cache.
    CacheTooSmall "cache-too-small",
    /// The target rate was missed at high latency.
    Saturated "saturated",
    /// The target rate was missed at low latency.
    TargetMissed "target-missed",
    /// The held rate is not sustained.
    LoadNotSustained "load-not-sustained",
    /// Single samples exceed their limit.
    LatencySpikes "latency-spikes",
    /// The 99th percentile exceeds its limit.
    TailLatency "tail-latency",
    /// Other programs use the devices.
    OtherIo "other-io",
    /// The run did not reach steady state.
    NotSteady "not-steady",
    /// The run is too short to sign off storage.
    ShortRun "short-run",
    /// Background maintenance moves most of the data.
    MaintenanceShare "maintenance-share",
    /// How much of the nearest limit is used.
    Headroom "headroom",
}

/// All findings of a run, the most important first.
#[must_use]
pub fn advice(result: &RunResult) -> Vec<Advice> {
    let rules: [fn(&RunResult) -> Option<Advice>; 17] = [
        load::errors,
        load::interrupted,
        server::downtime,
        server::wrong_mix,
        latency::one_place_differs,
        latency::database_reads,
        latency::log_slow_database_fast,
        latency::log_and_database_slow,
        load::page_fault_stalls,
        load::target_missed,
        load::not_sustained,
        latency::spikes,
        latency::slow_tail,
        load::other_traffic,
        load::not_steady,
        load::too_few_samples,
        load::maintenance_share,
    ];
    let mut list: Vec<Advice> = rules.iter().filter_map(|rule| rule(result)).collect();
    if result.verdict == Verdict::Pass {
        list.extend(load::headroom(result));
    }
    list
}

#[cfg(test)]
mod tests;

//! What a live array has done for its clients.

use array::{HostError, HostOperation, VolumeId};
use measure::histogram::LatencyHistogram;

use crate::meter::Meter;

/// Times of requests, and how well they were kept.
#[derive(Debug, Default)]
pub struct Served {
    /// Reads: from their arrival to their answer.
    pub reads: LatencyHistogram,
    /// Writes.
    pub writes: LatencyHistogram,
    /// Flushes.
    pub flushes: LatencyHistogram,
    /// How much later than the model says answers were given. Programs wait longer by the way from the
    /// kernel and back, which is not in it.
    pub lateness: LatencyHistogram,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that are not answered yet.
    pub under_way: u64,
    /// What clients do with each volume, where somebody takes it.
    pub meter: Option<Meter>,
    /// Why the store could not be written: everything that was under way then, and came later, has failed.
    pub store_error: Option<std::io::Error>,
}

impl Served {
    /// Notes an answer: when its request came, when the model ended it, and when it is given.
    pub(crate) fn note(
        &mut self,
        (volume, operation, bytes): (VolumeId, HostOperation, u64),
        (submitted_ns, ended_ns, now_ns): (u64, u64, u64),
        result: Result<(), HostError>,
    ) {
        let took_ns = now_ns.saturating_sub(submitted_ns);
        if let Some(meter) = &mut self.meter {
            meter.note(volume, operation, bytes, result.is_ok().then_some(took_ns));
        }
        self.failed += u64::from(result.is_err());
        self.lateness.record(now_ns.saturating_sub(ended_ns));
        let latencies = match operation {
            HostOperation::Read => &mut self.reads,
            HostOperation::Write => &mut self.writes,
            HostOperation::Flush | HostOperation::Trim => &mut self.flushes,
        };
        latencies.record(took_ns);
    }
}

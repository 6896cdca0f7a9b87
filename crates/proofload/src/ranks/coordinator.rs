//! Phases that all ranks begin together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ::ranks::{ClockOffset, Peers};
use serde::{Deserialize, Serialize};
use workload::controller::Coordination;
use workload::progress::Phase;

/// No moment.
const NEVER: u64 = u64::MAX;

/// What one rank contributes to the agreement.
pub struct Coordinator {
    peers: Arc<Peers>,
    offset_at_begin: ClockOffset,
    /// When the measured phase began here, by the clock of rank 0.
    measured_ns: AtomicU64,
    /// The phase this rank is in.
    phase: Mutex<Option<Phase>>,
}

/// What a rank knows of itself that is not in its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Its time of day minus that of rank 0, ns, before and after the load.
    pub offset_begin_ns: i64,
    pub offset_end_ns: i64,
    /// How far these may be wrong, ns.
    pub uncertainty_ns: u64,
    /// When its measured phase began, by the clock of rank 0, ns; `None` when it did not.
    pub measured_ns: Option<u64>,
    /// Why it has no result, if it has none.
    pub error: Option<String>,
}

impl Coordinator {
    pub fn new(peers: Arc<Peers>) -> Self {
        Self {
            offset_at_begin: peers.offset(),
            peers,
            measured_ns: AtomicU64::new(NEVER),
            phase: Mutex::new(None),
        }
    }

    /// What this rank knows of itself after its run. Compares the clocks once more.
    pub fn facts(&self, error: Option<String>) -> Facts {
        let at_end = self.peers.compare_clocks();
        let measured_ns = self.measured_ns.load(Ordering::Relaxed);
        let uncertainty_ns = self
            .offset_at_begin
            .uncertainty_ns
            .max(at_end.uncertainty_ns);
        Facts {
            offset_begin_ns: self.offset_at_begin.time_of_day_ns,
            offset_end_ns: at_end.time_of_day_ns,
            uncertainty_ns,
            measured_ns: (measured_ns != NEVER).then_some(measured_ns),
            error,
        }
    }
}

impl Coordination for Coordinator {
    fn may_begin(&self, phase: Phase) -> bool {
        self.peers.may_pass(phase.name())
    }

    fn begun(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
        if phase == Phase::Measuring {
            let now_ns = self.peers.now_of_first_ns();
            self.measured_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    fn ends_early(&self) {
        let phase = *self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = phase.map_or("beginning", Phase::title);
        self.peers
            .end_early(&format!("it ended early, while {phase}."));
    }
}

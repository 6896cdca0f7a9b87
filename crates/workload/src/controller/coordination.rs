//! Agreement of several processes that run one load together, each on its own databases.

use crate::progress::Phase;
use std::fmt;
use std::sync::Arc;

/// The processes of a run, as the controller of one of them sees the others.
pub trait Coordination: Send + Sync {
    /// Says that this process could begin a phase, and whether it may: when all could, at a moment that they
    /// agreed on. Asked again until it may.
    fn may_begin(&self, phase: Phase) -> bool;

    /// A phase has begun here.
    fn begun(&self, phase: Phase);

    /// The load of this process ends before its end.
    fn ends_early(&self);
}

/// The other processes of a run, if there are any.
#[derive(Clone, Default)]
pub struct Together(Option<Arc<dyn Coordination>>);

impl Together {
    /// A run of several processes.
    #[must_use]
    pub fn with(others: Arc<dyn Coordination>) -> Self {
        Self(Some(others))
    }

    /// Whether there are other processes.
    #[must_use]
    pub fn is_of_several(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a phase may begin now. Alone it may at any time.
    #[must_use]
    pub fn may_begin(&self, phase: Phase) -> bool {
        self.0.as_ref().is_none_or(|others| others.may_begin(phase))
    }

    /// Notes that a phase has begun.
    pub fn begun(&self, phase: Phase) {
        if let Some(others) = &self.0 {
            others.begun(phase);
        }
    }

    /// Notes that the load ends before its end.
    pub fn ends_early(&self) {
        if let Some(others) = &self.0 {
            others.ends_early();
        }
    }
}

impl fmt::Debug for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Together"
        } else {
            "Alone"
        })
    }
}

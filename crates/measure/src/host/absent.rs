//! What takes the place of the host's counters in a program that only predicts.

use super::counters::HostSample;
use crate::result::HostResult;
use std::path::Path;

/// A reader of counters that nobody can have.
#[derive(Debug)]
pub enum HostMonitor {}

impl HostMonitor {
    /// Never called, as there is no monitor.
    pub fn sample(&mut self) -> Option<HostSample> {
        match *self {}
    }

    /// Never called, as there is no monitor.
    #[must_use]
    pub fn another(&self) -> HostMonitor {
        match *self {}
    }
}

/// No facts of the machine: a prediction without the feature `host` does not depend on it.
pub fn facts<P: AsRef<Path>>(_targets: &[P]) -> HostResult {
    HostResult::default()
}

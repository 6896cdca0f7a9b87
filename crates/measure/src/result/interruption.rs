//! A run that was interrupted and went on.

use serde::{Deserialize, Serialize};

/// An interruption after which a run went on (`--resume`). What happened in between is not part of any
/// figure.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Interruption {
    /// When the last sample before it ended, in seconds since the start of the run.
    pub last_sample_s: f64,
    /// When the run went on, in seconds since its start.
    pub resumed_at_s: f64,
    /// Length of the measured phase until then, in seconds.
    pub measured_s: f64,
    /// What had been measured besides and was missing in its files, as after a power cut, in seconds: it is
    /// part of no figure.
    pub lost_s: f64,
}

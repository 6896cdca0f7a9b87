//! What broke and was repaired during a prediction.

use serde::{Deserialize, Serialize};

/// Something that happened to the array.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventResult {
    /// When, in seconds since the start of the run, as in `samples.csv`.
    pub at_s: f64,
    /// When, in seconds since the measured phase began.
    pub measured_at_s: f64,
    /// What: `disk-fails`, `disk-slows`, `rebuild-begins`, `controller-takes-over` and others.
    pub what: String,
    /// Whether it was asked for: by the description of the array, by the profile or by `--event`.
    /// Everything else followed from such an event.
    pub planned: bool,
    /// The same as a sentence.
    pub text: String,
}

/// A rebuild onto a disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RebuildResult {
    /// Number of the disk that was filled.
    pub disk: u64,
    /// Name of its disk group.
    pub group: String,
    /// When it began, in seconds since the measured phase began.
    pub began_s: f64,
    /// When it ended; null when it did not.
    pub ended_s: Option<f64>,
    /// How far it came, from 0 to 1.
    pub completed_fraction: f64,
}

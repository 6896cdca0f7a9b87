//! What a rank says of itself while the run goes on.

use serde::{Deserialize, Serialize};

/// The figures of a rank as it says them with each heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Title of the phase it is in.
    pub phase: String,
    pub iops: f64,
    pub target_iops: Option<f64>,
    pub database_read_ms: Option<f64>,
    pub log_write_ms: Option<f64>,
    pub sessions: u32,
    /// Service levels that would fail now.
    pub failing: Vec<String>,
}

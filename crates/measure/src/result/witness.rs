//! What a witness on a second machine has of a run.

use serde::{Deserialize, Serialize};

/// The witness of a run: a second machine to which acknowledged transactions were reported, for an audit
/// after a power cut.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WitnessResult {
    /// Where it was reached: host and port.
    pub address: String,
    /// The random number by which it knows the run, as 32 hexadecimal digits.
    pub run: String,
    /// Transactions that it has acknowledged; null until the run has ended.
    pub acknowledged: Option<u64>,
    /// Transactions that the database has acknowledged and the witness has not: an audit knows nothing of
    /// them. Null until the run has ended.
    pub missed: Option<u64>,
    /// Times that the connection was lost or could not be made again; null until the run has ended.
    pub interruptions: Option<u64>,
    /// What went wrong last in the exchange with the witness, as a part of a sentence; empty when nothing
    /// did.
    #[serde(alias = "trouble")]
    pub last_error: String,
}

//! Reading back what a witness has of a run.

use crate::error::WitnessError;
use crate::message::{Message, Refusal};
use crate::record::{Record, RunId};
use crate::secret::Secret;
use crate::wire::Wire;

/// What a witness has of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The number of the workload that the records are of.
    pub workload: u8,
    /// All records, in the order in which they were sent.
    pub records: Vec<Record>,
}

/// Fetches the records of a run from the witness at `address`.
///
/// # Errors
/// If the witness is not reached, has another secret, or has no records of this run.
pub fn fetch(address: &str, secret: &Secret, run: RunId) -> Result<Fetched, WitnessError> {
    let mut wire = Wire::connect(address, secret)?;
    let mut fetched = Fetched::default();
    loop {
        let from = fetched.records.len() as u64;
        match wire.ask(&Message::Fetch { run, from }) {
            Ok(Message::Fetched { workload, records }) => {
                fetched.workload = workload;
                if records.is_empty() {
                    return Ok(fetched);
                }
                fetched.records.extend(records);
            }
            Ok(_) => return Err(WitnessError::Protocol("an unexpected answer")),
            Err(WitnessError::Refused(Refusal::UnknownRun)) => {
                return Err(WitnessError::UnknownRun(run));
            }
            Err(error) => return Err(error),
        }
    }
}

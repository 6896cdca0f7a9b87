//! Reading back what a witness has of a run.

use crate::error::WitnessError;
use crate::message::{Message, Refusal};
use crate::record::{Record, RunId};
use crate::secret::Secret;
use crate::wire::Wire;

/// Fetches the records of a run from the witness at `address`, in the order in which they were sent.
///
/// # Errors
/// If the witness is not reached, has another secret, or has no records of this run.
pub fn fetch(address: &str, secret: &Secret, run: RunId) -> Result<Vec<Record>, WitnessError> {
    let mut wire = Wire::connect(address, secret)?;
    let mut all = Vec::new();
    loop {
        let from = all.len() as u64;
        match wire.ask(&Message::Fetch { run, from }) {
            Ok(Message::Fetched { records }) => {
                if records.is_empty() {
                    return Ok(all);
                }
                all.extend(records);
            }
            Ok(_) => return Err(WitnessError::Protocol("an unexpected answer")),
            Err(WitnessError::Refused(Refusal::UnknownRun)) => {
                return Err(WitnessError::UnknownRun(run));
            }
            Err(error) => return Err(error),
        }
    }
}

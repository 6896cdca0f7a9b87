//! Reading back what a witness has of a run.

use crate::error::WitnessError;
use crate::message::{Message, Refusal, UnreadRecords};
use crate::record::{Record, RunId};
use crate::secret::Secret;
use crate::wire::Wire;

/// What a witness has of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedRecords {
    /// Its records, in the order in which they were sent.
    pub records: Vec<Record>,
    /// What it has besides and cannot read.
    pub unread: Option<UnreadRecords>,
}

/// Fetches the records of a run from the witness at `address`.
///
/// # Errors
/// If the witness is not reached, has another secret, or has no records of this run.
pub fn fetch(address: &str, secret: &Secret, run: RunId) -> Result<FetchedRecords, WitnessError> {
    let mut wire = Wire::connect(address, secret)?;
    let mut all = Vec::new();
    loop {
        let from = all.len() as u64;
        match wire.ask(&Message::Fetch { run, from }) {
            Ok(Message::Fetched { records }) => {
                if records.is_empty() {
                    return Ok(FetchedRecords {
                        records: all,
                        unread: None,
                    });
                }
                all.extend(records);
            }
            Ok(Message::Unreadable(unread)) => {
                return Ok(FetchedRecords {
                    records: all,
                    unread: Some(unread),
                });
            }
            Ok(_) => return Err(WitnessError::Protocol("an unexpected answer")),
            Err(WitnessError::Refused(Refusal::UnknownRun)) => {
                return Err(WitnessError::UnknownRun(run));
            }
            Err(error) => return Err(error),
        }
    }
}

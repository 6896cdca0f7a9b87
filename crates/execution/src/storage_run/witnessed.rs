//! The connection of a run to its witness.

use std::time::Duration;

use measure::display::number::counted;
use measure::result::{RunResult, WitnessResult};
use measure::units;
use witness::{Client, Delivery, RunId, Sender, WitnessError};

use crate::error::Error;
use crate::options::RunOptions;
use crate::results::sentence;

/// Time for the witness to acknowledge what is left at the end of a run.
const LAST_DELIVERY: Duration = Duration::from_secs(15);

/// A run with its witness, or without one.
pub struct Witnessed(Option<(Client, String)>);

impl Witnessed {
    /// Connects to the witness that the options name.
    ///
    /// # Errors
    /// When it is not reached, or has another secret.
    pub fn begin(options: &RunOptions) -> Result<Self, Error> {
        let Some(wanted) = options.witness.as_ref().filter(|_| !options.build_only) else {
            return Ok(Self(None));
        };
        let client = Client::connect(&wanted.address, &wanted.secret);
        let client = client.map_err(|error| refusal(&error))?;
        Ok(Self(Some((client, wanted.address.clone()))))
    }

    /// Says in the result who the witness is, and by what it knows the run.
    pub fn enter(&self, result: &mut RunResult) {
        result.witness = self.0.as_ref().map(|(client, address)| WitnessResult {
            address: address.clone(),
            run: client.run().to_string(),
            ..WitnessResult::default()
        });
    }

    /// Takes what is acknowledged, from any thread.
    #[must_use]
    pub fn sender(&self) -> Option<Sender> {
        self.0.as_ref().map(|(client, _)| client.sender())
    }

    /// The number by which the witness knows the run.
    #[must_use]
    pub fn run(&self) -> Option<RunId> {
        self.0.as_ref().map(|(client, _)| client.run())
    }

    /// Waits for the last acknowledgements, and says in the result what the witness has.
    pub fn finish(self, result: &mut RunResult) {
        let Some((client, address)) = self.0 else {
            return;
        };
        let run = client.run().to_string();
        let delivery = client.finish(LAST_DELIVERY);
        let (sentence, is_whole) = describe(&delivery, &address);
        match is_whole {
            true => result.notes.push(sentence),
            false => result.warnings.push(sentence),
        }
        result.witness = Some(WitnessResult {
            address,
            run,
            acknowledged: Some(delivery.acknowledged),
            missed: Some(delivery.missed),
            interruptions: Some(delivery.interruptions),
            last_error: delivery.last_error.unwrap_or_default(),
        });
    }
}

/// What the witness has, as a sentence, and whether that is everything.
fn describe(delivery: &Delivery, address: &str) -> (String, bool) {
    let acknowledged = counted(delivery.acknowledged, "transaction");
    let last_error = delivery.last_error.as_deref().unwrap_or_default();
    if delivery.missed == 0 {
        let interrupted = match delivery.interruptions {
            0 => String::new(),
            times => format!(
                " The connection was lost {} and made again ({last_error}).",
                units::count(times, "time")
            ),
        };
        let sentence = format!(
            "The witness at {address} has acknowledged {acknowledged}, all that the databases \
             acknowledged as durable.{interrupted}"
        );
        return (sentence, true);
    }
    let missed = counted(delivery.missed, "transaction");
    let sentence = format!(
        "The witness at {address} has acknowledged {acknowledged} and misses {missed} ({last_error}): an \
         audit covers only what it has acknowledged."
    );
    (sentence, false)
}

/// Why a witness cannot be used, with the remedy.
#[must_use]
pub fn refusal(error: &WitnessError) -> Error {
    let message = sentence(&error.to_string());
    match error {
        WitnessError::ShortSecret { .. } | WitnessError::SecretFile { .. } => Error::usage(
            message,
            "Make one with 'head -c 32 /dev/urandom | base64 > FILE', the same file on both \
             machines.",
        ),
        WitnessError::WrongSecret => {
            Error::environment(message, "Give both sides the same file with --secret-file.")
        }
        WitnessError::UnknownRun(_) => Error::usage(
            message,
            "Name the witness that the run named with --witness, which keeps its records in its \
             --directory.",
        ),
        WitnessError::InUse(_) => Error::environment(
            message,
            "End the other one, or name another directory with --directory.",
        ),
        WitnessError::Listen { .. } => Error::environment(
            message,
            "Name an address of this machine and a free port, such as --listen 0.0.0.0:7411.",
        ),
        WitnessError::Unreachable { .. } | WitnessError::Connection(_) => Error::environment(
            message,
            "See whether 'proofload witness --listen' runs there, and whether a firewall is in \
             between.",
        ),
        _ => Error::environment(message, "See what the witness has printed."),
    }
}

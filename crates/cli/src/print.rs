//! Writing to standard output and standard error.

use std::io::{self, Write};

pub use monitor::notify;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use proofload::Error;
use report::terminal_faults;

/// Prints `text` on standard output.
pub fn print(text: &str) -> Result<ExitStatus, CommandError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CommandError::output(&error))?;
    Ok(ExitStatus::Pass)
}

/// Prints why a command ended, with the remedy; nobody is left to read that the reader has gone.
pub fn error(error: &CommandError) {
    if let CommandError::Refused(error) = error {
        refused(error);
    }
}

fn refused(error: &Error) {
    match error {
        Error::Responses(_) => notify(&format!("proofload: {error}")),
        Error::Point { name, error } => {
            notify(&format!(
                "proofload: the point {name} cannot be predicted; nothing was computed."
            ));
            refused(error);
        }
        Error::Config(error) => terminal_faults(error).iter().for_each(|text| notify(text)),
        Error::Refused(refusal) => {
            notify(&format!("proofload: {refusal}"));
            if !refusal.help.is_empty() {
                notify(&refusal.help);
            }
        }
    }
}

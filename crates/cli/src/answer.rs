//! The answer of a command: what it prints, and the exit status.

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::print::{self, print};

/// Prints what a command has found out. `status` says it too, also when the reader of the output has gone
/// or the output cannot be written; only a success that could not be printed is none.
pub fn print_answer(text: &str, status: ExitStatus) -> Result<ExitStatus, CommandError> {
    match print(text) {
        Ok(_) | Err(CommandError::OutputClosed) => Ok(status),
        Err(error) if status == ExitStatus::Pass => Err(error),
        Err(error) => {
            print::error(&error);
            Ok(status)
        }
    }
}

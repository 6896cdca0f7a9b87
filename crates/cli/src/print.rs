//! Writing to standard output and standard error.

use std::io::{self, Write};

use crate::diagnostics;
use crate::error::CommandError;
use crate::exit::ExitStatus;

/// Prints `text` on standard output.
pub fn print(text: &str) -> Result<ExitStatus, CommandError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| CommandError::output(&error))?;
    Ok(ExitStatus::Pass)
}

/// Prints what a command has found out. `status` says it too, also when the reader of the output has gone
/// or the output cannot be written; only a success that nobody was told of is none.
pub fn print_answer(text: &str, status: ExitStatus) -> Result<ExitStatus, CommandError> {
    match print(text) {
        Ok(_) | Err(CommandError::OutputClosed) => Ok(status),
        Err(error) if status == ExitStatus::Pass => Err(error),
        Err(error) => {
            diagnostics::print(&error);
            Ok(status)
        }
    }
}

/// Prints a line on standard error. Where that cannot be written (a full disk, a reader that left)
/// the line is lost and the work goes on; `eprintln!` would end it.
pub fn notify(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

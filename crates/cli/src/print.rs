//! Writing to standard output and standard error.

use std::io::{self, Write};

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

/// Prints a line on standard error. Where that cannot be written (a full disk, a reader that left)
/// the line is lost and the work goes on; `eprintln!` would end it.
pub fn notify(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

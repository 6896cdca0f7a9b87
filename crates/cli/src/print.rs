//! Writing to standard output and standard error.

use std::io::{self, Write};

pub use monitor::notify;

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

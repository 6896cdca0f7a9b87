//! `proofload attach`: a view of a run of another process.

use monitor::attach::{Seen, attach as show};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::AttachOptions;
use crate::print::print;

/// Shows a run until it ends or somebody leaves.
pub fn attach(options: &AttachOptions) -> Result<ExitStatus, CommandError> {
    let stop = stop_on_signals()?;
    match show(&options.directory, &stop)? {
        Seen::Left => Ok(ExitStatus::Pass),
        Seen::Ended(text) => print(&format!("{text}\n")),
        Seen::State(text) => print(&text),
        Seen::Killed(text) => Err(CommandError::environment(
            text.trim_end(),
            "What was measured is in the run directory: 'proofload report' shows it.",
        )),
    }
}

//! `proofload edb`: looking into database files from outside, and recovering them.

mod check;
mod dump;
mod formats;
mod info;
mod open;
mod recover;

use runtime::{Runtime, UringOptions};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::EdbCommand;

/// Does what the command asks for.
pub fn edb(command: &EdbCommand) -> Result<ExitStatus, CommandError> {
    let runtime = Runtime::wall_clock(&UringOptions::default()).map_err(|error| {
        CommandError::environment(format!("Files cannot be read: {error}."), "")
    })?;
    match command {
        EdbCommand::Info { files, count, json } => info::run(&runtime, files, *count, *json),
        EdbCommand::Check { files, json } => check::run(&runtime, files, *json),
        EdbCommand::Dump(options) => dump::run(&runtime, options),
        EdbCommand::Recover { file, log } => recover::run(&runtime, file, log.as_deref()),
    }
}

//! What ends a command before its work is done.

use std::io;

use config::ConfigError;
use proofload::Error;

/// Why a command ended without a result.
#[derive(Debug)]
pub enum CommandError {
    /// The scenario, the options or the surroundings do not allow it.
    Refused(Error),
    /// The reader of the output has gone, such as a pager that was closed, or `| head`.
    OutputClosed,
}

impl CommandError {
    /// Options that do not fit each other, or name what is not there.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Error::usage(message, help))
    }

    /// Surroundings that do not allow it.
    pub fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Error::environment(message, help))
    }

    /// Damaged data or failing storage.
    pub fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Error::integrity(message, help))
    }

    /// A failed write to standard output.
    pub fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        Self::environment(
            format!("The output could not be written: {error}."),
            "Check where standard output goes to.",
        )
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        Self::Refused(error.into())
    }
}

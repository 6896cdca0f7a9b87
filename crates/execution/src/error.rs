//! Why a scenario cannot be run or predicted.

use std::io;

use config::ConfigError;
use workload::Refusal;

/// Why a scenario ended without a result. Every message is a whole sentence with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed is wrong.
    #[error("{message}")]
    Usage {
        /// What is wrong, as a whole sentence.
        message: String,
        /// What would be right.
        help: String,
    },
    /// The surroundings do not allow it.
    #[error("{message}")]
    Environment {
        /// What is in the way.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// Data is damaged, or storage failed.
    #[error("{message}")]
    Integrity {
        /// What was found, as a whole sentence.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// A profile, an array, a study or a `--set` is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The response times of a replay cannot be written.
    #[error("The responses cannot be written: {0}.")]
    Responses(io::Error),
    /// One point of a sweep is wrong.
    #[error("{name}: {error}")]
    Point {
        /// Name of the point.
        name: String,
        /// What is wrong with it.
        error: Box<Error>,
    },
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::usage(refusal.message, refusal.help)
    }
}

/// What kind of error it is; programs derive their exit status from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The scenario or the command line is wrong; nothing was run.
    Usage,
    /// The surroundings do not allow it: space, permission, unsuitable storage, a missing server.
    Environment,
    /// Data is damaged, or storage failed.
    Integrity,
}

impl Error {
    /// The kind of error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Usage { .. } | Self::Config(_) => ErrorClass::Usage,
            Self::Environment { .. } | Self::Responses(_) => ErrorClass::Environment,
            Self::Integrity { .. } => ErrorClass::Integrity,
            Self::Point { error, .. } => error.class(),
        }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Surroundings that do not allow the run.
    pub fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Environment {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Damaged data or failing storage.
    pub fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Integrity {
            message: message.into(),
            help: help.into(),
        }
    }

    /// Something that is wrong at one point of a sweep. A point without a name needs none.
    pub fn at_point(name: String, error: Self) -> Self {
        if name.is_empty() {
            return error;
        }
        let error = Box::new(error);
        Self::Point { name, error }
    }
}

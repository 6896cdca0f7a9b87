//! Why a scenario cannot be run or predicted.

use std::io;

use config::ConfigError;
use workload::{ErrorClass, Refusal};

/// Why a scenario ended without a result. Every message is a whole sentence with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be done as asked for.
    #[error(transparent)]
    Refused(#[from] Refusal),
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

impl Error {
    /// The kind of error.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Refused(refusal) => refusal.class,
            Self::Config(_) => ErrorClass::Usage,
            Self::Responses(_) => ErrorClass::Environment,
            Self::Point { error, .. } => error.class(),
        }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Refusal::usage(message, help))
    }

    /// Surroundings that do not allow the run.
    pub fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Refusal::environment(message, help))
    }

    /// Damaged data or failing storage.
    pub fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused(Refusal::integrity(message, help))
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

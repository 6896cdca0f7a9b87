//! Why something cannot be done as asked for.

use thiserror::Error;

/// What kind of error it is; programs derive their exit status from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// What was typed or configured is wrong; nothing was run.
    Usage,
    /// The surroundings do not allow it: space, permission, unsuitable storage, a missing server.
    Environment,
    /// Data is damaged, or storage failed.
    Integrity,
}

/// Why something cannot be done as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of error it is.
    pub class: ErrorClass,
    /// What is wrong, as a whole sentence.
    pub message: String,
    /// The remedy, as another; may be empty.
    pub help: String,
}

impl Refusal {
    /// Options, a profile or paths that do not fit each other, or what is there.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of_class(ErrorClass::Usage, message, help)
    }

    /// Surroundings that do not allow it.
    pub fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of_class(ErrorClass::Environment, message, help)
    }

    /// Damaged data or failing storage.
    pub fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::of_class(ErrorClass::Integrity, message, help)
    }

    fn of_class(class: ErrorClass, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            help: help.into(),
        }
    }
}

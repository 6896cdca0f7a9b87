//! Why storage cannot be tested.

use thiserror::Error;

/// Why storage cannot be tested as asked for. The message is a whole sentence; the remedy, another.
#[derive(Debug, Error)]
pub enum StorageError {
    /// The paths or options do not fit each other, or what is there.
    #[error("{message}")]
    Usage {
        /// What is wrong, as a whole sentence.
        message: String,
        /// What would be right.
        help: String,
    },
    /// The storage does not allow it: too little space, no permission, in use, not empty.
    #[error("{message}")]
    Environment {
        /// What is in the way.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// Storage failed, or what is on it is damaged.
    #[error("{message}")]
    Integrity {
        /// What was found, as a whole sentence.
        message: String,
        /// What to do about it.
        help: String,
    },
}

impl StorageError {
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), help.into());
        Self::Usage { message, help }
    }

    pub(crate) fn environment(message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), help.into());
        Self::Environment { message, help }
    }

    pub(crate) fn integrity(message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), help.into());
        Self::Integrity { message, help }
    }
}

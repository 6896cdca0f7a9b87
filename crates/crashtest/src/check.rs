//! What ends a session or a read of the database.

use edb::EngineError;

/// Why work on the database ended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The engine reported an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine showed what it must not show.
    #[error("{0}")]
    Wrong(String),
}

impl Stop {
    pub(crate) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }
}

/// Stops unless something holds.
pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Stop> {
    if holds {
        Ok(())
    } else {
        Err(Stop::wrong(otherwise()))
    }
}

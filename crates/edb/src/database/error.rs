//! What can go wrong.
use thiserror::Error;
/// Why the engine refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// x
    #[error("Another transaction changed the record; roll back and try again.")]
    WriteConflict,
}

//! The log.

mod error;

pub use error::LogError;

//! One database: its file, its log, its tables.

mod error;

pub use error::EngineError;

//! Hashes by which a change of a result or of its samples is found.

use serde::{Deserialize, Serialize};

/// A file of the run directory as it was when the run ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileHash {
    /// Name of the file in the run directory.
    pub file: String,
    /// Length of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 of its contents, as 64 hexadecimal digits.
    pub sha256: String,
}

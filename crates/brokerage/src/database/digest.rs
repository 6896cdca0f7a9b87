//! The rows of a table in two numbers.

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// Rows of the table.
    pub rows: u64,
    /// Sum of the hashes of all rows, as the database prints it.
    pub hash: String,
}

impl TableDigest {
    /// Both, for the table of the seal.
    pub(super) fn value(&self) -> String {
        format!("{} rows, {}", self.rows, self.hash)
    }
}

//! What is wrong with a description, said so that a loader can point at the line.

use std::fmt;

/// One broken rule in a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Dotted path of the key that breaks the rule, as in `hard_disk.heads`.
    pub path: String,
    /// The rule and the remedy, in whole sentences.
    pub message: String,
}

impl Complaint {
    /// A complaint about the key at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

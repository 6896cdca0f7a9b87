//! What is wrong with a description, with the path of the key so that a loader can find its line.

use std::fmt;

/// One broken rule in a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// Dotted path of the key that breaks the rule, as in `hard_disk.heads`.
    pub path: String,
    /// The rule and the remedy, in whole sentences.
    pub message: String,
}

impl BrokenRule {
    /// A rule that the key at `path` breaks.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The settings whose values are out of their declared bounds; paths start with `prefix`, which
    /// may be empty.
    pub(crate) fn out_of_bounds<T: config::Settings>(settings: &T, prefix: &str) -> Vec<Self> {
        let found = config::out_of_bounds(settings).into_iter();
        let dot = if prefix.is_empty() { "" } else { "." };
        found
            .map(|(path, message)| Self::new(format!("{prefix}{dot}{path}"), message))
            .collect()
    }

    /// Several of them as one line of text, for the message of an error.
    pub(crate) fn join(rules: &[Self]) -> String {
        let lines: Vec<String> = rules.iter().map(Self::to_string).collect();
        lines.join(" ")
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

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
        found
            .map(|(path, message)| Self::new(join_path(prefix, &path), message))
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

/// Collects the broken rules of the settings under one path.
pub(crate) struct Checker<'a> {
    /// Empty where the settings are a whole document.
    path: &'a str,
    broken_rules: Vec<BrokenRule>,
}

impl<'a> Checker<'a> {
    /// Begins with what is out of the declared bounds of `settings`.
    pub(crate) fn new<T: config::Settings>(settings: &T, path: &'a str) -> Self {
        Self {
            path,
            broken_rules: BrokenRule::out_of_bounds(settings, path),
        }
    }

    /// Begins without a broken rule.
    pub(crate) fn empty(path: &'a str) -> Self {
        Self {
            path,
            broken_rules: Vec::new(),
        }
    }

    /// Reports that `key` breaks a rule.
    pub(crate) fn add(&mut self, key: &str, message: impl Into<String>) {
        self.add_at(&join_path(self.path, key), message);
    }

    /// Reports that the key at the whole path `path` breaks a rule.
    pub(crate) fn add_at(&mut self, path: &str, message: impl Into<String>) {
        self.broken_rules.push(BrokenRule::new(path, message));
    }

    /// Reports `key` unless the rule `holds`.
    pub(crate) fn require(&mut self, holds: bool, key: &str, message: &str) {
        if !holds {
            self.add(key, message);
        }
    }

    /// Whether no rule is broken so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.broken_rules.is_empty()
    }

    /// Every broken rule, in the order in which they were found.
    pub(crate) fn finish(self) -> Vec<BrokenRule> {
        self.broken_rules
    }
}

/// Joins a path, which may be empty, and a key by a dot.
pub(crate) fn join_path(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

//! What a person is asked who makes a profile of a workload, and what the answers become.

use std::collections::BTreeMap;

/// A question about a workload.
#[derive(Clone, Copy, Debug)]
pub struct SetupQuestion {
    /// Names the answer: the setting that it becomes, unless the workload makes others of it.
    pub key: &'static str,
    /// The question, on one line.
    pub text: &'static str,
    /// The comment beside the setting.
    pub comment: &'static str,
    /// What an answer must be.
    pub kind: SetupKind,
    /// What an empty answer means.
    pub default: SetupDefault,
}

/// What an answer must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupKind {
    /// A whole number above 0.
    Count,
    /// A number, which need not be whole.
    Number,
    /// A size on which depends how much data there are: by default no more than the storage has room for.
    DataSize,
}

/// What an empty answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupDefault {
    /// The setting of this name in the profile that is extended.
    OfProfile,
    /// As many as directories or devices were named.
    Targets,
    /// A number, which need not be whole.
    Count(u32),
}

/// A setting that answers become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupSetting {
    /// Dotted path of the setting, such as `mail.databases`.
    pub path: &'static str,
    /// The value as text, without quotes.
    pub value: String,
    /// Whether it is written in quotes.
    pub is_text: bool,
    /// The comment beside it.
    pub why: String,
}

/// The answers by the keys of their questions, each as text.
pub type SetupAnswers = BTreeMap<&'static str, String>;

impl SetupQuestion {
    /// The answer as the setting that the question is named after; `None` without an answer.
    #[must_use]
    pub fn setting(&self, answers: &SetupAnswers) -> Option<SetupSetting> {
        Some(SetupSetting {
            path: self.key,
            value: answers.get(self.key)?.clone(),
            is_text: self.kind == SetupKind::DataSize,
            why: self.comment.to_owned(),
        })
    }
}

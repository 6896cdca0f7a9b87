//! Pass, fail or open, shown by a word, a sign and a colour together, never by colour alone.

use crate::result::{Check, Verdict};

/// Good, bad, or open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A limit was kept.
    Pass,
    /// A limit was not kept, or something broke.
    Fail,
    /// It could not be judged.
    Open,
}

impl Tone {
    /// The tone of a whole run.
    #[must_use]
    pub fn of_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail | Verdict::Error => Self::Fail,
            Verdict::Inconclusive | Verdict::Interrupted | Verdict::Built => Self::Open,
        }
    }

    /// The tone of one check.
    #[must_use]
    pub fn of_check(check: &Check) -> Self {
        match check.passed {
            Some(true) => Self::Pass,
            Some(false) => Self::Fail,
            None => Self::Open,
        }
    }

    /// The class of the style sheet.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Open => "open",
        }
    }

    /// The word in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Open => "not judged",
        }
    }
}

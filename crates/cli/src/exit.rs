//! The exit status, decided in one place.

use std::process::ExitCode;

use measure::result::Verdict;
use proofload::ErrorClass;

use crate::error::CommandError;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done, and every service level was met.
    Pass,
    /// The run completed, but a service level was not met.
    LevelMissed,
    /// What was typed or configured is wrong; nothing was run.
    Usage,
    /// The surroundings do not allow the run: space, permission, unsuitable storage.
    Environment,
    /// An I/O error, a bad page or a full disk.
    Integrity,
    /// The run says neither yes nor no.
    Inconclusive,
    /// Somebody stopped the run.
    Interrupted,
}

impl ExitStatus {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::LevelMissed => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Integrity => 4,
            Self::Inconclusive => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<Verdict> for ExitStatus {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass | Verdict::Built => Self::Pass,
            Verdict::Fail => Self::LevelMissed,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Interrupted => Self::Interrupted,
            Verdict::Error => Self::Integrity,
        }
    }
}

impl From<&CommandError> for ExitStatus {
    fn from(error: &CommandError) -> Self {
        let CommandError::Refused(error) = error else {
            // A pager that was closed, or `| head`, is not an error.
            return Self::Pass;
        };
        match error.class() {
            ErrorClass::Usage => Self::Usage,
            ErrorClass::Environment => Self::Environment,
            ErrorClass::Integrity => Self::Integrity,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_exits_as_it_says() {
        for verdict in [
            Verdict::Pass,
            Verdict::Built,
            Verdict::Fail,
            Verdict::Inconclusive,
            Verdict::Interrupted,
            Verdict::Error,
        ] {
            assert_eq!(ExitStatus::from(verdict).code(), verdict.exit_status());
        }
    }
}

//! What the pages of one run and the summary of several have in common.

use measure::recompute::Agreement;
use measure::result::{RunResult, Verdict};

use super::{Block, CertifiedRun};
use crate::number::ABSENT;

pub(super) fn heading(text: &str) -> Block {
    Block::Heading(text.to_owned())
}

/// What a run is called whose files were changed after it.
pub(super) const NOT_VERIFIED: &str = "NOT VERIFIED";

/// How bad the answer of a run is; 0 when it has passed and was verified in full.
pub(super) fn rank(one: &CertifiedRun) -> u8 {
    let agreement = one.verified.agreement();
    match one.run.result.verdict {
        _ if agreement == Agreement::None => 5,
        Verdict::Error => 4,
        Verdict::Fail => 3,
        Verdict::Interrupted => 2,
        Verdict::Inconclusive | Verdict::Built => 1,
        Verdict::Pass => u8::from(agreement != Agreement::Whole),
    }
}

/// The tests of a run in words; empty where none are distinguished.
pub(super) fn tests(result: &RunResult) -> String {
    let tests: Vec<&str> = result.tests.iter().map(|test| test.label()).collect();
    tests.join(", ")
}

/// The text, or the sign for nothing.
pub(super) fn or_absent(text: &str) -> &str {
    match text.trim() {
        "" => ABSENT,
        text => text,
    }
}

//! `proofload verify`: the verdict and the hashes of runs, recomputed from what they left.

use measure::recompute::Agreement;

use super::outcome::not_a_run;
use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::VerifyOptions;

/// Verifies each run and prints what came of it. The worst answer is the exit status.
pub fn verify(options: &VerifyOptions) -> Result<ExitStatus, CommandError> {
    let mut status = ExitStatus::Pass;
    let mut answers = String::new();
    for run in &options.runs {
        let verified = report::verify_run(run).map_err(|error| not_a_run(&error))?;
        answers.push_str(&match options.json {
            true => format!("{}\n", report::verification_json(&verified)),
            false => report::verification_text(&verified),
        });
        status = match (verified.agreement(), status) {
            (Agreement::None, _) | (_, ExitStatus::Integrity) => ExitStatus::Integrity,
            (Agreement::Partial, _) | (_, ExitStatus::Inconclusive) => ExitStatus::Inconclusive,
            (Agreement::Whole, status) => status,
        };
    }
    print_answer(&answers, status)
}

//! `proofload doctor --mpi`: what is wrong with a launch.

use std::time::Duration;

use proofload::ranks::{RankError, Severity, examine};
use report::{Style, launch_document, not_launched_document, terminal_document};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::DoctorOptions;
use crate::ranks;

/// How long a rank may be silent while the launch is examined.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Examines the launch; rank 0 prints what was found.
pub fn examine_launch(options: &DoctorOptions) -> Result<ExitStatus, CommandError> {
    let style = Style::of_standard_output();
    let peers = match ranks::join(TIMEOUT) {
        Ok(Some(peers)) => peers,
        Ok(None) => {
            let text = terminal_document(&not_launched_document(), &style);
            return print_answer(&text, ExitStatus::Environment);
        }
        Err(RankError::Elsewhere) => return Ok(ExitStatus::Pass),
        Err(RankError::Error(error)) => return Err(error.into()),
    };
    let storage = proofload::RunOptions {
        on: options.on.clone(),
        log_on: options.log_on.clone(),
        ..proofload::RunOptions::default()
    };
    let found = examine(&peers, options.profile.as_deref(), &storage);
    peers.leave();
    let Some(report) = found else {
        return Ok(ExitStatus::Pass);
    };
    let status = match report
        .findings
        .iter()
        .any(|one| one.severity < Severity::Note)
    {
        true => ExitStatus::Environment,
        false => ExitStatus::Pass,
    };
    print_answer(
        &terminal_document(&launch_document(&report), &style),
        status,
    )
}

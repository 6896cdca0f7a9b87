//! `proofload doctor`: what will distort a test on some places, and what to change.

use std::time::Duration;

use proofload::doctor::{DoctorRequest, examine, json, text};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::DoctorOptions;
use crate::print::notify;

use super::launch::examine_launch;

/// Examines the places, or the launch of several processes, and prints what was found.
pub fn doctor(options: &DoctorOptions) -> Result<ExitStatus, CommandError> {
    if options.mpi {
        return examine_launch(options);
    }
    let request = DoctorRequest {
        places: options.places.clone(),
        watch: Duration::from_secs(u64::from(options.watch)),
    };
    let report = examine(&request, &mut |doing| {
        if !options.quiet {
            notify(doing);
        }
    });
    let status = match report.suitable {
        true => ExitStatus::Pass,
        false => ExitStatus::Environment,
    };
    let answer = match options.json {
        true => json(&report),
        false => text(&report),
    };
    print_answer(&answer, status)
}

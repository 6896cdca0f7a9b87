//! `proofload run`.

use monitor::progress;
use proofload::ranks::alone;
use proofload::run::Prepared;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::outcome::report_outcome;
use super::report::jetstress_report_of;
use super::watched::watched;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::{OutputOptions, RunOptions};
use crate::print::{notify, print};
use crate::ranks;

/// Runs a workload on real storage and prints the verdict.
pub fn run(options: &RunOptions) -> Result<ExitStatus, CommandError> {
    raise_limit_of_open_files();
    match ranks::join(options.rank_timeout()) {
        Ok(None) if options.rank_timeout.is_some() => {
            return Err(CommandError::usage(
                "--rank-timeout is for several processes, and this is the only one.",
                "Leave it out, or launch the processes with mpirun ('proofload doctor --mpi' checks that).",
            ));
        }
        Ok(None) => {}
        joined => return super::ranks::run(options, joined),
    }
    let legacy = options.legacy()?;
    let (scenario, storage) = options.scenario_and_storage(legacy.as_ref())?;
    let storage = alone(&storage);
    let prepared = Prepared::new(&scenario, &storage)?;
    let translation = legacy.map_or_else(String::new, |legacy| legacy.to_string());
    let wanted = options.watch.wanted(options.output.json)?;
    if options.dry_run {
        wanted.check()?;
        return print(&format!("{translation}{}", prepared.describe()?));
    }
    if !translation.is_empty() && !options.output.quiet {
        notify(translation.trim_end());
    }
    if let Some(sample_warning) = prepared.warning().filter(|_| !options.output.quiet) {
        notify(sample_warning.trim_end());
    }
    if !options.output.quiet {
        notify(prepared.schedule()?.trim_end());
    }
    let workload = match &storage.resume {
        Some(run) => &run.result.workload.name,
        None => &options.workload,
    };
    let stop = stop_on_signals()?;
    let OutputOptions { json, quiet, .. } = options.output;
    let outcome = watched(
        &wanted,
        (workload, &options.storage_name(&storage)),
        quiet,
        || progress::view(quiet),
        |observer| prepared.run(observer, &stop),
    )?;
    let status = report_outcome(&outcome, json, quiet || options.watch.events.to_output())?;
    if options.jetstress_report {
        jetstress_report_of(&outcome, quiet);
    }
    Ok(status)
}

/// Lets the process open as many files as it is allowed to. Each file of a database takes two
/// descriptors, one of them for its lock, and the usual limit of 1,024 is meant for programs that use
/// `select`, which this one does not.
fn raise_limit_of_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || limit.maximum.is_none() {
        // Where it is refused, the lower limit stays.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: limit.maximum,
                maximum: limit.maximum,
            },
        );
    }
}

//! `proofload run`.

use proofload::run::Prepared;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::outcome::report_outcome;
use super::watched::watched;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::{OutputOptions, RunOptions};
use crate::print::{notify, print};
use crate::ranks;

/// Runs a workload on real storage and prints the verdict.
pub fn run(options: &RunOptions) -> Result<ExitStatus, CommandError> {
    raise_limit_of_open_files();
    match ranks::join(options.rank_timeout()) {
        Ok(None) => {}
        joined => return super::ranks::run(options, joined),
    }
    let scenario = options.scenario()?;
    let prepared = Prepared::new(&scenario, &options.storage(&scenario)?)?;
    if options.dry_run {
        return print(&prepared.describe()?);
    }
    if let Some(sample_warning) = prepared.sample_warning().filter(|_| !options.output.quiet) {
        notify(sample_warning.trim_end());
    }
    if !options.output.quiet {
        notify(prepared.schedule()?.trim_end());
    }
    let stop = stop_on_signals()?;
    let OutputOptions { json, quiet, .. } = options.output;
    let outcome = watched(
        &options.watch.wanted(json)?,
        (&options.workload, &options.storage_name()),
        quiet,
        || live::view(quiet),
        |observer| prepared.run(observer, &stop),
    )?;
    report_outcome(&outcome, json, quiet || options.watch.events.to_output())
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

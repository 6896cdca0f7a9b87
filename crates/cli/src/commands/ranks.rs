//! `proofload run` as one of several ranks. Rank 0 prints for all.

use measure::result::RunResult;
use monitor::progress;
use proofload::ranks::{Peers, Prepared, RankError};
use proofload::{ErrorClass, Outcome, StopRequest};

use super::outcome::report_outcome;
use super::report::jetstress_report_of;
use super::watched::open;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::RunOptions;
use crate::print::{notify, print};

/// Reports of single ranks that are written; of more ranks, 'proofload report' makes each when it is wanted.
const MOST_REPORTS: usize = 64;

/// Runs the part of this rank. The exit status of rank 0 is that of the run; the others end with 0, so that
/// the launcher passes it on.
pub fn run(
    options: &RunOptions,
    joined: Result<Option<Peers>, RankError>,
) -> Result<ExitStatus, CommandError> {
    let peers = match joined {
        Ok(Some(peers)) => peers,
        Ok(None) | Err(RankError::Elsewhere) => return Ok(ExitStatus::Pass),
        Err(RankError::Error(error)) => return Err(error.into()),
    };
    let is_first = peers.is_first();
    match part(options, peers) {
        Err(RankError::Elsewhere) => Ok(ExitStatus::Pass),
        // The same options are wrong on all ranks.
        Err(RankError::Error(error)) if !is_first && error.class() == ErrorClass::Usage => {
            Ok(ExitStatus::Pass)
        }
        Err(RankError::Error(error)) => Err(error.into()),
        Ok(ended) => ended,
    }
}

fn part(options: &RunOptions, peers: Peers) -> Result<Result<ExitStatus, CommandError>, RankError> {
    let legacy = options.legacy()?;
    let (scenario, storage) = options.scenario_and_storage(legacy.as_ref())?;
    let prepared = Prepared::new(peers, &scenario, &storage)?;
    let quiet = options.output.quiet || !prepared.is_first();
    if options.dry_run {
        if !prepared.is_first() {
            return Err(RankError::Elsewhere);
        }
        options.watch.wanted(options.output.json)?.check()?;
        return Ok(print(&prepared.describe()));
    }
    if !quiet {
        prepared
            .doubts()
            .iter()
            .for_each(|text| notify(&format!("Warning: {text}")));
        prepared
            .warning()
            .iter()
            .for_each(|text| notify(text.trim_end()));
        notify(prepared.schedule()?.trim_end());
    }
    let stop = match stop_on_signals() {
        Ok(stop) => stop,
        Err(error) => return Ok(Err(error)),
    };
    let outcome = match watched_part(
        options,
        &options.storage_name(&storage),
        prepared,
        quiet,
        &stop,
    ) {
        Ok(done) => done?,
        Err(error) => return Ok(Err(error)),
    };
    report_ranks(&outcome.result, outcome.directory.as_deref());
    let ended = report_outcome(
        &outcome,
        options.output.json,
        options.output.quiet || options.watch.events.to_output(),
    );
    if options.jetstress_report && ended.is_ok() {
        jetstress_report_of(&outcome, quiet);
    }
    Ok(ended)
}

/// Runs the part. What others see of the run meanwhile is that of rank 0.
fn watched_part(
    options: &RunOptions,
    storage_name: &str,
    prepared: Prepared,
    quiet: bool,
    stop: &StopRequest,
) -> Result<Result<Outcome, RankError>, CommandError> {
    if !prepared.is_first() {
        return Ok(prepared.run(progress::view(true), stop));
    }
    let wanted = options.watch.wanted(options.output.json)?;
    let monitors = open(&wanted, (&options.workload, storage_name), quiet)?;
    let done = prepared.run(monitors.observer(|| progress::view(quiet)), stop);
    let trouble = match &done {
        Ok(outcome) => monitors.finish(&outcome.result),
        Err(RankError::Error(error)) => monitors.fail(error),
        Err(RankError::Elsewhere) => None,
    };
    if let Some(text) = trouble {
        notify(&text);
    }
    Ok(done)
}

/// Writes the report of each rank beside its results.
fn report_ranks(result: &RunResult, directory: Option<&std::path::Path>) {
    let Some(directory) = directory.filter(|_| result.ranks.len() <= MOST_REPORTS) else {
        return;
    };
    for rank in result
        .ranks
        .iter()
        .filter(|rank| !rank.directory.is_empty())
    {
        if let Err(error) = report::write_report(&directory.join(&rank.directory)) {
            notify(&error.to_string());
        }
    }
}

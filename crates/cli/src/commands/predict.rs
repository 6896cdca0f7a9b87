//! `proofload predict`: a prediction, many of them, or the replay of a trace.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use monitor::progress;
use proofload::{Error, Scenario, predict, replay};

use super::outcome::report_outcome;
use super::sweep::sweep;
use super::watched::watched;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::{OutputOptions, PredictOptions};
use crate::print::{notify, print};
use proofload::new_file::{check_new, open_new, refused};

/// What stands for standard output among file names.
const OUTPUT: &str = "-";

/// Predicts how a workload would run and prints what comes out.
pub fn predict(options: &PredictOptions) -> Result<ExitStatus, CommandError> {
    let scenario = options.scenario()?;
    if replay::is_trace(&scenario) {
        return replay(&scenario, options);
    }
    if options.responses.is_some() {
        return Err(CommandError::usage(
            "--responses belongs to a block trace, and this is a workload.",
            "Leave it out, or name a trace in place of the workload.",
        ));
    }
    if !options.sweep.is_empty() || options.find.is_some() {
        return sweep(&scenario, options);
    }
    let prepared = predict::Prepared::new(&scenario)?;
    let wanted = options.events.wanted(options.output.json)?;
    if options.dry_run {
        wanted.check()?;
        return print(&prepared.describe());
    }
    if !options.output.quiet {
        prepared.notes().for_each(notify);
        if let Some(sample_warning) = prepared.warning() {
            notify(sample_warning.trim_end());
        }
    }
    let stop = stop_on_signals()?;
    let OutputOptions { json, quiet, .. } = options.output;
    let outcome = watched(
        &wanted,
        (&scenario.workload, &options.array),
        quiet,
        || progress::simulated_view(quiet),
        |observer| prepared.run(observer, &stop),
    )?;
    report_outcome(&outcome, json, quiet || options.events.to_output())
}

/// Replays a trace and prints what comes out.
fn replay(scenario: &Scenario, options: &PredictOptions) -> Result<ExitStatus, CommandError> {
    if !options.sweep.is_empty() || options.find.is_some() {
        return Err(CommandError::usage(
            "--sweep and --find vary a workload, and a block trace is what it is.",
            "Replay it once on each array.",
        ));
    }
    if options.until.is_some() {
        return Err(CommandError::usage(
            "--until ends a workload early, and a block trace is replayed to its end.",
            "Leave it out, or replay a shorter part with --duration.",
        ));
    }
    let prepared = replay::Prepared::new(scenario)?;
    let path = options.responses.as_deref();
    let OutputOptions { json, quiet, .. } = options.output;
    let has_output = json || path == Some(Path::new(OUTPUT));
    let wanted = options.events.wanted(has_output)?;
    if options.dry_run {
        path.map_or(Ok(()), |path| check_new(path, "--responses"))?;
        wanted.check()?;
        return print(&prepared.describe());
    }
    if !options.output.quiet {
        prepared.notes().for_each(notify);
    }
    let stop = stop_on_signals()?;
    let responses = path.map(open_responses).transpose()?;
    let outcome = watched(
        &wanted,
        (&scenario.workload, &options.array),
        quiet,
        || progress::view(quiet),
        |observer| prepared.run(responses, observer, &stop),
    )
    .map_err(|error| match (error, path) {
        (CommandError::Refused(Error::Responses(error)), Some(path)) => unwritable(path, &error),
        (error, _) => error,
    })?;
    if path == Some(Path::new(OUTPUT)) || options.events.to_output() {
        // The rows are what was asked for; tables between them would spoil them.
        return Ok(ExitStatus::from(outcome.result.verdict));
    }
    report_outcome(&outcome, json, quiet)
}

/// Opens the file of `--responses`, so that what can fail fails before the replay.
fn open_responses(path: &Path) -> Result<Box<dyn Write>, CommandError> {
    if path == Path::new(OUTPUT) {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = open_new(path, "--responses")?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    match path == Path::new(OUTPUT) {
        true => CommandError::output(error),
        false => refused(path, "--responses", error).into(),
    }
}

//! `proofload predict`: a prediction, many of them, or the replay of a trace.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use proofload::{Error, Scenario, predict, replay};

use super::run::report_outcome;
use super::sweep::sweep;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::PredictOptions;
use crate::print::{notify, print};

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
    if options.dry_run {
        return print(&prepared.describe());
    }
    if !options.output.quiet {
        prepared.notes().for_each(notify);
        if let Some(sample_warning) = prepared.sample_warning() {
            notify(sample_warning.trim_end());
        }
    }
    let stop = stop_on_signals()?;
    let outcome = prepared.run(live::simulated_view(options.output.quiet), &stop)?;
    report_outcome(&outcome, options.output.json, options.output.quiet)
}

/// Replays a trace and prints what comes out.
fn replay(scenario: &Scenario, options: &PredictOptions) -> Result<ExitStatus, CommandError> {
    if !options.sweep.is_empty() || options.find.is_some() {
        return Err(CommandError::usage(
            "--sweep and --find vary a workload, and a block trace is what it is.",
            "Replay it once on each array.",
        ));
    }
    let prepared = replay::Prepared::new(scenario)?;
    if options.dry_run {
        return print(&prepared.describe());
    }
    if !options.output.quiet {
        prepared.notes().for_each(notify);
    }
    let stop = stop_on_signals()?;
    let path = options.responses.as_deref();
    let responses = path.map(open_responses).transpose()?;
    let outcome = prepared
        .run(responses, live::view(options.output.quiet), &stop)
        .map_err(|error| match (error, path) {
            (Error::Responses(error), Some(path)) => unwritable(path, &error),
            (error, _) => error.into(),
        })?;
    if path == Some(Path::new(OUTPUT)) {
        // The rows are what was asked for; tables between them would spoil them.
        return Ok(ExitStatus::from(outcome.result.verdict));
    }
    report_outcome(&outcome, options.output.json, options.output.quiet)
}

/// Opens the file of `--responses`, so that what can fail fails before the replay.
fn open_responses(path: &Path) -> Result<Box<dyn Write>, CommandError> {
    if path == Path::new(OUTPUT) {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    if path == Path::new(OUTPUT) {
        return CommandError::output(error);
    }
    CommandError::environment(
        format!(
            "The responses {} cannot be written: {error}.",
            path.display()
        ),
        "Name another file with --responses.",
    )
}

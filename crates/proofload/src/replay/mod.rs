//! `proofload predict TRACE`: a block trace replayed on a modelled array or a modelled disk.
//!
//! - [`plan`]: everything that can be wrong is found before the clock starts: the trace is read
//!   once through, the array is written out with a volume for each of the trace's; [`on_what`] says
//!   what array or disk that is.
//! - [`line`]: the requests and when they are due: by their arrivals, or as clients of a closed
//!   loop get to them.
//! - [`drive`]: the clock: requests go in, their ends come out.
//! - [`record`]: what is counted of them, shown and kept; [`responses`]: one row of each.
//! - [`outcome`]: the result document; [`describe`]: the plan in words.

mod describe;
mod drive;
mod line;
mod on_what;
mod outcome;
mod plan;
mod record;
mod responses;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use jiff::Timestamp;
use measure::run_directory::RunDirectory;
use workload::profile::bundled;
use workload::trace::{TraceFormat, recognise};

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::run::{self, results};
use crate::{interrupt, live, workloads};

use plan::Plan;
use record::Record;
use responses::Responses;

/// So much of a file tells its format.
const BEGIN_BYTES: u64 = 4096;

/// Names that traces have, so that a damaged one is not taken for a profile.
const EXTENSIONS: [&str; 6] = ["csv", "log", "iolog", "blkparse", "trace", "txt"];

/// Whether what is to be predicted is a trace: a file that looks like one, is called like one, or
/// is said to be one.
pub fn is_trace(options: &PredictOptions) -> bool {
    let name = &options.workload;
    let path = Path::new(name);
    if bundled(name).is_some() || !path.is_file() {
        return false;
    }
    let sets_format = |text: &String| text.trim_start().starts_with("trace.format=");
    let extension = path.extension().and_then(|extension| extension.to_str());
    let called = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
    called || options.set.iter().any(sets_format) || format_of(path).is_some()
}

/// The format that a file looks like.
fn format_of(path: &Path) -> Option<TraceFormat> {
    let mut begin = Vec::new();
    let file = File::open(path).ok()?;
    file.take(BEGIN_BYTES).read_to_end(&mut begin).ok()?;
    recognise(&String::from_utf8_lossy(&begin))
}

/// Replays a trace and says what came out.
pub fn replay(options: &PredictOptions) -> Result<ExitStatus, Failure> {
    let as_run = options.as_run();
    let plan = Plan::new(options)?;
    results::check(&as_run)?;
    if options.dry_run {
        return print(&describe::describe(options, &plan));
    }
    if !options.quiet {
        plan.notes().for_each(|note| tell!("{note}"));
    }
    let started = Timestamp::now();
    let responses = Responses::open(options.responses.as_deref(), plan.survey.measured > 0)?;
    let directory = outcome::open(options, &plan, started)?;
    let path = directory.path().to_owned();
    let result = replay_into(options, &plan, started, directory, responses)?;
    if options.responses.as_deref() == Some(Path::new("-")) {
        // The rows are what was asked for; tables between them would spoil them.
        return Ok(ExitStatus::from(result.verdict));
    }
    run::tell(&as_run, &result, &path, "")?;
    Ok(ExitStatus::from(result.verdict))
}

fn replay_into(
    options: &PredictOptions,
    plan: &Plan,
    started: Timestamp,
    directory: RunDirectory,
    responses: Responses,
) -> Result<measure::result::RunResult, Failure> {
    let base = outcome::base(options, plan, started);
    results::begin(&directory, &base)?;
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let view = live::view(options.quiet);
    let recorder = run::Recorder::new(view, directory, stop.clone()).sparing();
    let mut record = Record::new(plan, base, recorder, responses);
    let reader = plan.reader()?;
    let ended = drive::drive(plan, reader, &mut record, &stop)?;
    let result = record.finish(ended)?;
    Ok(result)
}

/// A trace opened for reading.
type TraceFile = BufReader<File>;

/// Opens a trace.
fn open_trace(path: &Path) -> Result<TraceFile, Failure> {
    let file = File::open(path).map_err(|error| {
        Failure::usage(
            format!("The trace {} cannot be read: {error}.", path.display()),
            "Give the path of a readable file.",
        )
    })?;
    Ok(BufReader::with_capacity(1 << 18, file))
}

/// The trace's name without directory and extension.
fn short_name(options: &PredictOptions) -> String {
    workloads::short_name(&options.workload)
}

//! `proofload predict TRACE`: a block trace replayed on a modelled array or a modelled disk.
//!
//! - [`plan`]: everything that can be wrong is found before the clock starts: the trace is read
//!   once through, the array is written out with a volume for each of the trace's; [`array_of_trace`] says
//!   what array or disk that is.
//! - [`arrivals`]: the requests and when they are due: by their arrivals, or as clients of a closed
//!   loop get to them.
//! - [`drive`]: the clock: requests go in, their ends come out.
//! - [`record`]: what is counted of them, shown and kept; [`responses`]: one row of each.
//! - [`outcome`]: the result document; [`describe`]: the plan in words.

pub(crate) mod array_of_trace;
mod arrivals;
mod describe;
mod drive;

mod outcome;
mod plan;
mod record;
mod responses;

use std::io::{BufReader, Read, Write};
use std::path::Path;

use measure::result::RunResult;
use trace::{TraceFormat, recognise};
use workload::progress::StopRequest;

use crate::error_bars::ParameterSets;
use crate::files::Files;
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::workers;
use execution::Error;
use execution::Outcome;
use execution::clock;
use execution::events::{Observer, ignore};
use execution::recorder::Recorder;
use execution::results;

#[cfg(feature = "host")]
pub(crate) use outcome::{array_place, volume_row};
use plan::Plan;
use record::Record;
use responses::Responses;

/// So much of a file shows its format.
const BEGIN_BYTES: u64 = 4096;

/// Names that traces have, so that a damaged one is not taken for a profile.
const EXTENSIONS: [&str; 6] = ["csv", "log", "iolog", "blkparse", "trace", "txt"];

/// Whether what is to be predicted is a trace: a file that looks like one, is called like one, or
/// is said to be one.
pub fn is_trace(scenario: &Scenario) -> bool {
    let name = &scenario.workload;
    let path = Path::new(name);
    if scenario.registry.bundled(name).is_some() || !scenario.files.has(path) {
        return false;
    }
    let sets_format = |setting: &Setting| setting.trace_key() == Some("format");
    let extension = path.extension().and_then(|extension| extension.to_str());
    let called = extension.is_some_and(|extension| EXTENSIONS.contains(&extension));
    called
        || scenario.settings.iter().any(sets_format)
        || format_of(&scenario.files, path).is_some()
}

/// The format that a file looks like.
fn format_of(files: &Files, path: &Path) -> Option<TraceFormat> {
    let mut begin = Vec::new();
    let file = files.open(path).ok()?;
    file.take(BEGIN_BYTES).read_to_end(&mut begin).ok()?;
    recognise(&String::from_utf8_lossy(&begin))
}

/// A replay that can begin.
pub struct Prepared {
    plan: Plan,
    scenario: Scenario,
}

impl Prepared {
    /// Reads the trace once through and checks everything. Writes nothing.
    ///
    /// # Errors
    /// The first fault of the trace, of its settings or of the array, and a directory for the
    /// results that is not vacant.
    pub fn new(scenario: &Scenario) -> Result<Self, Error> {
        let plan = Plan::new(scenario)?;
        if let Some(sets) = ParameterSets::of(scenario, &plan.description) {
            sets.check(|one| array_of_trace::describe_array(one).map(drop))?;
        }
        results::check(&scenario.output)?;
        let scenario = scenario.clone();
        Ok(Self { plan, scenario })
    }

    /// The replay as text.
    #[must_use]
    pub fn describe(&self) -> String {
        describe::describe(&self.scenario, &self.plan)
    }

    /// What there is to know of the plan before it is computed.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.plan.notes()
    }

    /// Replays the trace to its end, or until somebody asks it to `stop`. One row for each request
    /// goes to `responses`, in the order of the trace.
    ///
    /// # Errors
    /// When the trace cannot be read or the results cannot be written.
    pub fn run(
        self,
        responses: Option<Box<dyn Write>>,
        observer: Box<dyn Observer>,
        stop: &StopRequest,
    ) -> Result<Outcome, Error> {
        let Self { plan, scenario } = self;
        let started = clock::timestamp();
        let responses = Responses::begin(responses, plan.survey.measured > 0)?;
        let directory = outcome::open(&scenario, &plan, started)?;
        let path = directory
            .as_ref()
            .map(|directory| directory.path().to_owned());
        let base = outcome::base(&scenario, &plan, started);
        results::begin(directory.as_ref(), &base)?;
        let recorder = Recorder::new(observer, directory, stop.clone()).sparing();
        let mut record = Record::new(&plan, base, recorder, responses);
        let reader = plan.reader()?;
        let ended = drive::drive(&plan, reader, &mut record, stop)?;
        let sets = ParameterSets::of(&scenario, &plan.description);
        let bars = |result: &mut RunResult, recorder: &mut Recorder| {
            let one = |scenario: &Scenario| replayed(scenario, stop);
            sets.map_or(Ok(()), |sets| {
                sets.enter(result, workers::cpus(), stop, recorder, one)
            })
        };
        Ok(Outcome {
            result: record.finish(ended, bars)?,
            directory: path,
            unwritten: None,
            storage: None,
        })
    }
}

/// Replays with one parameter set of a calibrated array: nobody watches, and nothing is written.
fn replayed(scenario: &Scenario, stop: &StopRequest) -> Result<RunResult, Error> {
    let plan = Plan::new(scenario)?;
    let responses = Responses::begin(None, plan.survey.measured > 0)?;
    let base = outcome::base(scenario, &plan, clock::timestamp());
    let recorder = Recorder::new(ignore(), None, stop.clone()).sparing();
    let mut record = Record::new(&plan, base, recorder, responses);
    let ended = drive::drive(&plan, plan.reader()?, &mut record, stop)?;
    record.finish(ended, |_, _| Ok(()))
}

impl Scenario {
    /// Replays the block trace on the array, without an observer.
    ///
    /// # Errors
    /// Every fault of the trace, of its settings or of the array; when results cannot be written.
    pub fn replay(&self) -> Result<Outcome, Error> {
        Prepared::new(self)?.run(None, ignore(), &StopRequest::new())
    }
}

/// A trace opened for reading.
type TraceFile = BufReader<Box<dyn Read>>;

/// Opens a trace: a file in memory, or one of the file system.
fn open_trace(files: &Files, path: &Path) -> Result<TraceFile, Error> {
    let file = files.open(path).map_err(|error| {
        Error::usage(
            format!("The trace {} cannot be read: {error}.", path.display()),
            "Give the path of a readable file.",
        )
    })?;
    Ok(BufReader::with_capacity(1 << 18, file))
}

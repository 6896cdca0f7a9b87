//! Models of storage that fit what was measured on it: by fio, or (with `host`) by tests of our own on a directory
//! or block device (`PreparedTests`).
//!
//! A model begins with the class of the disk, a built-in one or a file; the numbers of its sheet that may be
//! fitted ([`calibrate::parameters`]) are changed until the model does what the storage did.

#[cfg(feature = "host")]
mod about;
#[cfg(feature = "host")]
mod class;
#[cfg(feature = "host")]
mod lay_out;
#[cfg(feature = "host")]
mod probing;
#[cfg(feature = "host")]
mod target;
#[cfg(feature = "host")]
mod testing;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use array::description::{Description, TracedVolume, describes_disk, one_disk_of_file};
use array::disk::{DiskDescription, bundled_disk};
use calibrate::parameters::{Parameter, Writes};
use calibrate::search::SearchSettings;
use calibrate::{Calibration, CalibrationError, Calibrator, Measured, Progress, fio, parameters};
use config::{Source, Value};
use execution::Error;
use measure::display::number::percent;

use crate::files::Files;
use crate::nearest::nearest;
use crate::workers::cpus;

pub use calibrate::misfit::Quantity;
pub use calibrate::saved::to_json as saved_tests;
pub use calibrate::{Fitted, Part};

#[cfg(feature = "host")]
pub use self::{
    target::{PreparedTests, TEST_TIME, TargetRequest, Tested},
    testing::Doing,
};
#[cfg(feature = "host")]
pub use ::storage::ProbeAccess;

/// Parameter sets that are tried where no other number is given: enough for a disk.
pub const PARAMETER_SETS: usize = 1_440;

/// Members of the population that looks for them.
const POPULATION: usize = 24;

/// Requests of a job that say enough of it while parameters are searched.
const REQUESTS: usize = 2_000;

/// What is to be calibrated.
#[derive(Debug, Clone)]
pub struct CalibrationRequest {
    /// The class to begin with: a built-in disk, or a file that describes one.
    pub class: String,
    /// Results of fio: files, and directories of files whose names end in .json. Empty where the tests are made
    /// here.
    pub results: Vec<PathBuf>,
    /// Parameter sets to be tried.
    pub parameter_sets: usize,
    /// Seed of all that is random.
    pub seed: u64,
}

/// A calibration that can begin.
#[derive(Debug)]
pub struct Prepared {
    class: String,
    sources: Vec<Source>,
    parameters: Vec<Parameter>,
    probes: Vec<Measured>,
    search: SearchSettings,
    /// Where the tests come from, as comments before the array; may be empty.
    about: String,
}

/// A model whose parameters were fitted to measurements.
#[derive(Debug)]
pub struct Calibrated {
    /// The class it began with.
    pub class: String,
    /// The measured tests, as a model is fitted to them.
    pub probes: Vec<Measured>,
    /// The parameter sets, and how far they are from each probe.
    pub calibration: Calibration,
    /// The array as TOML, with the best parameter set.
    pub toml: String,
}

/// From this mean error of the fitted tests on the class is no description of what was measured.
const UNLIKE_FRACTION: f64 = 0.5;

impl Calibrated {
    /// That the class does not describe what was measured, as sentences; `None` when it does.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let error = |quantity| self.calibration.mean_error(Part::Fitted, quantity);
        let errors = [Quantity::Throughput, Quantity::MeanLatency].map(error);
        let worst = errors.into_iter().flatten().fold(0.0, f64::max);
        (worst >= UNLIKE_FRACTION).then(|| {
            format!(
                "Warning: {} does not describe this storage: even the fitted tests are off by {} % on average. \
                 Predictions with this model mean little; take another class with --like ('proofload list disks').",
                self.class,
                percent(worst)
            )
        })
    }
}

impl Prepared {
    /// Reads the class and the results.
    ///
    /// # Errors
    /// What cannot be read, is no result of fio, or has nothing to be fitted.
    pub fn new(request: &CalibrationRequest) -> Result<Self, Error> {
        // A wrong class is found before what was measured.
        sources_of(&request.class)?;
        let mut probes = Vec::new();
        for path in files(&request.results)? {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = Files::default()
                .read_text(&path)
                .map_err(|error| unreadable(&path, &error))?;
            let found = fio::read(&name, &text).map_err(|error| {
                Error::usage(
                    format!("{}: {error}", path.display()),
                    "Name results of 'fio --output-format=json', or directories of them.",
                )
            })?;
            probes.extend(found);
        }
        Self::of_tests(request, probes, String::new())
    }

    /// Reads the class, for tests that were made here; `about` are comments on them, whole lines.
    ///
    /// # Errors
    /// A class that cannot be read or has nothing to be fitted, and too few tests.
    pub fn of_tests(
        request: &CalibrationRequest,
        probes: Vec<Measured>,
        about: String,
    ) -> Result<Self, Error> {
        let sources = sources_of(&request.class)?;
        let (name, disk) = disk_of(&sources)?;
        let writes = Writes::of(probes.iter().map(|one| &one.probe));
        let parameters = parameters::of_disk(&name, &disk, writes);
        let prepared = Self {
            class: request.class.clone(),
            sources,
            parameters,
            probes,
            search: search(request),
            about,
        };
        prepared.calibrator().check().map_err(refusal)?;
        Ok(prepared)
    }

    /// The plan in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let parts = self.calibrator().parts();
        let count = |wanted: Part| parts.iter().filter(|part| **part == wanted).count();
        format!(
            "Plan:\n  class: {}, {} parameters\n  tests: {}\n    fitted: {}\n    held out, to judge the \
             model: {}\n    of several jobs or too long to be fitted, judge it, too: {}\n  search: {} parameter \
             sets, {} at a time; some minutes\n",
            self.class,
            self.parameters.len(),
            self.probes.len(),
            count(Part::Fitted),
            count(Part::HeldOut),
            count(Part::NotFitted),
            self.search.population * (self.search.cooling + self.search.sampling),
            self.search.threads,
        )
    }

    /// Looks for the parameters. `progress` is called after every step.
    ///
    /// # Errors
    /// A class that makes no model of which the tests could run.
    pub fn run(self, progress: &mut dyn FnMut(Progress)) -> Result<Calibrated, Error> {
        let calibration = self.calibrator().calibrate(progress).map_err(refusal)?;
        let toml = format!("{}{}", self.about, self.toml(&calibration)?);
        Ok(Calibrated {
            class: self.class,
            probes: self.probes,
            calibration,
            toml,
        })
    }

    fn calibrator(&self) -> Calibrator<'_> {
        Calibrator {
            sources: self.sources.clone(),
            parameters: self.parameters.clone(),
            probes: &self.probes,
            requests: REQUESTS,
            search: self.search,
        }
    }

    /// The table `[calibration]`: the other parameter sets, and the errors of the tests that took no part.
    fn left_open(&self, calibration: &Calibration) -> Vec<Source> {
        let sets = calibration.ensemble.iter();
        let sets: Vec<_> = sets
            .map(|values| parameters::settings(&self.parameters, values))
            .collect();
        let paths = sets.first().into_iter().flatten();
        let paths = paths.map(|(path, _)| Value::Text(path.clone())).collect();
        let sets = sets.into_iter().map(|set| {
            let values = set.into_iter().map(|(_, value)| Value::Number(value));
            Value::List(values.collect())
        });
        let ratios = Ratios::of(calibration);
        let numbers = |ratios: Vec<f64>| {
            // A test that was missed by more says that the model is another one.
            let ratios = ratios.into_iter().map(|ratio| ratio.clamp(1e-3, 1e3));
            let rounded = ratios.map(|ratio| (ratio * 1e4).round() / 1e4);
            Value::List(rounded.map(Value::Number).collect())
        };
        let tables = [
            ("parameters", Value::List(paths)),
            ("sets", Value::List(sets.collect())),
            ("rate_ratios", numbers(ratios.rates)),
            ("latency_ratios", numbers(ratios.latencies)),
            ("p99_ratios", numbers(ratios.p99)),
        ];
        let assignment = |(key, value): (&str, Value)| {
            Source::value(
                "calibration",
                &format!("calibration.{key}"),
                &value.literal(),
            )
        };
        tables.into_iter().map(assignment).collect()
    }

    /// The array with the best parameter set, after what is known of each parameter.
    fn toml(&self, calibration: &Calibration) -> Result<String, Error> {
        let fitted = calibration.parameters.iter();
        let best: Vec<f64> = fitted.map(|fitted| fitted.best).collect();
        let mut sources = self.sources.clone();
        sources.extend(parameters::assignments(&self.parameters, &best));
        let mut text = format!(
            "# Calibrated by proofload {} from the class {}, by {} tests.\n#\n\
             # Of each parameter the best value; between the other two lie 90 % of the values that explain the\n\
             # tests. One that was not identified keeps its value by chance: other tests would show it.\n",
            env!("CARGO_PKG_VERSION"),
            self.class,
            self.probes.len(),
        );
        for fitted in &calibration.parameters {
            let parameter = &fitted.parameter;
            let shown = |value| parameter.rounded(value);
            let unknown = match fitted.is_identified {
                true => "",
                false => ", not identified",
            };
            let _ = writeln!(
                text,
                "# {}: {} ({} to {}{unknown})",
                parameter.name(),
                shown(fitted.best),
                shown(fitted.bounds.0),
                shown(fitted.bounds.1),
            );
        }
        text.push('\n');
        sources.extend(self.left_open(calibration));
        text.push_str(&Description::load(&sources)?.to_toml());
        Ok(text)
    }
}

/// Measured over modelled, of the tests that took no part in the fit.
#[derive(Default)]
struct Ratios {
    rates: Vec<f64>,
    latencies: Vec<f64>,
    p99: Vec<f64>,
}

impl Ratios {
    fn of(calibration: &Calibration) -> Self {
        let mut ratios = Self::default();
        let judges = calibration.judged.iter();
        let judges = judges.filter(|judged| judged.part != Part::Fitted);
        for deviation in judges.flat_map(|judged| &judged.deviations) {
            let ratio = deviation.measured / deviation.modelled;
            match deviation.quantity {
                // So many requests at once take so much longer as there are fewer of them a second.
                Quantity::Throughput => {
                    ratios.rates.push(ratio);
                    ratios.latencies.push(1.0 / ratio);
                }
                Quantity::MeanLatency => ratios.latencies.push(ratio),
                Quantity::P99Latency => ratios.p99.push(ratio),
            }
        }
        ratios
    }
}

/// Half of the parameter sets are tried on the way to those that fit, half to find out how far those reach.
fn search(request: &CalibrationRequest) -> SearchSettings {
    let steps = (request.parameter_sets / POPULATION / 2).max(1);
    SearchSettings {
        population: POPULATION,
        cooling: steps,
        sampling: steps,
        threads: cpus(),
        seed: request.seed,
    }
}

/// The array that is one disk of this class, described in full.
fn sources_of(class: &str) -> Result<Vec<Source>, Error> {
    if let Some(bundled) = bundled_disk(class) {
        return Ok(one_disk_of_file(class, bundled.toml));
    }
    let known = array::disk::BUNDLED_DISKS.iter().map(|disk| disk.name);
    let help = match nearest(class, known) {
        Some(name) => format!("Did you mean {name}? 'proofload list disks' names them all."),
        None => {
            "'proofload list disks' names those built in; the path of a description works, too."
                .to_owned()
        }
    };
    let text = Files::default()
        .read_text(class)
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::usage(
                format!("There is no bundled disk and no file called '{class}'."),
                help,
            ),
            _ => unreadable(Path::new(class), &error),
        })?;
    match describes_disk(&text) {
        true => Ok(one_disk_of_file(class, &text)),
        false => Err(Error::usage(
            format!("{class} describes no disk."),
            "Name a file such as 'proofload show ssd-sata-mlc-256gb' prints.",
        )),
    }
}

/// The disk of an array that is one disk, and its name.
fn disk_of(sources: &[Source]) -> Result<(String, DiskDescription), Error> {
    let description = Description::load(sources)?;
    let volume = TracedVolume {
        name: "probe".to_owned(),
        reach_bytes: 1 << 20,
    };
    let (planned, _) = description.plan_for_trace(&[volume], None, None)?;
    let mut disks = planned.settings.disks.into_iter();
    disks
        .next()
        .ok_or_else(|| refusal(CalibrationError::NoParameters))
}

/// The files that are named, and those of directories, by name.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let entries = entries.map_err(|error| unreadable(path, &error))?;
        let paths = entries.into_iter().map(|entry| entry.path());
        let mut inside: Vec<PathBuf> = paths
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        inside.sort();
        found.extend(inside);
    }
    Ok(found)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let message = format!("{} cannot be read: {error}.", path.display());
    let help = "Name results of 'fio --output-format=json', or directories of them.";
    match error.kind() {
        io::ErrorKind::NotFound => Error::usage(message, help),
        _ => Error::environment(message, help),
    }
}

fn refusal(error: CalibrationError) -> Error {
    match error {
        CalibrationError::Description(error) => error.into(),
        CalibrationError::TooFewProbes { .. } => Error::usage(
            error.to_string(),
            "Run fio with more sizes and queue depths, each as a test of its own.",
        ),
        CalibrationError::NoParameters => Error::usage(
            error.to_string(),
            "Begin with a hard disk or a solid-state disk of 'proofload list disks'.",
        ),
        CalibrationError::Model(_) => Error::usage(
            error.to_string(),
            "Begin with a class of disk that is nearer to the one that was measured.",
        ),
    }
}

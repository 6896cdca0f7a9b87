//! Tests that are made on real storage: what is to be done, and that it can be done.

use std::path::PathBuf;

use ::storage::{ProbeAccess, ProbeSite, survey_for_probes};
use array::disk::DiskDescription;
use calibrate::plan::{LEAST_SPAN_BYTES, PlanError, PlanRequest, probes};
use calibrate::search::SearchSettings;
use calibrate::{Measured, Probe};
use config::TimeSpan;
use execution::Error;
use measure::units;
use runtime::{Runtime, WallClockOptions};
use workload::progress::StopRequest;

use super::CalibrationRequest;
use super::about::{Place, about};
use super::class::Class;
use super::search;
use super::testing::{Doing, Testing, undriven};

/// The time of all tests where no other is given, nanoseconds.
pub const TEST_TIME: TimeSpan = TimeSpan::seconds(600);

/// Of the room on a target one part in so many is used.
const ROOM_PART: u64 = 8;
/// What is used at least and at most where no size is given: more than disks have as a cache, and no more than
/// can be laid out in some minutes.
const LEAST_USUAL_BYTES: u64 = 1 << 30;
const MOST_USUAL_BYTES: u64 = 64 << 30;

/// Where the tests are made, and how.
#[derive(Debug, Clone)]
pub struct TargetRequest {
    /// A directory on the storage, or a block device.
    pub target: PathBuf,
    /// What may be done to a block device.
    pub access: ProbeAccess,
    /// Whether tests write; where they do not a file is laid out all the same.
    pub with_writes: bool,
    /// How long all tests take together.
    pub time: TimeSpan,
    /// How much of the storage they use; `None` for an eighth of the room, from 1 to 64 GiB, or all of a hard disk
    /// that is a block device and only read.
    pub size_bytes: Option<u64>,
    /// Seed of the places and bytes of requests.
    pub seed: u64,
}

/// Tests that can begin.
#[derive(Debug)]
pub struct PreparedTests {
    site: ProbeSite,
    probes: Vec<Probe>,
    span_bytes: u64,
    seed: u64,
    with_writes: bool,
    place: Place,
    class: Class,
    io_driver: String,
    search: SearchSettings,
}

/// What came of tests.
#[derive(Debug)]
pub struct Tested {
    /// The tests with what was measured.
    pub tests: Vec<Measured>,
    /// What was measured where and when, as comments of a TOML file.
    pub about: String,
}

impl PreparedTests {
    /// Looks at the target and plans the tests. Nothing is written there; `notify` hears of what takes a
    /// while.
    ///
    /// # Errors
    /// A target that cannot be used, a class that has nothing to fit, too little time or room.
    pub fn new(
        calibration: &CalibrationRequest,
        request: &TargetRequest,
        notify: &mut dyn FnMut(&str),
    ) -> Result<Self, Error> {
        let class = Class::new(&calibration.class)?;
        class.check_parameters(request.with_writes)?;
        let site = survey_for_probes(&request.target, request.access, notify)?;
        let span_bytes = span_bytes(request, &site, &class)?;
        let plan = PlanRequest {
            is_hard_disk: class.disk.hard_disk.is_some(),
            span_bytes,
            least_request_bytes: site.least_request_bytes(),
            with_writes: request.with_writes,
            time_ns: request.time.0,
        };
        let probes = probes(&plan).map_err(|error| unplanned(&error, request.time))?;
        let runtime = Runtime::wall_clock(&WallClockOptions::default()).map_err(undriven)?;
        let io_driver = runtime.handle().io_driver();
        Ok(Self {
            place: Place::of(&request.target, &site),
            probes,
            span_bytes,
            seed: request.seed,
            with_writes: request.with_writes,
            class,
            search: search(calibration),
            io_driver: io_driver.map_or_else(String::new, |one| one.driver.to_string()),
            site,
        })
    }

    /// The plan in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let size = units::size(self.span_bytes);
        let what = match (self.site.is_device(), self.site.writes()) {
            (false, _) => format!("a file of {size} is made in it, and removed at the end"),
            (true, true) => format!("{size} of it are overwritten; everything on it is lost"),
            (true, false) => format!("{size} of it are read, and nothing is written"),
        };
        let lay_out = match self.site.writes() {
            true => format!(
                "\n  lay-out: {size} of random bytes, about {} at the rate of the class",
                units::rough_time(self.span_bytes as f64 / write_bytes_per_s(&self.class.disk))
            ),
            false => String::new(),
        };
        let time_ns: u64 = self.probes.iter().map(|probe| probe.duration_ns).sum();
        let each_s = time_ns as f64 / 1e9 / self.probes.len() as f64;
        let kind = match self.with_writes {
            true => "reads and writes",
            false => "reads",
        };
        let names: Vec<&str> = self.probes.iter().map(|one| one.name.as_str()).collect();
        format!(
            "Plan:\n  target: {}\n    {what}{lay_out}\n  tests: {}, {kind}, {} altogether, {each_s:.1} s each, \
             past the page cache by {}\n{}\n  search: class {}, {} parameter sets, {} at a time; some minutes\n",
            self.place.describe(),
            names.len(),
            units::rough_time(time_ns as f64 / 1e9),
            self.io_driver,
            wrapped(&names),
            self.class.name,
            self.search.population * (self.search.cooling + self.search.sampling),
            self.search.threads,
        )
    }

    /// Lays the storage out and makes the tests; `None` when `stop` was asked for before they were done.
    /// `doing` is called some times a second. What was made on the target is removed in every case.
    ///
    /// # Errors
    /// The target was taken meanwhile, or the storage fails.
    pub fn run(
        self,
        doing: &mut dyn FnMut(Doing<'_>),
        stop: &StopRequest,
    ) -> Result<Option<Tested>, Error> {
        let begun = jiff::Timestamp::now();
        let site = self.site.clone();
        let testing = Testing {
            probes: &self.probes,
            span_bytes: self.span_bytes,
            seed: self.seed,
            site: &site,
        };
        let Some(outcome) = testing.run(self.site, doing, stop)? else {
            return Ok(None);
        };
        let about = about(
            &self.place,
            begun,
            &self.probes,
            self.span_bytes,
            (&self.io_driver, outcome.zero_share),
        );
        let pairs = self.probes.into_iter().zip(outcome.figures);
        let tests = pairs.map(|(probe, figures)| Measured { probe, figures });
        Ok(Some(Tested {
            tests: tests.collect(),
            about,
        }))
    }
}

/// How much of the storage is used.
fn span_bytes(request: &TargetRequest, site: &ProbeSite, class: &Class) -> Result<u64, Error> {
    let (room, most) = (site.room_bytes(), class.capacity_bytes);
    let shown = request.target.display();
    let least = units::size(LEAST_SPAN_BYTES);
    let whole = |bytes: u64| bytes >> 20 << 20;
    let Some(asked) = request.size_bytes else {
        let usual = match site.writes() || class.disk.hard_disk.is_none() {
            true => (room / ROOM_PART).clamp(LEAST_USUAL_BYTES, MOST_USUAL_BYTES),
            // Nothing is laid out, and only the whole of a hard disk shows its seeks.
            false => room,
        };
        // Whole GiB, as a person would say it, unless the class is smaller.
        let usual = whole((usual >> 30 << 30).min(most));
        if usual <= room {
            return Ok(usual);
        }
        return Err(Error::environment(
            format!(
                "{shown} has room for {}, and tests use {} where no size is given.",
                units::size(room),
                units::size(usual)
            ),
            format!(
                "Give --target-size, {least} at least; what fits the cache of a disk measures the \
                 cache."
            ),
        ));
    };
    let asked = whole(asked);
    if asked < LEAST_SPAN_BYTES {
        return Err(Error::usage(
            format!("--target-size is below {least}."),
            "Use more than the disk and its controller have as a cache.",
        ));
    }
    if asked > room {
        return Err(Error::environment(
            format!(
                "{shown} has room for {}, and --target-size asks for {}.",
                units::size(room),
                units::size(asked)
            ),
            "Ask for less, or name storage with more room.",
        ));
    }
    if asked > most {
        return Err(Error::usage(
            format!(
                "A disk of the class {} has {}, and --target-size asks for {}.",
                class.name,
                units::size(most),
                units::size(asked)
            ),
            "Ask for less, or begin with a larger class.",
        ));
    }
    Ok(asked)
}

fn unplanned(error: &PlanError, time: TimeSpan) -> Error {
    match error {
        PlanError::TooShort { probes } => Error::usage(
            format!("--time {time} is too short: {error}"),
            format!("Give --time {probes}s or more; with some minutes the figures are steadier."),
        ),
        PlanError::TooSmall => Error::usage(error.to_string(), "Name storage with more room."),
    }
}

/// The rate at which the class writes a stream.
fn write_bytes_per_s(disk: &DiskDescription) -> f64 {
    let of_flash = disk.solid_state.as_ref();
    let of_platters = disk.hard_disk.as_ref().map(|disk| {
        let tracks = f64::from(disk.heads) * f64::from(disk.tracks_per_surface);
        disk.capacity_bytes as f64 / tracks * f64::from(disk.rpm) / 60.0
    });
    of_flash
        .map(|flash| flash.sequential_write_mb_per_s * 1e6)
        .or(of_platters)
        .unwrap_or(100e6)
}

/// Names in lines that a terminal shows.
fn wrapped(names: &[&str]) -> String {
    let mut lines = vec![String::from("   ")];
    for name in names {
        if lines[lines.len() - 1].len() + name.len() > 99 {
            lines.push(String::from("   "));
        }
        let last = lines.len() - 1;
        lines[last].push(' ');
        lines[last].push_str(name);
    }
    lines.join("\n")
}

//! Everything that can be wrong with a replay, found before the clock starts.

use std::path::{Path, PathBuf};

use array::VolumeId;
use array::description::{Description, PlannedArray, TracedVolume};
use array::disk::WriteHistory;
use config::{ByteSize, TimeSpan};
use trace::{
    FirstWriteOfTrace, ReplayMode, TraceError, TraceFormat, TraceReader, TraceSettings,
    TraceSurvey, survey,
};

use super::array_of_trace::describe_array;
use super::arrivals::Discipline;
use super::{TraceFile, format_of, open_trace};
use crate::files::Files;
use crate::scenario::Scenario;
use crate::setting::Key;
use execution::Error;

/// The formats, for messages.
const FORMATS: &str = "csv, fio-iolog, fio-log or blkparse (docs/traces.md describes them)";

/// A replay that can begin.
pub struct Plan {
    pub files: Files,
    pub path: PathBuf,
    pub format: TraceFormat,
    pub settings: TraceSettings,
    pub survey: TraceSurvey,
    pub description: Description,
    pub planned: PlannedArray,
    pub discipline: Discipline,
    pub volumes: Vec<PlannedVolume>,
    pub until_ns: Option<u64>,
    pub seed: u64,
    pub sample_interval_ns: u64,
}

/// A volume of the trace on the array.
pub struct PlannedVolume {
    pub name: String,
    pub id: VolumeId,
    pub capacity_bytes: u64,
    /// Sectors that were written before the trace.
    pub fill_sectors: u64,
}

impl Plan {
    pub fn new(scenario: &Scenario) -> Result<Self, Error> {
        refuse_options_of_workloads(scenario)?;
        let settings = settings(scenario)?;
        let path = PathBuf::from(&scenario.workload);
        let format = settings
            .format
            .format()
            .or_else(|| format_of(&scenario.files, &path));
        let format = format.ok_or_else(|| unknown_format(&path))?;
        let until_ns = until_ns(scenario)?;
        let (description, is_one_disk) = describe_array(scenario)?;
        let reader = reader_of(&scenario.files, &path, format, &settings)?;
        let survey = survey_of(reader, until_ns, &settings)?;
        let discipline = discipline(&settings, &survey, &path)?;
        let (planned, volumes) = planned(&description, is_one_disk, &settings, &survey)?;
        let plan = Self {
            files: scenario.files.clone(),
            sample_interval_ns: sample_interval_ns(&settings, &survey, discipline),
            path,
            format,
            settings,
            survey,
            description,
            planned,
            discipline,
            volumes,
            until_ns,
            seed: seed(scenario)?,
        };
        plan.check_reach()?;
        if let Some(span_ns) = plan.span_ns() {
            plan.description
                .check_events_until(&plan.planned, span_ns.saturating_add(1))?;
        }
        Ok(plan)
    }

    /// A reader at the start of the trace.
    pub fn reader(&self) -> Result<TraceReader<TraceFile>, Error> {
        reader_of(&self.files, &self.path, self.format, &self.settings)
    }

    /// How long the replay takes at least, in simulated time; `None` in a closed loop.
    pub fn span_ns(&self) -> Option<u64> {
        match self.discipline {
            Discipline::Open { .. } => {
                Some((self.survey.span_ns as f64 / self.settings.speed) as u64)
            }
            Discipline::Closed { .. } => None,
        }
    }

    /// What a reader of the figures should know of the array, as sentences.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.planned.notes.iter().map(String::as_str)
    }

    /// Requests must lie within their volumes, unless they are to be wrapped.
    fn check_reach(&self) -> Result<(), Error> {
        let pairs = self.volumes.iter().zip(&self.survey.volumes);
        let mut beyond = pairs.map(|(planned, volume)| volume.end_bytes > planned.capacity_bytes);
        if self.settings.wrap || !beyond.any(|is_beyond| is_beyond) {
            return Ok(());
        }
        let mut reader = self.reader()?;
        while let Some(request) = reader.next_request().map_err(|error| refusal(&error))? {
            let volume = &self.volumes[request.volume as usize];
            let end_bytes = request.end_bytes();
            if end_bytes <= volume.capacity_bytes {
                continue;
            }
            return Err(Error::usage(
                format!(
                    "{}:{}: this {} ends at {end_bytes} bytes of '{}', and the volume has {} \
                     bytes.",
                    self.path.display(),
                    request.line,
                    request.operation.name(),
                    volume.name,
                    volume.capacity_bytes
                ),
                "--set trace.wrap=true wraps requests beyond a volume to its start; \
                 --set trace.volume_size=SIZE makes larger volumes, where the array makes them.",
            ));
        }
        Ok(())
    }
}

/// The array with the volumes of the trace on it.
fn planned(
    description: &Description,
    is_one_disk: bool,
    settings: &TraceSettings,
    survey: &TraceSurvey,
) -> Result<(PlannedArray, Vec<PlannedVolume>), Error> {
    let of_trace = survey.volumes.iter().map(|volume| TracedVolume {
        name: volume.name.clone(),
        reach_bytes: volume.end_bytes,
    });
    let of_trace: Vec<TracedVolume> = of_trace.collect();
    let given = settings.volume_size.map(ByteSize::bytes);
    let whole_disk = || description.one_disk_bytes().filter(|_| is_one_disk);
    let size_bytes = given.or_else(whole_disk);
    let (planned, ids) =
        description.plan_for_trace(&of_trace, size_bytes, ssd_history(settings.first_write))?;
    let volumes = ids.iter().zip(&survey.volumes).map(|(&id, volume)| {
        let capacity_mib = planned.settings.volumes[usize::from(id.0)].capacity_mib;
        PlannedVolume {
            name: volume.name.clone(),
            id,
            capacity_bytes: capacity_mib << 20,
            fill_sectors: capacity_mib << 11,
        }
    });
    let volumes = volumes.collect();
    Ok((planned, volumes))
}

/// How solid-state disks were written before the trace; `None` where their descriptions say it.
fn ssd_history(first_write: FirstWriteOfTrace) -> Option<WriteHistory> {
    Some(match first_write {
        FirstWriteOfTrace::Auto => return None,
        FirstWriteOfTrace::Sequential => WriteHistory::Sequential,
        FirstWriteOfTrace::Random => WriteHistory::Random,
        FirstWriteOfTrace::None => WriteHistory::Fresh,
    })
}

/// Options that say what databases and their users are mean nothing to a trace.
fn refuse_options_of_workloads(scenario: &Scenario) -> Result<(), Error> {
    for (name, key, instead) in [
        (
            "--rate",
            Key::Rate,
            "--set trace.speed=2 brings a trace's requests twice as fast.",
        ),
        (
            "--rate-transactions",
            Key::RateOfTransactions,
            "--set trace.speed=2 brings a trace's requests twice as fast.",
        ),
        (
            "--databases",
            Key::Databases,
            "A trace names its volumes itself.",
        ),
        ("--mailboxes", Key::Mailboxes, "A trace has no mailboxes."),
        (
            "--target-size",
            Key::TargetSize,
            "--set trace.volume_size=SIZE sizes its volumes.",
        ),
    ] {
        if scenario.value_of(&key).is_some() {
            let message = format!("{name} says nothing of a block trace.");
            return Err(Error::usage(message, instead));
        }
    }
    if scenario.settled {
        return Err(Error::usage(
            "--settled goes by the load of a workload, and a block trace says no more of the days \
             before it.",
            "Say how full a tier begins with --set array.pool.tiering.settled_percent=PERCENT.",
        ));
    }
    Ok(())
}

fn settings(scenario: &Scenario) -> Result<TraceSettings, Error> {
    let mut settings = TraceSettings::default();
    for setting in &scenario.settings {
        if setting.key.is_of_array() || !matches!(setting.key, Key::Path(_)) {
            continue;
        }
        let Some(key) = setting.trace_key() else {
            return Err(Error::usage(
                format!("--set {setting} is not a setting of a block trace."),
                "Write --set trace.KEY=VALUE or --set array.PATH.TO.KEY=VALUE.",
            ));
        };
        let set = settings.set(key, setting.value.as_str().trim());
        set.map_err(|message| Error::usage(format!("--set {setting}: {message}."), ""))?;
    }
    if let Some(threads) = scenario.value_of(&Key::Threads) {
        let set = settings.set("outstanding", threads.as_str());
        set.map_err(|message| Error::usage(format!("--threads {threads}: {message}."), ""))?;
    }
    Ok(settings)
}

fn until_ns(scenario: &Scenario) -> Result<Option<u64>, Error> {
    let Some(text) = scenario.value_of(&Key::Duration) else {
        return Ok(None);
    };
    let duration = TimeSpan::parse(text.as_str())
        .map_err(|message| Error::usage(format!("--duration: {message}."), ""))?;
    if duration.as_ns() == 0 {
        let help = "Leave --duration out for the whole trace.";
        return Err(Error::usage(
            "--duration 0 leaves nothing of the trace.",
            help,
        ));
    }
    Ok(Some(duration.as_ns()))
}

fn seed(scenario: &Scenario) -> Result<u64, Error> {
    let Some(text) = scenario.value_of(&Key::Seed) else {
        return Ok(1);
    };
    let seed = text
        .as_str()
        .parse()
        .ok()
        .filter(|seed| *seed <= i64::MAX as u64);
    seed.ok_or_else(|| {
        let message = format!("--seed {text} is not a seed.");
        Error::usage(message, "Write a whole number from 0 to 2^63 - 1.")
    })
}

fn discipline(
    settings: &TraceSettings,
    survey: &TraceSurvey,
    path: &Path,
) -> Result<Discipline, Error> {
    let open = match settings.mode {
        ReplayMode::Auto => survey.has_arrivals,
        ReplayMode::Open if !survey.has_arrivals => {
            return Err(Error::usage(
                format!(
                    "{} has no arrival times, and cannot be replayed by them.",
                    path.display()
                ),
                "Leave --set trace.mode=open out: it is then replayed in a closed loop.",
            ));
        }
        ReplayMode::Open => true,
        ReplayMode::Closed => false,
    };
    Ok(match open {
        true => Discipline::Open {
            queue_limit: settings.queue_limit as usize,
        },
        false => Discipline::Closed {
            clients: settings.outstanding as usize,
        },
    })
}

fn reader_of(
    files: &Files,
    path: &Path,
    format: TraceFormat,
    settings: &TraceSettings,
) -> Result<TraceReader<TraceFile>, Error> {
    let file = open_trace(files, path)?;
    let name = path.display().to_string();
    Ok(TraceReader::new(file, &name, format, settings))
}

fn survey_of(
    mut reader: TraceReader<TraceFile>,
    until_ns: Option<u64>,
    settings: &TraceSettings,
) -> Result<TraceSurvey, Error> {
    // A faster replay reaches further into the trace.
    let until_ns = until_ns.map(|ns| (ns as f64 * settings.speed) as u64);
    survey(&mut reader, until_ns).map_err(|error| refusal(&error))
}

fn unknown_format(path: &Path) -> Error {
    Error::usage(
        format!("{} does not look like any trace.", path.display()),
        format!("Say what it is with --set trace.format=, one of {FORMATS}."),
    )
}

/// Round times for samples.
const INTERVALS_S: [f64; 16] = [
    0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 60.0, 300.0, 900.0,
    3600.0,
];

/// Samples that a trace should have at least.
const SAMPLES: f64 = 40.0;

fn sample_interval_ns(
    settings: &TraceSettings,
    survey: &TraceSurvey,
    discipline: Discipline,
) -> u64 {
    if let Some(interval) = settings.sample_interval {
        return interval.as_ns();
    }
    let span_s = match discipline {
        Discipline::Open { .. } => survey.span_ns as f64 / 1e9 / settings.speed,
        // About a millisecond each, and the thinking.
        Discipline::Closed { clients } => {
            let think_s = survey.think_ns as f64 / 1e9 / settings.speed;
            (survey.requests as f64 / 1e3 + think_s) / clients as f64
        }
    };
    let fitting = INTERVALS_S
        .iter()
        .rev()
        .find(|&&one| one * SAMPLES <= span_s);
    (fitting.unwrap_or(&INTERVALS_S[0]) * 1e9) as u64
}

/// A trace that cannot be read is a mistake of whoever named it.
pub(super) fn refusal(error: &TraceError) -> Error {
    Error::usage(error.to_string(), "")
}

//! Everything that can be wrong with a replay, found before the clock starts.

use std::path::{Path, PathBuf};

use array::VolumeId;
use array::description::{Description, PlannedArray, TracedVolume};
use workload::profile::{ByteSize, TimeSpan};
use workload::trace::{
    FormatChoice, ReplayMode, TraceError, TraceFormat, TraceReader, TraceSettings, TraceSurvey,
    survey,
};

use super::line::Discipline;
use super::on_what::describe_array;
use super::{TraceFile, format_of, open_trace};
use crate::cli::{PredictOptions, is_for_array};
use crate::failure::Failure;

/// What a path of the trace's settings begins with.
const TRACE: &str = "trace.";

/// The formats, for messages.
const FORMATS: &str = "csv, fio-iolog, fio-log or blkparse (docs/traces.md describes them)";

/// A replay that can begin.
pub struct Plan {
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
    pub fn new(options: &PredictOptions) -> Result<Self, Failure> {
        refuse_options_of_workloads(options)?;
        let settings = settings(options)?;
        let path = PathBuf::from(&options.workload);
        let format = match settings.format {
            FormatChoice::Is(format) => format,
            FormatChoice::Auto => format_of(&path).ok_or_else(|| unknown_format(&path))?,
        };
        let until_ns = until_ns(options)?;
        let (description, is_one_disk) = describe_array(options)?;
        let reader = reader_of(&path, format, &settings)?;
        let mut plan = Self::with_survey(Parts {
            survey: survey_of(reader, until_ns, &settings)?,
            path,
            format,
            settings,
            description,
            is_one_disk,
        })?;
        plan.until_ns = until_ns;
        plan.seed = seed(options)?;
        plan.check_reach()?;
        if let Some(span_ns) = plan.span_ns() {
            plan.description
                .check_events_until(&plan.planned, span_ns.saturating_add(1))?;
        }
        Ok(plan)
    }

    fn with_survey(parts: Parts) -> Result<Self, Failure> {
        let Parts {
            settings, survey, ..
        } = parts;
        let discipline = discipline(&settings, &survey, &parts.path)?;
        let of_trace: Vec<TracedVolume> = survey
            .volumes
            .iter()
            .map(|volume| TracedVolume {
                name: volume.name.clone(),
                reach_bytes: volume.end_bytes,
            })
            .collect();
        let given = settings.volume_size.map(ByteSize::bytes);
        let whole_disk = || match parts.is_one_disk {
            true => parts.description.one_disk_bytes(),
            false => None,
        };
        let (planned, ids) = parts
            .description
            .plan_for_trace(&of_trace, given.or_else(whole_disk))?;
        let volumes = ids.iter().zip(&survey.volumes).map(|(&id, volume)| {
            let capacity_mib = planned.settings.volumes[usize::from(id.0)].capacity_mib;
            PlannedVolume {
                name: volume.name.clone(),
                id,
                capacity_bytes: capacity_mib << 20,
                fill_sectors: capacity_mib << 11,
            }
        });
        let volumes: Vec<PlannedVolume> = volumes.collect();
        let sample_interval_ns = sample_interval_ns(&settings, &survey, discipline);
        Ok(Self {
            path: parts.path,
            format: parts.format,
            description: parts.description,
            settings,
            survey,
            planned,
            discipline,
            volumes,
            until_ns: None,
            seed: 0,
            sample_interval_ns,
        })
    }

    /// A reader at the begin of the trace.
    pub fn reader(&self) -> Result<TraceReader<TraceFile>, Failure> {
        reader_of(&self.path, self.format, &self.settings)
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

    /// Sentences worth knowing.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.planned.notes.iter().map(String::as_str)
    }

    /// Requests must lie within their volumes, unless they are to be wrapped.
    fn check_reach(&self) -> Result<(), Failure> {
        let pairs = self.volumes.iter().zip(&self.survey.volumes);
        let mut beyond = pairs.map(|(planned, volume)| volume.end_bytes > planned.capacity_bytes);
        if self.settings.wrap || !beyond.any(|is_beyond| is_beyond) {
            return Ok(());
        }
        let mut reader = self.reader()?;
        while let Some(request) = reader.next_request()? {
            let volume = &self.volumes[request.volume as usize];
            let end_bytes = request.end_bytes();
            if end_bytes <= volume.capacity_bytes {
                continue;
            }
            return Err(Failure::usage(
                format!(
                    "{}:{}: this {} ends at {end_bytes} bytes of '{}', and the volume has {} \
                     bytes.",
                    self.path.display(),
                    request.line,
                    request.operation.word(),
                    volume.name,
                    volume.capacity_bytes
                ),
                "--set trace.wrap=true begins requests beyond a volume anew at its front; \
                 --set trace.volume_size=SIZE makes larger volumes, where the array makes them.",
            ));
        }
        Ok(())
    }
}

struct Parts {
    path: PathBuf,
    format: TraceFormat,
    settings: TraceSettings,
    survey: TraceSurvey,
    description: Description,
    is_one_disk: bool,
}

/// Options that say what databases and their users are mean nothing to a trace.
fn refuse_options_of_workloads(options: &PredictOptions) -> Result<(), Failure> {
    for (name, value, instead) in [
        (
            "--rate",
            &options.rate,
            "--set trace.speed=2 brings a trace's requests twice as fast.",
        ),
        (
            "--databases",
            &options.databases,
            "A trace names its volumes itself.",
        ),
        (
            "--mailboxes",
            &options.mailboxes,
            "A trace has no mailboxes.",
        ),
        (
            "--target-size",
            &options.target_size,
            "--set trace.volume_size=SIZE sizes its volumes.",
        ),
    ] {
        if value.is_some() {
            let message = format!("{name} says nothing of a block trace.");
            return Err(Failure::usage(message, instead));
        }
    }
    if !options.sweep.is_empty() || options.find.is_some() {
        return Err(Failure::usage(
            "--sweep and --find vary a workload, and a block trace is what it is.",
            "Replay it once on each array.",
        ));
    }
    if options.settled {
        return Err(Failure::usage(
            "--settled goes by the load of a workload, and a block trace says no more of the days \
             before it.",
            "Say how full a tier begins with --set array.pool.tiering.settled_percent=PERCENT.",
        ));
    }
    Ok(())
}

fn settings(options: &PredictOptions) -> Result<TraceSettings, Failure> {
    let mut settings = TraceSettings::default();
    for text in options.set.iter().map(|text| text.trim()) {
        if is_for_array(text) {
            continue;
        }
        let assigned = text.split_once('=').and_then(|(path, value)| {
            let key = path.trim().strip_prefix(TRACE)?;
            Some((key, value.trim()))
        });
        let Some((key, value)) = assigned else {
            return Err(Failure::usage(
                format!("--set {text} is no setting of a block trace."),
                "Write --set trace.KEY=VALUE or --set array.PATH.TO.KEY=VALUE.",
            ));
        };
        let set = settings.set(key, value);
        set.map_err(|message| Failure::usage(format!("--set {text}: {message}."), ""))?;
    }
    if let Some(threads) = &options.threads {
        let set = settings.set("outstanding", threads);
        set.map_err(|message| Failure::usage(format!("--threads {threads}: {message}."), ""))?;
    }
    Ok(settings)
}

fn until_ns(options: &PredictOptions) -> Result<Option<u64>, Failure> {
    let Some(text) = &options.duration else {
        return Ok(None);
    };
    let duration = TimeSpan::parse(text)
        .map_err(|message| Failure::usage(format!("--duration: {message}."), ""))?;
    if duration.as_ns() == 0 {
        let help = "Leave --duration out for the whole trace.";
        return Err(Failure::usage(
            "--duration 0 leaves nothing of the trace.",
            help,
        ));
    }
    Ok(Some(duration.as_ns()))
}

fn seed(options: &PredictOptions) -> Result<u64, Failure> {
    let Some(text) = &options.seed else {
        return Ok(1);
    };
    let seed = text.parse().ok().filter(|seed| *seed <= i64::MAX as u64);
    seed.ok_or_else(|| {
        let message = format!("--seed {text} is no seed.");
        Failure::usage(message, "Write a whole number from 0 to 2^63 - 1.")
    })
}

fn discipline(
    settings: &TraceSettings,
    survey: &TraceSurvey,
    path: &Path,
) -> Result<Discipline, Failure> {
    let open = match settings.mode {
        ReplayMode::Auto => survey.has_arrivals,
        ReplayMode::Open if !survey.has_arrivals => {
            return Err(Failure::usage(
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
    path: &Path,
    format: TraceFormat,
    settings: &TraceSettings,
) -> Result<TraceReader<TraceFile>, Failure> {
    let file = open_trace(path)?;
    let name = path.display().to_string();
    Ok(TraceReader::new(file, &name, format, settings))
}

fn survey_of(
    mut reader: TraceReader<TraceFile>,
    until_ns: Option<u64>,
    settings: &TraceSettings,
) -> Result<TraceSurvey, Failure> {
    // A faster replay reaches further into the trace.
    let until_ns = until_ns.map(|ns| (ns as f64 * settings.speed) as u64);
    Ok(survey(&mut reader, until_ns)?)
}

fn unknown_format(path: &Path) -> Failure {
    Failure::usage(
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

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::usage(error.to_string(), "")
    }
}

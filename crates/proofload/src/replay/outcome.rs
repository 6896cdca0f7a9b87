//! The result document of a replay, and the lines at its end.

use array::ArraySettings;
use jiff::Timestamp;
use measure::display::number::{count, latency, percent};
use measure::headline;
use measure::result::{
    DatabaseFigures, DatabaseResult, PhaseResult, RunKind, RunResult, TargetKind, TargetPath,
    TraceResult, Verdict,
};
use measure::run_directory::RunDirectory;

use super::arrivals::Discipline;
use super::plan::Plan;
use crate::predict::{self, ARRAY_FILE, ArrayDetails};
use crate::scenario::Scenario;
use crate::workloads::short_name;
use execution::Error;
use execution::results;

/// Counts of a replay.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// As the result says it, without figures.
    trace: TraceResult,
    pub sent: u64,
    pub ended: u64,
    pub failed: u64,
    pub held_back: u64,
    pub wrapped: u64,
    pub widened: u64,
    pub largest_queue_depth: u64,
}

impl Counted {
    pub fn new(plan: &Plan) -> Self {
        let (mode, outstanding) = mode_of(plan.discipline);
        Self {
            trace: TraceResult {
                path: plan.path.display().to_string(),
                format: plan.format.name().to_owned(),
                mode: mode.to_owned(),
                outstanding,
                ..TraceResult::default()
            },
            ..Self::default()
        }
    }
}

impl Plan {
    /// What is reported of the inside of the array.
    pub fn array_details(&self) -> ArrayDetails {
        ArrayDetails::new(
            &self.planned.settings.title,
            &self.description,
            &self.planned.settings,
        )
    }
}

/// Makes the run directory, if there is to be one.
pub fn open(
    scenario: &Scenario,
    plan: &Plan,
    started: Timestamp,
) -> Result<Option<RunDirectory>, Error> {
    let mut config = format!(
        "# All settings in force. Replay it again with 'proofload predict {} --array {ARRAY_FILE}' \
         and --set for what differs from the defaults.\n[trace]\n",
        plan.path.display()
    );
    for (path, literal) in plan.settings.literals() {
        let key = path.strip_prefix("trace.").unwrap_or(&path);
        config.push_str(&format!("{key} = {literal}\n"));
    }
    let name = short_name(scenario.registry, &scenario.workload);
    let directory = results::open(&scenario.output, &name, started, &config, None)?;
    if let Some(directory) = &directory {
        predict::write_array(directory, &plan.description)?;
    }
    Ok(directory)
}

/// What is known before the replay.
pub fn base(scenario: &Scenario, plan: &Plan, started: Timestamp) -> RunResult {
    let mut result = RunResult::new();
    result.kind = RunKind::Trace;
    result.workload.name = short_name(scenario.registry, &scenario.workload);
    result.workload.description = format!("The block trace {}.", plan.path.display());
    let literals = plan.settings.literals().into_iter();
    let settings = literals.map(|(path, literal)| (path, value_of(&literal)));
    result.workload.settings = settings.collect();
    result.host = measure::host::facts::<&str>(&[]);
    result.seed = plan.seed;
    result.started = started.to_string();
    result.notes.extend(plan.notes().map(str::to_owned));
    result.warnings.extend(plan.planned.warning());
    result.databases = plan
        .volumes
        .iter()
        .map(|volume| {
            let on_array = &plan.planned.settings.volumes[usize::from(volume.id.0)];
            volume_row(&volume.name, &on_array.name, volume.capacity_bytes)
        })
        .collect();
    let array = short_name(scenario.registry, &scenario.array);
    result.target.databases = vec![array_place(array, &plan.planned.settings)];
    result
}

/// What a result says of a volume before anything was read or written; `on_array` is its name there.
pub fn volume_row(name: &str, on_array: &str, size_bytes: u64) -> DatabaseResult {
    DatabaseResult {
        name: name.to_owned(),
        path: on_array.to_owned(),
        figures: DatabaseFigures {
            size_begin_bytes: size_bytes,
            size_end_bytes: size_bytes,
            ..DatabaseFigures::default()
        },
        ..DatabaseResult::default()
    }
}

/// The modelled array as the place of the volumes.
pub fn array_place(name: String, settings: &ArraySettings) -> TargetPath {
    let volumes = settings.volumes.iter();
    let capacity_bytes = volumes.map(|volume| volume.capacity_mib << 20).sum();
    TargetPath {
        path: name,
        kind: TargetKind::ModelledArray,
        capacity_bytes,
        free_bytes: capacity_bytes,
        ..TargetPath::default()
    }
}

/// A TOML literal as a value of the document.
fn value_of(literal: &str) -> serde_json::Value {
    serde_json::from_str(literal).unwrap_or_else(|_| literal.into())
}

/// Adds what only a replay has: its counts and its verdict.
pub fn complete(result: &mut RunResult, counted: &Counted, waited: f64, ended: Option<Ended>) {
    result.throughput.threads = counted.trace.outstanding;
    result.trace = Some(TraceResult {
        requests: counted.sent,
        failed_requests: counted.failed,
        average_queue_depth: waited,
        largest_queue_depth: counted.largest_queue_depth,
        held_back_requests: held_back(counted),
        wrapped_requests: counted.wrapped,
        widened_requests: counted.widened,
        ..counted.trace.clone()
    });
    result.phases = vec![PhaseResult {
        name: "measured".to_owned(),
        started: result.started.clone(),
        duration_s: result.simulated_seconds.unwrap_or(0.0),
    }];
    warn(result, counted);
    let (done, failed) = (count(counted.ended), counted.failed);
    if failed > 0 {
        let failed = count(failed);
        let reason = format!("{failed} of {done} requests of the trace failed.");
        result.set_verdict(Verdict::Error, reason);
    } else if ended.is_some_and(|ended| ended.interrupted) {
        let reason = format!("Stopped after {done} requests of the trace.");
        result.set_verdict(Verdict::Interrupted, reason);
    } else {
        let reason = format!(
            "All {done} requests of the trace were served. No service level is judged for a trace."
        );
        result.set_verdict(Verdict::Pass, reason);
    }
    match ended {
        Some(_) => {
            result.complete = true;
            result.headline = headline::compose(result, None);
        }
        None => result.mark_unfinished(),
    }
}

/// Clients of a closed loop do not arrive, so none is held back.
fn held_back(counted: &Counted) -> u64 {
    match counted.trace.outstanding {
        Some(_) => 0,
        None => counted.held_back,
    }
}

fn warn(result: &mut RunResult, counted: &Counted) {
    let held_back = held_back(counted);
    if held_back > 0 {
        result.warnings.push(format!(
            "{} requests arrived when trace.queue_limit of them were inside the array \
             already, and waited at the host. The array cannot keep up with the trace.",
            count(held_back)
        ));
    }
    if counted.wrapped > 0 {
        result.notes.push(format!(
            "{} requests lay beyond their volumes and were wrapped to the start.",
            count(counted.wrapped)
        ));
    }
    if counted.widened > 0 {
        result.notes.push(format!(
            "{} requests did not begin or end at sectors of 512 bytes and were widened to them.",
            count(counted.widened)
        ));
    }
}

/// Lines for people at the end of a replay.
pub fn final_lines(result: &RunResult) -> Vec<String> {
    let demerits = result.trace.iter().flat_map(|trace| &trace.demerits);
    let lines = demerits.map(|one| {
        let share = match one.demerit_fraction {
            Some(share) => format!(", {} % of the measured average", percent(share)),
            None => String::new(),
        };
        format!(
            "Model and measurement, {} ({} requests): measured {}, model {} on average; demerit \
             figure {}{share}.",
            one.of.label(),
            count(one.requests),
            latency(one.measured_average_ms),
            latency(one.model_average_ms),
            latency(one.demerit_ms)
        )
    });
    lines.collect()
}

/// How a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// When, ns since its begin.
    pub at_ns: u64,
    /// Whether somebody stopped it.
    pub interrupted: bool,
}

/// What the result says of how requests came.
pub fn mode_of(discipline: Discipline) -> (&'static str, Option<u64>) {
    match discipline {
        Discipline::Open { .. } => ("open", None),
        Discipline::Closed { clients } => ("closed", Some(clients as u64)),
    }
}

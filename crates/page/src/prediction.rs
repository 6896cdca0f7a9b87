//! A prediction, and what the page shows of it.

use std::cell::RefCell;
use std::rc::Rc;

use measure::display::number::duration;
use measure::metric::Stream;
use measure::result::RunResult;
use measure::sample::{Phase, SampleRow, rows_of};
use proofload::events::Event;
use proofload::predict::{Plan, Prepared};
use proofload::{Scenario, StopRequest, Value, WORKLOADS};
use report::table::{
    array_controllers_table, array_disks_table, array_groups_table, array_pools_table,
    array_volumes_table, error_bars_table, events_table, grouped_checks_table, operations_table,
    traffic_table,
};
use report::{Distributions, Run, tone::Tone};
use serde::Serialize;
use workload::LoadAxis;

use crate::design::Design;
use crate::fault::Fault;
use crate::parts::{Part, busiest, parts};
use crate::progress::{Report, of_prediction};
use crate::tables::{ChartData, TableData, chart, table};

/// The measured phase of a first answer, and its longest warm-up.
const FIRST_DURATION_S: f64 = 10.0;
const FIRST_WARM_UP_S: f64 = 5.0;

/// What the page shows of a prediction.
#[derive(Clone, Debug, Serialize)]
pub struct Predicted {
    /// The design that was predicted.
    pub toml: String,
    /// What makes it a first answer, in a sentence; empty for the whole prediction.
    pub first: String,
    /// One word in capitals, such as `PASS`.
    pub word: &'static str,
    /// `pass`, `fail` or `open`.
    pub tone: &'static str,
    /// The answer as a sentence.
    pub sentence: String,
    /// Why, as a sentence; may be empty.
    pub reason: String,
    /// The few numbers that people ask for first: name, value, unit, and what stands beside it.
    pub tiles: Vec<[String; 4]>,
    /// Findings and recommendations: head and text.
    pub findings: Vec<[String; 2]>,
    /// Service levels, latencies, parts of the array.
    pub tables: Vec<TableData>,
    /// The charts of the report.
    pub charts: Vec<ChartData>,
    /// The parts of the array.
    pub parts: Vec<Part>,
    /// The busiest of them, in a sentence.
    pub busiest: String,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
    /// The result document, as `proofload predict --json` prints it.
    pub result: RunResult,
}

/// Predicts a design: wholly, or a first answer of a short simulated time. A design that cannot be shortened is
/// predicted wholly.
///
/// # Errors
/// Everything that is wrong with the design.
pub fn predicted(design: &Design, is_first: bool, report: &Report) -> Result<Predicted, Fault> {
    let whole = design.scenario();
    let short = match is_first {
        true => shortened(design)?,
        false => None,
    };
    let (scenario, first) = short.unwrap_or_else(|| (whole, String::new()));
    let plan = Plan::check(&scenario)?;
    let run = run_of(&scenario, &plan, report)?;
    Ok(shown(design, first, &plan, run))
}

/// The whole prediction as a run, for reports.
///
/// # Errors
/// As those of [`predicted`].
pub fn run_of_design(design: &Design, report: &Report) -> Result<Run, Fault> {
    let scenario = design.scenario();
    let plan = Plan::check(&scenario)?;
    run_of(&scenario, &plan, report)
}

/// A design as a scenario whose prediction takes little time, and what is different in a sentence.
fn shortened(design: &Design) -> Result<Option<(Scenario, String)>, Fault> {
    let plan = Plan::check(&design.scenario())?;
    let run = plan.profile.run();
    let duration_s = run.duration.as_seconds().min(FIRST_DURATION_S);
    let mut sentence = format!(
        "First answer: {} of simulated time after a warm-up of {}",
        duration(duration_s),
        duration(FIRST_WARM_UP_S)
    );
    let mut without_events = design.clone();
    if !plan.planned.events.is_empty() {
        without_events.set_events("")?;
        sentence.push_str(", without the events");
    }
    let seconds = |seconds: f64| Value::from(format!("{seconds}s").as_str());
    let mut short = without_events
        .scenario()
        .with("run.duration", seconds(duration_s))
        .with("run.warm_up.minimum", "0s")
        .with("run.warm_up.maximum", seconds(FIRST_WARM_UP_S))
        .with("run.steady_state.required", false);
    let finds_threads =
        run.held_rate.is_none() && matches!(plan.profile.workload().load_axis(), LoadAxis::Rate);
    if let Some(target) = plan.profile.target_iops().filter(|_| finds_threads) {
        short = short.with("run.held_rate", target);
        sentence.push_str(", with the target rate held");
    }
    Ok(Plan::check(&short)
        .ok()
        .map(|_| (short, format!("{sentence}."))))
}

/// What a prediction leaves while it goes on: the rows of its samples, and the distributions of its latencies.
#[derive(Default)]
struct Kept {
    rows: Vec<SampleRow>,
    distributions: Distributions,
}

fn run_of(scenario: &Scenario, plan: &Plan, report: &Report) -> Result<Run, Fault> {
    let kept = Rc::new(RefCell::new(Kept::default()));
    let keep = Rc::clone(&kept);
    let warm_up_s = plan.profile.warm_up_in_prediction().shortest.as_seconds();
    let duration_s = plan.profile.run().duration.as_seconds();
    let mut progress = of_prediction(report, warm_up_s, duration_s);
    let observer = move |event: Event<'_>| {
        if let Event::Sample { sample, .. } = event {
            let mut kept = keep.borrow_mut();
            kept.rows.extend(rows_of(sample));
            if sample.phase == Phase::Measured {
                for meters in &sample.databases {
                    for stream in Stream::ALL {
                        if let Some(meter) = meters.stream(stream) {
                            kept.distributions.merge(stream, &meter.latency);
                        }
                    }
                }
            }
        }
        progress.event(event);
    };
    let prepared = Prepared::new(scenario)?;
    let outcome = prepared.run(Box::new(observer), &StopRequest::new())?;
    let kept = kept.take();
    let name = outcome.result.workload.name.clone();
    let contribution = WORKLOADS.contribution(&outcome.result);
    let distributions = kept.distributions.finish();
    let mut run = Run::new(&name, outcome.result, kept.rows, distributions);
    run.contribution = contribution;
    Ok(run)
}

fn shown(design: &Design, first: String, plan: &Plan, run: Run) -> Predicted {
    let headline = report::words::headline(&run);
    let tiles = report::tiles(&run).into_iter();
    let tiles = tiles.map(|tile| [tile.name, tile.value, tile.unit.to_owned(), tile.beside]);
    let findings = report::advice::advice(&run).into_iter();
    let findings = findings.map(|one| [one.title.to_string(), one.text]);
    let parts = run
        .result
        .array
        .as_ref()
        .map_or_else(Vec::new, |array| parts(&plan.planned.settings, array));
    let mut notes = run.result.warnings.clone();
    notes.extend(run.result.notes.iter().cloned());
    Predicted {
        toml: design.text(),
        first,
        word: headline.word,
        tone: Tone::of_verdict(run.result.verdict).class(),
        sentence: headline.sentence,
        reason: headline.reason,
        tiles: tiles.collect(),
        findings: findings.collect(),
        tables: tables(&run.result),
        charts: report::run_charts(&run).iter().map(chart).collect(),
        busiest: busiest(&parts),
        parts,
        notes,
        result: run.result,
    }
}

fn tables(result: &RunResult) -> Vec<TableData> {
    let mut tables = vec![
        table("Service levels", grouped_checks_table(&result.checks)),
        table("Error bars of the calibration", error_bars_table(result)),
        table("I/O by type", traffic_table(result)),
        table("Operations", operations_table(result)),
        table("Events", events_table(result)),
    ];
    if let Some(array) = &result.array {
        tables.extend([
            table("Disk groups", array_groups_table(array)),
            table("Pools", array_pools_table(array)),
            table("Controllers", array_controllers_table(array)),
            table("Volumes", array_volumes_table(array)),
            table("All disks", array_disks_table(array)),
        ]);
    }
    tables.into_iter().flatten().collect()
}

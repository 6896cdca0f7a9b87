//! `proofload predict --sweep` and `--find`: many predictions side by side, on all processors.
//!
//! - [`axis`]: a setting and its values, as they are given.
//! - [`point`]: one prediction of the grid; every one is checked before the first is computed.
//! - [`crew`]: computes points on all processors, with a run directory for each.
//! - [`search`] and [`find`]: the last point that passes, in few rounds, and what that means.
//! - [`conclude`]: what all of it comes to, and the exit status.
//! - [`view`]: what people see meanwhile.

mod axis;
mod conclude;
mod crew;
mod find;
mod output;
mod point;
mod search;
mod view;

use std::time::Instant;

use jiff::Timestamp;
use measure::grid::{GRID_SCHEMA, GridAxis, GridPoint, GridResult};
use measure::result::Verdict;
use measure::run_directory::{check_vacant, new_directory};

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::run::{caution, results};
use crate::{human, interrupt, workloads};
use crew::Crew;
use find::Question;
use point::{Point, combinations};
use view::View;

/// More points than this are a slip of the keyboard.
const MOST_POINTS: usize = 10_000;

/// What there is to compute.
enum Task {
    /// Every point.
    Grid(Vec<Point>),
    /// As many as the answers need.
    Find(Vec<Question>),
}

/// Makes many predictions and says what comes out.
pub fn sweep(options: &PredictOptions) -> Result<ExitStatus, Failure> {
    let mut notes = Vec::new();
    let axes = axes(options)?;
    let task = plan(options, axes.clone(), &mut notes)?;
    let out = options.out.as_deref();
    out.map_or(Ok(()), check_vacant)
        .map_err(|error| results::refusal(&error))?;
    notes.extend(task.first().and_then(|point| caution(&point.plan.profile)));
    if options.dry_run {
        return print(&task.describe(&notes));
    }
    let started = Timestamp::now();
    let kind = if options.find.is_some() {
        "find"
    } else {
        "sweep"
    };
    let name = format!("{}-{kind}", workloads::short_name(&options.workload));
    let directory = new_directory(out, &name, started).map_err(|error| results::refusal(&error))?;
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let mut grid = GridResult {
        schema: GRID_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workload: workloads::short_name(&options.workload),
        array: arrays(options, &axes),
        started: started.to_string(),
        axes,
        ..GridResult::default()
    };
    let begun = Instant::now();
    let points = directory.join("points");
    {
        let mut view = View::new(options.quiet);
        notes.iter().for_each(|note| view.note(note.trim_end()));
        let crew = Crew {
            jobs: jobs(options),
            directory: &points,
            stop: &stop,
        };
        match task {
            Task::Grid(points) => all(&points, &crew, &mut view, &mut grid)?,
            Task::Find(mut questions) => search(&mut questions, &crew, &mut view, &mut grid)?,
        }
    }
    grid.wall_seconds = begun.elapsed().as_secs_f64();
    let status = conclude::conclude(&mut grid, stop.is_stopped());
    output::write(options, &grid, &directory)?;
    Ok(status)
}

/// The array, or how many there are.
fn arrays(options: &PredictOptions, axes: &[GridAxis]) -> String {
    match axes.iter().find(|axis| axis.key == "array") {
        Some(axis) => human::count(axis.values.len() as u64, "array"),
        None => workloads::short_name(&options.array),
    }
}

fn jobs(options: &PredictOptions) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    options.jobs.map_or(processors, |jobs| jobs as usize)
}

/// The axes as they were given, each setting once.
fn axes(options: &PredictOptions) -> Result<Vec<GridAxis>, Failure> {
    let mut axes: Vec<GridAxis> = Vec::new();
    for text in &options.sweep {
        let axis = axis::parse(text)?;
        if axes.iter().any(|known| known.key == axis.key) {
            return Err(Failure::usage(
                format!("--sweep names {} twice.", axis.key),
                "Write all of its values after one --sweep.",
            ));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Every point that may be computed, checked.
fn plan(
    options: &PredictOptions,
    axes: Vec<GridAxis>,
    notes: &mut Vec<String>,
) -> Result<Task, Failure> {
    let count = axes.iter().map(|axis| axis.values.len()).product::<usize>();
    if count > MOST_POINTS {
        return Err(Failure::usage(
            format!("These sweeps come to {count} points."),
            format!("Vary less: {MOST_POINTS} points are the most."),
        ));
    }
    if let Some(find) = options.find {
        return find::questions(find, options, axes, notes).map(Task::Find);
    }
    let points = combinations(&axes).into_iter();
    let points = points.map(|values| Point::check(options, &axes, &values));
    points.collect::<Result<_, _>>().map(Task::Grid)
}

impl Task {
    fn first(&self) -> Option<&Point> {
        match self {
            Self::Grid(points) => points.first(),
            Self::Find(questions) => questions.first()?.points.first(),
        }
    }

    /// The points as text.
    fn describe(&self, notes: &[String]) -> String {
        let mut text = String::new();
        match self {
            Self::Grid(points) => {
                text.push_str(&format!("{} points:\n", points.len()));
                points
                    .iter()
                    .for_each(|point| text.push_str(&format!("  {}\n", point.name)));
            }
            Self::Find(questions) => {
                for question in questions {
                    let ends = (question.points.first(), question.points.last());
                    if let (Some(first), Some(last)) = ends {
                        let count = question.points.len();
                        let (first, last) = (&first.name, &last.name);
                        text.push_str(&format!(
                            "{}: searched in {count} points from {first} to {last}\n",
                            question.find.name()
                        ));
                    }
                }
            }
        }
        if let Some(point) = self.first() {
            text.push_str(&format!("The first point:\n{}", point.plan.describe()));
        }
        notes
            .iter()
            .for_each(|note| text.push_str(&format!("{}\n", note.trim_end())));
        text
    }
}

/// Computes every point.
fn all(
    points: &[Point],
    crew: &Crew<'_>,
    view: &mut View,
    grid: &mut GridResult,
) -> Result<(), Failure> {
    let all: Vec<&Point> = points.iter().collect();
    let results = crew.compute(&all, view)?;
    for (point, result) in points.iter().zip(&results) {
        let mut entry = point.entry();
        if let Some(result) = result {
            entry.fill(result);
        }
        grid.points.push(entry);
    }
    grid.complete = results.iter().all(Option::is_some);
    Ok(())
}

/// Computes points until every question is answered.
fn search(
    questions: &mut [Question],
    crew: &Crew<'_>,
    view: &mut View,
    grid: &mut GridResult,
) -> Result<(), Failure> {
    grid.complete = true;
    for question in questions {
        let mut tried: Vec<(usize, GridPoint)> = Vec::new();
        loop {
            let probes = question.search.probes(crew.jobs);
            if probes.is_empty() {
                break;
            }
            view.round(grid.points.len() + tried.len());
            let points: Vec<&Point> = probes
                .iter()
                .map(|probe| &question.points[*probe])
                .collect();
            let results = crew.compute(&points, view)?;
            let passes = |number: &usize| results[*number].as_ref().map(|r| r.verdict);
            let last_pass = (0..probes.len()).rfind(|n| passes(n) == Some(Verdict::Pass));
            let mut judged = Vec::new();
            for (number, (probe, point)) in probes.iter().zip(points).enumerate() {
                let Some(result) = &results[number] else {
                    continue;
                };
                let mut entry = point.entry();
                entry.fill(result);
                tried.push((*probe, entry));
                // What could not be judged while more than it passes is no bound.
                let doubtful = result.verdict == Verdict::Inconclusive;
                if !(doubtful && last_pass.is_some_and(|last| last > number)) {
                    judged.push((*probe, result.verdict == Verdict::Pass));
                }
            }
            if crew.stop.is_stopped() {
                grid.complete = false;
                break;
            }
            question.search.take(&judged);
        }
        tried.sort_by_key(|(number, _)| *number);
        grid.points
            .extend(tried.into_iter().map(|(_, entry)| entry));
        if !grid.complete {
            break;
        }
        let answer = question.answer(&grid.points);
        view.note(&answer.sentence);
        grid.answers.push(answer);
    }
    tried_axes(grid);
    Ok(())
}

/// The axes of a search are the values that were tried, in their order.
fn tried_axes(grid: &mut GridResult) {
    let mut axes: Vec<GridAxis> = Vec::new();
    for (key, value) in grid.points.iter().flat_map(|point| &point.values) {
        let place = axes
            .iter()
            .position(|axis| axis.key == *key)
            .unwrap_or_else(|| {
                axes.push(GridAxis {
                    key: key.clone(),
                    values: Vec::new(),
                });
                axes.len() - 1
            });
        if !axes[place].values.contains(value) {
            axes[place].values.push(value.clone());
        }
    }
    for axis in &mut axes {
        if let Some(numbers) = axis.numbers() {
            let mut both: Vec<(f64, String)> =
                numbers.into_iter().zip(axis.values.clone()).collect();
            both.sort_by(|a, b| a.0.total_cmp(&b.0));
            axis.values = both.into_iter().map(|(_, value)| value).collect();
        }
    }
    // What is searched over varies fastest.
    let searched = grid.answers.first().map(|answer| answer.key.clone());
    axes.sort_by_key(|axis| Some(&axis.key) == searched.as_ref());
    grid.axes = axes;
}

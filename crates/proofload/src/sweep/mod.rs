//! Sweeps and searches: many predictions side by side, on all CPUs.
//!
//! - [`axis`]: a setting and its values, as they are given.
//! - [`point`]: one prediction of the grid; every one is checked before the first is computed.
//! - [`compute`]: computes points on all CPUs, with a run directory for each.
//! - `search`, `rounds` and [`find`]: the last point that passes, in few rounds, and what that means.
//! - [`conclude`]: what all of it comes to.

mod axis;
mod compute;
mod conclude;
mod find;
mod flash;
mod point;
mod rounds;
mod search;

pub use axis::Axis;
pub use find::Find;

use std::fs;
use std::path::{Path, PathBuf};

use config::Choice as _;
use measure::grid::{GRID_FILE, GRID_SCHEMA, GridAxis, GridResult};
use measure::result::Verdict;
use measure::run_directory::new_directory;
use measure::units;
use workload::progress::StopRequest;

use crate::scenario::Scenario;
use crate::setting::Key;
use crate::workers::{Alone, Helpers};
use crate::{workers, workloads};
use compute::Computation;
use execution::Error;
use execution::Output;
use execution::clock::Stopwatch;
use execution::events::{Event, Observer, ignore};
use execution::{clock, results};
use find::Question;
use point::{Point, combinations};

/// More points than this are a slip of the keyboard.
const MOST_POINTS: usize = 10_000;

/// What there is to compute.
enum Task {
    /// Every point, in the order of the axes.
    Grid(Vec<Point>),
    /// As many as the answers need.
    Find(Vec<Question>),
}

/// A sweep that can begin.
pub struct Prepared {
    scenario: Scenario,
    axes: Vec<Axis>,
    jobs: usize,
    task: Task,
    notes: Vec<String>,
}

/// What a sweep gives.
#[derive(Clone, Debug)]
pub struct SweepOutcome {
    /// The points, and the answers of a search.
    pub grid: GridResult,
    /// What all of it comes to.
    pub verdict: Verdict,
    /// The directory of the sweep, with a run directory for each point below `points`, if there is
    /// one.
    pub directory: Option<PathBuf>,
}

impl Prepared {
    /// Checks every point. Writes nothing.
    ///
    /// # Errors
    /// The first point that cannot be predicted, and a directory for the results that is not vacant.
    pub fn new(scenario: &Scenario, axes: &[Axis], jobs: Option<usize>) -> Result<Self, Error> {
        check_axes(axes)?;
        let points = combinations(axes).into_iter();
        let points = points.map(|values| Point::check(scenario, axes, &values));
        let task = Task::Grid(points.collect::<Result<_, _>>()?);
        Self::of_task(scenario, axes, jobs, task, Vec::new())
    }

    /// Checks every point of a search. Over those axes that a search for `find` does not vary, it is
    /// made for every combination. Writes nothing.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when nothing that is varied changes what is searched for.
    pub fn search(
        scenario: &Scenario,
        find: Find,
        axes: &[Axis],
        jobs: Option<usize>,
    ) -> Result<Self, Error> {
        check_axes(axes)?;
        let scenario = Scenario {
            settled: true,
            ..scenario.clone()
        };
        let mut notes = Vec::new();
        let task = find::questions(find, &scenario, axes.to_vec(), &mut notes).map(Task::Find)?;
        Self::of_task(&scenario, axes, jobs, task, notes)
    }

    fn of_task(
        scenario: &Scenario,
        axes: &[Axis],
        jobs: Option<usize>,
        task: Task,
        mut notes: Vec<String>,
    ) -> Result<Self, Error> {
        results::check(&scenario.output)?;
        let first = task.first();
        notes.extend(first.and_then(|point| results::sample_warning(&*point.plan.profile)));
        Ok(Self {
            scenario: scenario.clone(),
            axes: axes.to_vec(),
            jobs: jobs.unwrap_or_else(workers::cpus),
            task,
            notes,
        })
    }

    /// The points as text.
    #[must_use]
    pub fn describe(&self) -> String {
        self.task.describe(&self.notes)
    }

    /// Computes every point, or those that the answers need, or stops when somebody asks for it.
    ///
    /// # Errors
    /// When results cannot be written, or a prediction ends by a fault of the program.
    pub fn run(
        self,
        observer: Box<dyn Observer>,
        stop: &StopRequest,
    ) -> Result<SweepOutcome, Error> {
        self.run_with(observer, stop, &Alone)
    }

    /// The same with other processes that compute points too.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(
        self,
        mut observer: Box<dyn Observer>,
        stop: &StopRequest,
        helpers: &dyn Helpers,
    ) -> Result<SweepOutcome, Error> {
        let Self {
            scenario,
            axes,
            jobs,
            task,
            notes,
        } = self;
        let started = clock::timestamp();
        let (kind, find) = match &task {
            Task::Find(questions) => ("find", questions.first().map(|question| question.find)),
            Task::Grid(_) => ("sweep", None),
        };
        let workload = workloads::short_name(scenario.registry, &scenario.workload);
        let name = format!("{workload}-{kind}");
        let directory = match &scenario.output {
            Output::Memory => None,
            output => Some(
                new_directory(output.named(), &name, started)
                    .map_err(|error| results::refusal(&error))?,
            ),
        };
        let mut grid = GridResult {
            schema: GRID_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            array: arrays(&scenario, &axes, &workload),
            workload,
            started: started.to_string(),
            find: find.map_or(String::new(), |find| find.name().to_owned()),
            axes: axes.iter().map(Axis::entry).collect(),
            ..GridResult::default()
        };
        let began = Stopwatch::start();
        let observer = &mut *observer;
        for note in &notes {
            observer.event(Event::Note(note.trim_end()));
        }
        let computation = Computation {
            jobs,
            helpers,
            directory: directory.as_ref().map(|directory| directory.join("points")),
            stop,
        };
        match task {
            Task::Grid(points) => all(&points, &computation, observer, &mut grid)?,
            Task::Find(mut questions) => {
                rounds::search(&mut questions, &computation, observer, &mut grid)?;
                tried_axes(&mut grid);
            }
        }
        grid.wall_seconds = began.elapsed().as_secs_f64();
        let verdict = conclude::conclude(&mut grid, stop.is_stopped());
        if let Some(directory) = &directory {
            write(&grid, directory)?;
        }
        Ok(SweepOutcome {
            grid,
            verdict,
            directory,
        })
    }
}

impl Prepared {
    /// Computes the point of this name into a directory: what a helper does.
    ///
    /// # Errors
    /// When there is no such point, or it cannot be written.
    pub fn compute_point(
        &self,
        name: &str,
        directory: &Path,
        stop: &StopRequest,
    ) -> Result<(), Error> {
        let mut points: Box<dyn Iterator<Item = &Point>> = match &self.task {
            Task::Grid(points) => Box::new(points.iter()),
            Task::Find(questions) => Box::new(questions.iter().flat_map(|one| &one.points)),
        };
        let point = points.find(|point| point.directory() == name);
        let point = point.ok_or_else(|| workers::unknown_item(name))?;
        let output = Output::Directory(directory.to_owned());
        compute::record(point, &output, ignore(), stop).map(drop)
    }
}

/// Writes the grid as one document.
fn write(grid: &GridResult, directory: &Path) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(grid)
        .map_err(|error| Error::environment(format!("The grid: {error}."), ""))?;
    let path = directory.join(GRID_FILE);
    fs::write(&path, format!("{text}\n")).map_err(|error| {
        Error::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "",
        )
    })
}

impl Scenario {
    /// Predicts every combination of the values of these axes, without an observer.
    ///
    /// # Errors
    /// The first point that cannot be predicted; when results cannot be written.
    pub fn sweep(&self, axes: &[Axis]) -> Result<SweepOutcome, Error> {
        Prepared::new(self, axes, None)?.run(ignore(), &StopRequest::new())
    }

    /// Searches for the most load, or the least flash, that passes, without an observer.
    ///
    /// # Errors
    /// As [`Prepared::search`]; when results cannot be written.
    pub fn find(&self, find: Find, axes: &[Axis]) -> Result<SweepOutcome, Error> {
        Prepared::search(self, find, axes, None)?.run(ignore(), &StopRequest::new())
    }
}

/// The array, or how many there are.
fn arrays(scenario: &Scenario, axes: &[Axis], workload: &str) -> String {
    match axes.iter().find(|axis| axis.key == Key::Array) {
        Some(axis) => units::count(axis.values.len() as u64, "array"),
        None if scenario.array.is_empty() => workload.to_owned(),
        None => workloads::short_name(scenario.registry, &scenario.array),
    }
}

/// Refuses axes of the same setting, and too many points.
fn check_axes(axes: &[Axis]) -> Result<(), Error> {
    for (number, axis) in axes.iter().enumerate() {
        if axes[..number].iter().any(|known| known.key == axis.key) {
            return Err(Error::usage(
                format!("--sweep names {} twice.", axis.key),
                "Write all of its values after one --sweep.",
            ));
        }
    }
    let count = axes.iter().map(|axis| axis.values.len()).product::<usize>();
    if count > MOST_POINTS {
        return Err(Error::usage(
            format!("These sweeps come to {count} points."),
            format!("Vary less: {MOST_POINTS} points are the most."),
        ));
    }
    Ok(())
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

/// Computes every point and adds it to the grid.
fn all(
    points: &[Point],
    computation: &Computation<'_>,
    observer: &mut dyn Observer,
    grid: &mut GridResult,
) -> Result<(), Error> {
    let all: Vec<&Point> = points.iter().collect();
    let results = computation.compute(&all, observer)?;
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

//! Studies: published evaluations repeated on modelled arrays, the model beside the paper.
//!
//! A short tour: [`description`] is what a study looks like in TOML, [`load`] finds and checks it,
//! [`families`] says what each product family assumes. [`cases`] predicts every case once,
//! [`progress`] follows how far that is, [`measures`] takes numbers from the results, and `judge`
//! puts them beside the published ones.

mod bundled;
mod cases;
mod description;
mod families;
mod judge;
mod load;
mod measures;
mod progress;

pub use bundled::{BUNDLED_STUDIES, BundledStudy, bundled_study};
pub use description::{Bound, ChartPlan, Figure, Kind, LinePlan, Study};
pub use judge::{JudgedFigure, Results, TOLERANCE};
pub use load::NamedStudy;
pub use measures::{CaseResult, Measure, value as measured_value};

use std::fs;
use std::path::{Path, PathBuf};

use measure::result::{RunResult, Verdict};
use measure::run_directory::DEFAULT_PARENT;
use workload::progress::StopRequest;

use crate::options::StudyOptions;
use crate::setting::Setting;
use crate::workers::{self, Alone, Helpers};
use cases::Task;
use execution::Error;
use execution::clock;
use execution::events::{Event, Observer, ignore};
use families::{Assumption, Families};
use judge::judge;

/// What came out of one study.
pub struct StudyOutcome {
    /// Its name and description.
    pub named: NamedStudy,
    /// Results of its cases.
    pub own: Results,
    /// Results of the blind predictions.
    pub blind: Results,
    /// The published figures beside the predicted ones, in the order of the description.
    pub figures: Vec<JudgedFigure>,
}

/// Studies that can begin.
pub struct Prepared {
    studies: Vec<NamedStudy>,
    tasks: Vec<Task>,
    options: StudyOptions,
    out: PathBuf,
}

/// What several studies give.
pub struct StudiesOutcome {
    /// The outcome of each study, in the order of the call.
    pub studies: Vec<StudyOutcome>,
    /// Whether every figure is inside its tolerance.
    pub verdict: Verdict,
    /// The directory of the results.
    pub directory: PathBuf,
}

impl Prepared {
    /// Loads the studies and checks every case. Writes nothing.
    ///
    /// # Errors
    /// The first fault of a study or a case, and a directory that holds something else.
    pub fn new(options: &StudyOptions) -> Result<Self, Error> {
        let studies = load::load(&options.names)?;
        let out = match &options.out {
            Some(out) => out.clone(),
            None => new_directory(),
        };
        check_vacant(&out)?;
        let mut tasks = Vec::new();
        for named in &studies {
            add_tasks(named, options, &out, &mut tasks)?;
        }
        // The longest first, so that no core is idle at the end.
        tasks.sort_by(|one, other| other.simulated_s().total_cmp(&one.simulated_s()));
        Ok(Self {
            studies,
            tasks,
            options: options.clone(),
            out,
        })
    }

    /// How many cases are predicted at once.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.options.jobs.unwrap_or_else(workers::cpus).max(1)
    }

    /// Predicts every case and compares the figures, or stops when somebody asks for it.
    ///
    /// # Errors
    /// The first case whose results cannot be written.
    pub fn run(
        self,
        observer: Box<dyn Observer>,
        stop: &StopRequest,
    ) -> Result<StudiesOutcome, Error> {
        self.run_with(observer, stop, &Alone)
    }

    /// Predicts the case of this name into a directory: what a helper does.
    ///
    /// # Errors
    /// When there is no such case, or it cannot be written.
    pub fn compute_case(
        &self,
        name: &str,
        directory: &Path,
        stop: &StopRequest,
    ) -> Result<(), Error> {
        let task = self.tasks.iter().find(|task| task.name() == name);
        let task = task.ok_or_else(|| workers::unknown_item(name))?;
        task.record(directory, ignore(), stop)
    }

    /// As [`run`](Self::run), with other processes that predict cases too.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(
        self,
        mut observer: Box<dyn Observer>,
        stop: &StopRequest,
        helpers: &dyn Helpers,
    ) -> Result<StudiesOutcome, Error> {
        let options = &self.options;
        let runs = cases::predict_all(&self.tasks, (self.jobs(), helpers), &mut *observer, stop)?;
        let mut studies: Vec<StudyOutcome> =
            self.studies.into_iter().map(StudyOutcome::new).collect();
        for (task, run) in self.tasks.iter().zip(runs) {
            let outcome = studies.iter_mut().find(|one| one.named.name == task.study);
            if let (Some(outcome), Some(run)) = (outcome, run) {
                if let Some(problem) = problem(&run.result) {
                    observer.event(Event::Note(&format!("{}: {problem}", task.title())));
                }
                outcome.take(task, run, !options.no_blind);
            }
        }
        studies.iter_mut().for_each(StudyOutcome::judge);
        write_figures(&studies, &self.out)?;
        Ok(StudiesOutcome {
            verdict: verdict_on(&studies, stop.is_stopped()),
            studies,
            directory: self.out,
        })
    }
}

impl StudiesOutcome {
    /// The figures of all studies as JSON.
    ///
    /// # Errors
    /// When a figure cannot be written as JSON.
    pub fn figures_json(&self) -> Result<String, Error> {
        json_of(&self.studies)
    }
}

fn json_of(studies: &[StudyOutcome]) -> Result<String, Error> {
    let figures: Vec<&JudgedFigure> = studies.iter().flat_map(|one| &one.figures).collect();
    serde_json::to_string_pretty(&figures)
        .map_err(|error| Error::environment(format!("The figures: {error}."), ""))
}

/// The figures of all studies as JSON, in the directory of the results.
const FIGURES_FILE: &str = "figures.json";

fn write_figures(studies: &[StudyOutcome], out: &Path) -> Result<(), Error> {
    let path = out.join(FIGURES_FILE);
    let json = json_of(studies)?;
    let written = fs::create_dir_all(out).and_then(|()| fs::write(&path, format!("{json}\n")));
    written.map_err(|error| {
        Error::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "Name another directory with --out.",
        )
    })
}

/// Refuses a directory that holds something else than an earlier study.
fn check_vacant(out: &Path) -> Result<(), Error> {
    let is_ours = out.join("cases").is_dir();
    let Ok(mut entries) = fs::read_dir(out) else {
        return match out.exists() {
            true => Err(Error::usage(
                format!("{} is not a directory.", out.display()),
                "Name a new directory with --out.",
            )),
            false => Ok(()),
        };
    };
    if is_ours || entries.next().is_none() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{} holds something that no study has written.",
            out.display()
        ),
        "Name a new directory with --out, or that of an earlier study.",
    ))
}

/// Where results go when nothing is said.
fn new_directory() -> PathBuf {
    let now = clock::timestamp().strftime("%Y%m%dT%H%M%SZ").to_string();
    PathBuf::from(DEFAULT_PARENT).join(format!("study-{now}"))
}

/// The cases that a figure or a chart asks for, and the blind ones where the family or the study
/// assumes anything.
fn add_tasks(
    named: &NamedStudy,
    options: &StudyOptions,
    out: &Path,
    tasks: &mut Vec<Task>,
) -> Result<(), Error> {
    let families = Families::bundled()?;
    let (name, study) = (&named.name, &named.study);
    for (case_name, case) in &study.case {
        let figures = study
            .figure
            .iter()
            .flat_map(|one| one.cases.iter().chain(&one.baseline_cases));
        let lines = study.chart.iter().flat_map(|chart| &chart.line);
        let mut wanted = figures.chain(lines.flat_map(|line| &line.cases));
        if !wanted.any(|wanted| wanted == case_name) {
            continue;
        }
        let case = case.over(&study.defaults);
        let of_case = |blind: &[Setting]| cases::scenario_of(&case, options, blind);
        let place = (name.as_str(), case_name.as_str());
        let mut own = Task::new(place, false, &of_case(&[])?, out)?;
        let mut blind = families.blind_settings(own.family());
        blind.extend(study.assumption.iter().map(Assumption::blind_setting));
        own.has_blind = !options.no_blind && !blind.is_empty();
        let has_blind = own.has_blind;
        tasks.push(own);
        if has_blind {
            tasks.push(Task::new(place, true, &of_case(&blind)?, out)?);
        }
    }
    Ok(())
}

/// Interrupted before all; then whether every case ran and was steady; then the figures.
fn verdict_on(outcomes: &[StudyOutcome], stopped: bool) -> Verdict {
    let runs = || {
        let runs = outcomes
            .iter()
            .flat_map(|one| one.own.values().chain(one.blind.values()));
        runs.map(|run| &run.result)
    };
    let mut figures = outcomes.iter().flat_map(|one| &one.figures);
    if stopped {
        Verdict::Interrupted
    } else if runs().any(|result| result.verdict == Verdict::Error) {
        Verdict::Error
    } else if runs().any(is_unsteady) {
        Verdict::Inconclusive
    } else if figures.any(|figure| figure.is_compared && !figure.within) {
        Verdict::Fail
    } else {
        Verdict::Pass
    }
}

/// Whether a case was to be steady and was not.
fn is_unsteady(result: &RunResult) -> bool {
    let required = result.workload.settings.get("run.steady_state.required");
    let required = required.and_then(serde_json::Value::as_bool) == Some(true);
    let steady = result.steady_state.as_ref().and_then(|found| found.steady);
    required && steady != Some(true)
}

/// What is wrong with the result of a case, in a sentence; `None` when nothing is.
fn problem(result: &RunResult) -> Option<String> {
    match result.verdict {
        Verdict::Error => Some(result.verdict_reason.clone()),
        _ if is_unsteady(result) => Some("Not steady.".to_owned()),
        _ => None,
    }
}

impl StudyOutcome {
    fn new(named: NamedStudy) -> Self {
        Self {
            named,
            own: Results::new(),
            blind: Results::new(),
            figures: Vec::new(),
        }
    }

    /// A family that assumes nothing is predicted blindly by its own case.
    fn take(&mut self, task: &Task, run: CaseResult, with_blind: bool) {
        if task.blind {
            self.blind.insert(task.case.clone(), run);
            return;
        }
        if with_blind && !task.has_blind {
            self.blind.insert(task.case.clone(), run.clone());
        }
        self.own.insert(task.case.clone(), run);
    }

    fn judge(&mut self) {
        let (name, study) = (&self.named.name, &self.named.study);
        self.figures = judge(name, study, &self.own, &self.blind);
    }
}

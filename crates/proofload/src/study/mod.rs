//! `proofload study`: repeats published studies on modelled arrays and puts the model beside the
//! paper.
//!
//! A short tour: [`description`] is what a study looks like in TOML, [`load`] finds and checks it,
//! [`families`] says what each product family assumes. [`cases`] predicts every case once,
//! [`measures`] takes numbers from the results, [`judge`] puts them beside the published ones, and
//! [`tell`] prints and writes what came out. [`board`] shows how far it has come.

mod board;
mod bundled;
mod cases;
mod description;
mod families;
mod judge;
mod load;
mod measures;
mod page;
mod tell;

pub use bundled::{BUNDLED_STUDIES, bundled_study};

use std::path::PathBuf;
use std::thread;

use jiff::Timestamp;
use measure::result::{RunResult, Verdict};
use measure::run_directory::DEFAULT_PARENT;

use crate::cli::StudyOptions;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::interrupt;
use cases::Task;
use families::Families;
use judge::{Judged, Results, judge};
use load::Named;

/// What came out of one study.
struct Outcome {
    named: Named,
    /// Results of its cases, and of the blind ones.
    own: Results,
    blind: Results,
    figures: Vec<Judged>,
}

/// Repeats studies and says how far the model is from the papers.
pub fn study(options: &StudyOptions) -> Result<ExitStatus, Failure> {
    let studies = load::load(&options.names)?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => new_directory(),
    };
    tell::check_vacant(&out)?;
    let mut tasks = Vec::new();
    for named in &studies {
        add_tasks(named, options, &out, &mut tasks)?;
    }
    // The longest first, so that no core stands idle at the end.
    tasks.sort_by(|one, other| other.simulated_s().total_cmp(&one.simulated_s()));
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let jobs = options.jobs.unwrap_or_else(cores).max(1);
    let runs = cases::predict_all(&tasks, jobs, options.quiet, &stop)?;
    let mut outcomes: Vec<Outcome> = studies.into_iter().map(Outcome::new).collect();
    for (task, run) in tasks.iter().zip(runs) {
        let outcome = outcomes.iter_mut().find(|one| one.named.name == task.study);
        if let (Some(outcome), Some(run)) = (outcome, run) {
            if let Some(trouble) = trouble(&run.result).filter(|_| !options.quiet) {
                tell!("{}: {trouble}", task.title());
            }
            outcome.take(task, run, !options.no_blind);
        }
    }
    outcomes.iter_mut().for_each(Outcome::judge);
    tell::tell(options, &outcomes, &out)?;
    Ok(status(&outcomes, stop.is_stopped()))
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Where results go when nothing is said.
fn new_directory() -> PathBuf {
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    PathBuf::from(DEFAULT_PARENT).join(format!("study-{now}"))
}

/// The cases that a figure or a chart asks for, and the blind ones where the family assumes
/// anything.
fn add_tasks(
    named: &Named,
    options: &StudyOptions,
    out: &std::path::Path,
    tasks: &mut Vec<Task>,
) -> Result<(), Failure> {
    let families = Families::bundled()?;
    let (name, study) = (&named.name, &named.study);
    for (case_name, case) in &study.case {
        let figures = study
            .figure
            .iter()
            .flat_map(|one| one.of.iter().chain(&one.against));
        let lines = study.chart.iter().flat_map(|chart| &chart.line);
        let mut wanted = figures.chain(lines.flat_map(|line| &line.of));
        if !wanted.any(|wanted| wanted == case_name) {
            continue;
        }
        let case = case.over(&study.defaults);
        let of_case = |blind: &[String]| cases::options_of(&case, options, blind);
        let place = (name.as_str(), case_name.as_str());
        let mut own = Task::new(place, false, &of_case(&[]), out)?;
        let blind = families.blind_settings(own.family());
        own.has_blind = !options.no_blind && !blind.is_empty();
        let has_blind = own.has_blind;
        tasks.push(own);
        if has_blind {
            tasks.push(Task::new(place, true, &of_case(&blind), out)?);
        }
    }
    Ok(())
}

/// Interrupted before all; then whether every case ran and was steady; then the figures.
fn status(outcomes: &[Outcome], stopped: bool) -> ExitStatus {
    let runs = || {
        let runs = outcomes
            .iter()
            .flat_map(|one| one.own.values().chain(one.blind.values()));
        runs.map(|run| &run.result)
    };
    let mut figures = outcomes.iter().flat_map(|one| &one.figures);
    if stopped {
        ExitStatus::Interrupted
    } else if runs().any(|result| result.verdict == Verdict::Error) {
        ExitStatus::Integrity
    } else if runs().any(is_unsteady) {
        ExitStatus::Inconclusive
    } else if figures.any(|figure| figure.model.is_some() && !figure.within) {
        ExitStatus::LevelMissed
    } else {
        ExitStatus::Pass
    }
}

/// Whether a case was to be steady and was not.
fn is_unsteady(result: &RunResult) -> bool {
    let required = result.workload.settings.get("run.steady_state.required");
    let required = required.and_then(serde_json::Value::as_bool) == Some(true);
    let steady = result.steady_state.as_ref().and_then(|found| found.steady);
    required && steady != Some(true)
}

/// What spoils a case, in a sentence; `None` when nothing does.
fn trouble(result: &RunResult) -> Option<String> {
    match result.verdict {
        Verdict::Error => Some(result.verdict_reason.clone()),
        _ if is_unsteady(result) => Some("It was to be steady and was not.".to_owned()),
        _ => None,
    }
}

impl Outcome {
    fn new(named: Named) -> Self {
        Self {
            named,
            own: Results::new(),
            blind: Results::new(),
            figures: Vec::new(),
        }
    }

    /// A family that assumes nothing is predicted blindly by its own case.
    fn take(&mut self, task: &Task, run: report::Run, with_blind: bool) {
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

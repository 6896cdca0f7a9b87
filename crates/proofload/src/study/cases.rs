//! The cases of studies: each predicted once, as many at a time as there are cores, and kept.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use measure::result::{RunResult, Verdict};
use measure::run_directory::{CONFIG_FILE, REPORT_FILE, RESULT_FILE};
use report::Run;
use workload::progress::StopRequest;

use super::board::{Board, Watch};
use super::description::Case;
use crate::cli::{PredictOptions, StudyOptions};
use crate::failure::Failure;
use crate::predict::{self, ARRAY_FILE, Plan, config};
use crate::run::Recorder;

/// How often the board is shown while cases are predicted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A case with everything that is needed to predict it.
pub struct Task {
    /// The study.
    pub study: String,
    /// The case.
    pub case: String,
    /// Whether the family's assumptions are replaced.
    pub blind: bool,
    /// Whether there is a blind task beside this one.
    pub has_blind: bool,
    plan: Plan,
    directory: PathBuf,
}

/// The options of `predict` that a case stands for.
pub fn options_of(case: &Case, options: &StudyOptions, blind: &[String]) -> PredictOptions {
    let mut set = case.set.clone();
    set.extend(blind.iter().cloned());
    set.extend(options.set.iter().cloned());
    PredictOptions {
        workload: case.workload.clone().unwrap_or_default(),
        array: case.array.clone().unwrap_or_default(),
        duration: options.duration.clone().or(case.duration.clone()),
        threads: case.threads.clone(),
        rate: case.rate.clone(),
        databases: case.databases.clone(),
        mailboxes: case.mailboxes.clone(),
        target_size: case.target_size.clone(),
        seed: options.seed.clone().or(case.seed.clone()),
        set,
        quiet: true,
        ..PredictOptions::default()
    }
}

impl Task {
    /// Resolves and checks a case. Its results will lie below `out`.
    pub fn new(
        (study, case): (&str, &str),
        blind: bool,
        options: &PredictOptions,
        out: &Path,
    ) -> Result<Self, Failure> {
        let ending = if blind { "-blind" } else { "" };
        let directory = out.join("cases").join(format!("{study}-{case}{ending}"));
        Ok(Self {
            study: study.to_owned(),
            case: case.to_owned(),
            blind,
            has_blind: false,
            plan: Plan::check(options)?,
            directory,
        })
    }

    /// The name for people.
    pub fn title(&self) -> String {
        let ending = if self.blind { " (blind)" } else { "" };
        format!("{} {}{ending}", self.study, self.case)
    }

    /// The product family of its array.
    pub fn family(&self) -> &str {
        self.plan.description.family()
    }

    /// Simulated seconds that it takes, at least.
    pub fn simulated_s(&self) -> f64 {
        self.warm_up_s() + self.plan.profile.run.duration.as_seconds()
    }

    /// Simulated seconds before anything is measured, at least.
    pub fn warm_up_s(&self) -> f64 {
        self.plan.profile.run.warm_up.minimum.as_seconds()
    }

    /// What an earlier study found with the same settings, if it came to its end.
    fn kept(&self) -> Option<Run> {
        let same = |file: &str, text: String| {
            fs::read_to_string(self.directory.join(file)).is_ok_and(|found| found == text)
        };
        if !same(CONFIG_FILE, config(&self.plan))
            || !same(ARRAY_FILE, self.plan.description.to_toml())
        {
            return None;
        }
        let run = Run::load(&self.directory).ok()?;
        let version = RunResult::new().version;
        (run.result.complete && ended(&run.result) && run.result.version == version).then_some(run)
    }

    /// Removes what an earlier study with other settings left. Touches nothing else.
    fn clear(&self) -> Result<(), Failure> {
        let ours = [RESULT_FILE, CONFIG_FILE, ARRAY_FILE];
        if !ours.iter().all(|file| self.directory.join(file).is_file()) {
            return Ok(());
        }
        fs::remove_dir_all(&self.directory).map_err(|error| {
            let path = self.directory.display();
            Failure::environment(format!("{path} cannot be removed: {error}."), "")
        })
    }

    fn predict(&self, watch: Watch, stop: StopRequest) -> Result<Run, Failure> {
        if let Some(run) = self.kept() {
            return Ok(run);
        }
        self.clear()?;
        let started = Timestamp::now();
        let directory = predict::open(&self.plan, Some(&self.directory), started)?;
        let path = directory.path().to_owned();
        let recorder = Recorder::new(Box::new(watch), directory, stop.clone());
        let (result, recorder) = predict::run(&self.plan, started, stop, recorder)?;
        predict::close(recorder, &result)?;
        let unreadable = |error| Failure::environment(format!("{error}."), "");
        let run = Run::load(&path).map_err(unreadable)?;
        let page = path.join(REPORT_FILE);
        fs::write(&page, report::html(&run)).map_err(|error| {
            Failure::environment(
                format!("{} cannot be written: {error}.", page.display()),
                "",
            )
        })?;
        Ok(run)
    }
}

/// Whether a prediction went through to its end, whatever came out.
pub fn ended(result: &RunResult) -> bool {
    !matches!(result.verdict, Verdict::Interrupted | Verdict::Error)
}

/// Predicts every task on as many threads as `jobs`; gives the runs in the order of the tasks. After
/// a wish to stop, tasks that had not begun have none.
pub fn predict_all(
    tasks: &[Task],
    jobs: usize,
    quiet: bool,
    stop: &StopRequest,
) -> Result<Vec<Option<Run>>, Failure> {
    let board = Arc::new(Mutex::new(Board::new(tasks, jobs)));
    let queue = Mutex::new((0..tasks.len()).collect::<VecDeque<usize>>());
    let found = Mutex::new(vec![None; tasks.len()]);
    let failed = Mutex::new(None);
    let work = || {
        while !stop.is_stopped() && lock(&failed).is_none() {
            let Some(number) = lock(&queue).pop_front() else {
                return;
            };
            let watch = Watch::new(Arc::clone(&board), number);
            match tasks[number].predict(watch, stop.clone()) {
                Ok(run) => lock(&found)[number] = Some(run),
                Err(failure) => *lock(&failed) = Some(failure),
            }
            lock(&board).end(number);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            lock(&board).show(quiet);
            thread::sleep(LOOK_EVERY);
        }
        lock(&board).finish(quiet);
    });
    match into_inner(failed) {
        Some(failure) => Err(failure),
        None => Ok(into_inner(found)),
    }
}

/// What a worker that panicked held is as good as ever: it is replaced as a whole.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

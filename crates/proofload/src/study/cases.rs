//! The cases of studies: each predicted once, as many at a time as there are cores, and kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use measure::result::{RunResult, Verdict};
use measure::run_directory::{
    CONFIG_FILE, FIRST_SERIES, LOG_FILE, REPORT_FILE, RESULT_FILE, SECOND_SERIES,
};
use workload::progress::StopRequest;

use super::description::Case;
use super::measures::CaseResult;
use super::progress::{Entry, Progress, Watch, lock};
use crate::options::StudyOptions;
use crate::predict::{self, ARRAY_FILE, Plan, config};
use crate::scenario::Scenario;
use crate::setting::{Key, Setting, Value};
use crate::workers::{self, Helpers};
use execution::Error;
use execution::Output;
use execution::clock;
use execution::events::{Event, Observer};
use execution::recorder::Recorder;

/// The files that a case leaves.
const OWN_FILES: [&str; 10] = [
    RESULT_FILE,
    "result.json.tmp",
    FIRST_SERIES.samples,
    FIRST_SERIES.histograms,
    SECOND_SERIES.samples,
    SECOND_SERIES.histograms,
    LOG_FILE,
    REPORT_FILE,
    CONFIG_FILE,
    ARRAY_FILE,
];

/// A case with everything that is needed to predict it.
pub struct Task {
    /// Name of the study.
    pub study: String,
    /// Name of the case in the study.
    pub case: String,
    /// Whether the assumptions of the family and the study are replaced.
    pub blind: bool,
    /// Whether there is a blind task beside this one.
    pub has_blind: bool,
    plan: Plan,
    directory: PathBuf,
}

/// The scenario that a case stands for. What is set for all cases counts more than what the case
/// says, and the assumptions of a blind prediction more than its settings.
///
/// # Errors
/// A setting of the case without a value.
pub fn scenario_of(
    case: &Case,
    options: &StudyOptions,
    blind: &[Setting],
) -> Result<Scenario, Error> {
    let mut scenario = Scenario::new(case.workload.clone().unwrap_or_default())
        .on_array(case.array.clone().unwrap_or_default());
    for text in &case.set {
        scenario.settings.push(Setting::parse(text)?);
    }
    scenario.settings.extend_from_slice(blind);
    scenario.settings.extend_from_slice(&options.settings);
    let of_case = |text: &Option<String>| text.clone().map(Value::of_text);
    for (key, value) in [
        (
            Key::Duration,
            options.duration.clone().or(of_case(&case.duration)),
        ),
        (Key::Threads, of_case(&case.threads)),
        (Key::Rate, of_case(&case.rate)),
        (Key::Databases, of_case(&case.databases)),
        (Key::Mailboxes, of_case(&case.mailboxes)),
        (Key::TargetSize, of_case(&case.target_size)),
        (Key::Seed, options.seed.clone().or(of_case(&case.seed))),
    ] {
        scenario
            .settings
            .extend(value.map(|value| Setting::new(key, value)));
    }
    Ok(scenario)
}

impl Task {
    /// Resolves and checks a case. Its results will lie below `out`.
    pub fn new(
        (study, case): (&str, &str),
        blind: bool,
        scenario: &Scenario,
        out: &Path,
    ) -> Result<Self, Error> {
        let ending = if blind { "-blind" } else { "" };
        let directory = out.join("cases").join(format!("{study}-{case}{ending}"));
        Ok(Self {
            study: study.to_owned(),
            case: case.to_owned(),
            blind,
            has_blind: false,
            plan: Plan::check(scenario)?,
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
        self.warm_up_s() + self.plan.profile.run().duration.as_seconds()
    }

    /// Simulated seconds before anything is measured, at least.
    pub fn warm_up_s(&self) -> f64 {
        self.plan
            .profile
            .warm_up_in_prediction()
            .shortest
            .as_seconds()
    }

    /// Its line in the progress.
    fn entry(&self) -> Entry {
        Entry::new(self.title(), self.warm_up_s(), self.simulated_s())
    }

    /// What an earlier study found with the same settings, if it came to its end.
    fn kept(&self) -> Option<CaseResult> {
        let same = |file: &str, text: String| {
            fs::read_to_string(self.directory.join(file)).is_ok_and(|found| found == text)
        };
        if !same(CONFIG_FILE, config(&self.plan))
            || !same(ARRAY_FILE, self.plan.description.to_toml())
        {
            return None;
        }
        let run = CaseResult::load(&self.directory).ok()?;
        let version = RunResult::new().version;
        (run.result.complete && ended(&run.result) && run.result.version == version).then_some(run)
    }

    /// Removes what an earlier study with other settings left. Touches nothing else.
    fn clear(&self) -> Result<(), Error> {
        let ours = [RESULT_FILE, CONFIG_FILE, ARRAY_FILE];
        let is_link = self.directory.is_symlink();
        if is_link || !ours.iter().all(|file| self.directory.join(file).is_file()) {
            return Ok(());
        }
        let all = OWN_FILES.iter().map(|file| self.directory.join(file));
        let mut removed = all.map(|path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        // A directory with something else in it is refused when the results are to go there.
        removed.try_for_each(|one| one).map_err(|error| {
            let path = self.directory.display();
            Error::environment(format!("What is in {path} cannot be removed: {error}."), "")
        })
    }

    /// A name that no other task has.
    pub fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The run, and whether it is new. `elsewhere` may have it computed by another process.
    fn predict(
        &self,
        watch: Watch,
        stop: &StopRequest,
        elsewhere: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<(CaseResult, bool), Error> {
        if let Some(run) = self.kept() {
            return Ok((run, false));
        }
        self.clear()?;
        if !elsewhere()? {
            self.record(&self.directory, Box::new(watch), stop)?;
        }
        let unreadable = |error| Error::environment(format!("{error}."), "");
        Ok((CaseResult::load(&self.directory).map_err(unreadable)?, true))
    }
}

impl Task {
    /// Predicts the case into a run directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record(
        &self,
        directory: &Path,
        watch: Box<dyn Observer>,
        stop: &StopRequest,
    ) -> Result<(), Error> {
        let started = clock::timestamp();
        let output = Output::Directory(directory.to_owned());
        let directory = predict::open(&self.plan, &output, started)?;
        let recorder = Recorder::new(watch, directory, stop.clone());
        let (mut result, recorder) = predict::run(&self.plan, started, stop, recorder, 1)?;
        recorder.finish(&mut result).1.complete()?;
        Ok(())
    }
}

/// Whether a prediction went through to its end, whatever came out.
pub fn ended(result: &RunResult) -> bool {
    !matches!(result.verdict, Verdict::Interrupted | Verdict::Error)
}

/// Predicts every task, `jobs` of them at once and further ones by `helpers`; gives the runs in the order of the tasks. After a
/// wish to stop, tasks that had not begun have none.
///
/// # Errors
/// The first case whose results cannot be written.
pub fn predict_all(
    tasks: &[Task],
    (jobs, helpers): (usize, &dyn Helpers),
    observer: &mut dyn Observer,
    stop: &StopRequest,
) -> Result<Vec<Option<CaseResult>>, Error> {
    let progress = Arc::new(Mutex::new(Progress::new(tasks.iter().map(Task::entry))));
    let work = |thread: usize, number: usize| {
        let (task, watch) = (&tasks[number], Watch::new(Arc::clone(&progress), number));
        let elsewhere = || match thread.checked_sub(jobs) {
            Some(slot) => helpers.compute(slot, &task.name(), &task.directory),
            None => Ok(false),
        };
        let predicted = task.predict(watch, stop, elsewhere);
        lock(&progress).end(number);
        predicted
    };
    let report = |done: Option<(usize, &(CaseResult, bool))>| {
        if let Some((number, (_, true))) = done {
            observer.event(Event::CaseDone {
                title: &tasks[number].title(),
                directory: &tasks[number].directory,
            });
        }
        let cases = lock(&progress).cases();
        observer.event(Event::StudyProgress(&cases));
    };
    let runs = workers::compute(jobs + helpers.slots(), tasks.len(), stop, work, report)?;
    let runs = runs.into_iter().map(|run| run.map(|(run, _)| run));
    Ok(runs.collect())
}

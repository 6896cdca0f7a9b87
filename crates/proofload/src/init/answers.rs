//! The questions in their order, and what their answers become.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use config::{ByteSize, TimeSpan};
use execution::Error;
use workload::{SetupAnswers, SetupDefault, SetupKind, SetupQuestion, Workload};

use super::Question;
use super::checks::{self, Plan};
use crate::jetstress::{Draft, as_number, as_text, quoted};
use crate::registry::WORKLOADS;
use crate::scenario::Scenario;
use crate::workloads;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Workload,
    On,
    LogOn,
    /// One of the workload's own, by its place among them.
    Own(usize),
    Duration,
    File,
    Overwrite,
}

/// Where logs lie beside the databases.
const BESIDE: &str = "beside the databases";

/// The answers so far; before they are given, the defaults.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// Name of the bundled profile that is extended.
    base: String,
    workload: &'static dyn Workload,
    /// The settings of that profile.
    settings: BTreeMap<String, serde_json::Value>,
    on: Vec<PathBuf>,
    log_on: Vec<PathBuf>,
    /// Answers to questions of the workload.
    own: SetupAnswers,
    /// The largest size for which there is room, for the question that comes next.
    fitting: Option<(&'static str, ByteSize)>,
    duration: TimeSpan,
    file: PathBuf,
    overwrite: bool,
}

impl Default for Answers {
    fn default() -> Self {
        let first = WORKLOADS.bundled_profiles().next();
        let first = first.map_or(String::new(), |one| one.name.to_owned());
        let mut answers = Self {
            base: String::new(),
            workload: WORKLOADS.workloads[0],
            settings: BTreeMap::new(),
            on: Vec::new(),
            log_on: Vec::new(),
            own: SetupAnswers::new(),
            fitting: None,
            duration: TimeSpan::seconds(2 * 3600),
            file: PathBuf::from(checks::PROFILE),
            overwrite: false,
        };
        // A bundled profile can be read: a test has read them all.
        let _ = answers.take_workload(&first);
        answers.on = vec![checks::usual_target(&answers.plan())];
        answers
    }
}

impl Answers {
    pub(super) fn question(&self, step: Step) -> Question {
        let (text, default) = match step {
            Step::Workload => {
                let names: Vec<&str> = WORKLOADS.bundled_profiles().map(|one| one.name).collect();
                (
                    format!("What shall the storage carry? ({})", names.join(", ")),
                    self.base.clone(),
                )
            }
            Step::On => (
                "Where shall the databases lie? (directories or block devices, with commas between them)".to_owned(),
                joined(&self.on),
            ),
            Step::LogOn => ("Where shall the logs lie?".to_owned(), BESIDE.to_owned()),
            Step::Own(place) => {
                let own = &self.workload.setup_questions()[place];
                (own.text.to_owned(), self.answer(own))
            }
            Step::Duration => (
                "How long shall the load be measured?".to_owned(),
                self.duration.to_string(),
            ),
            Step::File => (
                "Which file shall the profile be written to?".to_owned(),
                self.file.display().to_string(),
            ),
            Step::Overwrite => (
                format!("{} is there. Replace it? (yes or no)", self.file.display()),
                "no".to_owned(),
            ),
        };
        Question { text, default }
    }

    /// The answer to a question of the workload; before it is given, its default.
    fn answer(&self, question: &SetupQuestion) -> String {
        if let Some(given) = self.own.get(question.key) {
            return given.clone();
        }
        match (question.default, self.fitting) {
            (_, Some((key, size))) if key == question.key => size.to_string(),
            (SetupDefault::Targets, _) => self.on.len().max(1).to_string(),
            (SetupDefault::Count(count), _) => count.to_string(),
            (SetupDefault::OfProfile, _) => {
                let setting = self.settings.get(question.key);
                setting.map_or(String::new(), |value| match value.as_f64() {
                    Some(number) => as_number(number),
                    None => value.as_str().unwrap_or_default().to_owned(),
                })
            }
        }
    }

    /// Takes an answer; what is worth knowing of it.
    pub(super) fn take(&mut self, step: Step, text: &str) -> Result<Vec<String>, Error> {
        match step {
            Step::Workload => return self.take_workload(text),
            Step::On => {
                self.on = paths(text);
                self.log_on = Vec::new();
                checks::targets(&self.plan())?;
            }
            Step::LogOn if text == BESIDE => {
                self.log_on = Vec::new();
                self.file = checks::usual_file(&self.targets());
            }
            Step::LogOn => {
                self.log_on = paths(text);
                self.file = checks::usual_file(&self.targets());
                checks::targets(&self.plan())?;
            }
            Step::Own(place) => return self.take_own(place, text),
            Step::Duration => {
                self.duration =
                    TimeSpan::parse(text).map_err(|why| Error::usage(sentence(&why), ""))?;
                checks::profile(&self.plan())?;
            }
            Step::File => return self.take_file(text),
            Step::Overwrite => match text.to_ascii_lowercase().as_str() {
                "yes" | "y" => self.overwrite = true,
                "no" | "n" => {}
                _ => return Err(not("yes or no", text)),
            },
        }
        Ok(self.fit(0))
    }

    /// The question behind one.
    pub(super) fn next(&self, step: Step) -> Option<Step> {
        let own = |place| match place < self.workload.setup_questions().len() {
            true => Step::Own(place),
            false => Step::Duration,
        };
        Some(match step {
            Step::Workload => Step::On,
            Step::On => Step::LogOn,
            Step::LogOn => own(0),
            Step::Own(place) => own(place + 1),
            Step::Duration => Step::File,
            Step::File if self.file.exists() => Step::Overwrite,
            // Without leave to replace it another file is needed.
            Step::Overwrite if !self.overwrite => Step::File,
            Step::File | Step::Overwrite => return None,
        })
    }

    fn take_workload(&mut self, name: &str) -> Result<Vec<String>, Error> {
        let source = workloads::find(&Scenario::new(name))?;
        let profile = WORKLOADS.read(&[source])?;
        self.base = name.to_owned();
        self.workload = profile.workload();
        self.settings = profile.settings();
        self.own.clear();
        self.fitting = None;
        self.duration = profile.run().duration;
        Ok(vec![format!("{name}: {}", profile.description())])
    }

    fn take_own(&mut self, place: usize, text: &str) -> Result<Vec<String>, Error> {
        let question = &self.workload.setup_questions()[place];
        let text = match question.kind {
            SetupKind::Count => number(text)?.to_string(),
            SetupKind::Number => {
                let number: f64 = text
                    .parse()
                    .map_err(|_| not("a number such as 0.1", text))?;
                as_number(number)
            }
            SetupKind::DataSize => size(text)?.to_string(),
        };
        self.own.insert(question.key, text);
        if question.kind == SetupKind::DataSize {
            return checks::storage(&self.plan());
        }
        checks::profile(&self.plan())?;
        Ok(self.fit(place + 1))
    }

    /// Where the workload's question at `place` asks for a size, its default becomes one that there is room for.
    /// Says so where that is not the usual one.
    fn fit(&mut self, place: usize) -> Vec<String> {
        let question = self.workload.setup_questions().get(place);
        let Some(question) = question.filter(|one| one.kind == SetupKind::DataSize) else {
            return Vec::new();
        };
        let Ok(usual) = ByteSize::parse(&self.answer(question)) else {
            return Vec::new();
        };
        let fitting = checks::fitting(usual, |size| {
            let mut tried = self.clone();
            tried.fitting = Some((question.key, size));
            tried.plan()
        });
        self.fitting = Some((question.key, fitting));
        if fitting == usual {
            return Vec::new();
        }
        vec![format!(
            "{usual} would leave too little room there: {fitting} is at most {} % of the largest size that fits, \
             the rest stays free.",
            checks::PROPOSED_PERCENT
        )]
    }

    fn take_file(&mut self, text: &str) -> Result<Vec<String>, Error> {
        let path = PathBuf::from(text);
        if path.is_dir() {
            return Err(Error::usage(
                format!("{text} is a directory."),
                "Name a file in it, such as profile.toml.",
            ));
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if parent.is_some_and(|parent| !parent.is_dir()) {
            return Err(Error::usage(
                format!("The directory of {text} does not exist."),
                "Make it first, or name another.",
            ));
        }
        if crate::results_place::lies_in(parent.unwrap_or(Path::new(".")), &self.targets()) {
            // A file there would make the target a directory with foreign files.
            return Err(Error::usage(
                format!("{text} would lie on the storage under test."),
                "Name a file elsewhere, such as ~/profile.toml written out.",
            ));
        }
        self.file = path;
        self.overwrite = false;
        Ok(Vec::new())
    }

    /// The profile so far.
    pub(super) fn draft(&self) -> Draft {
        let mut draft = Draft::new(&self.base);
        draft.kind = self.workload.kind().to_owned();
        draft.head = vec![format!(
            "Made by 'proofload init'. What is not named here is as in {}.",
            self.base
        )];
        let duration = as_text(&self.duration.to_string());
        draft.set("run.duration", duration, "Length of the measured phase.");
        let questions = self.workload.setup_questions().iter();
        let answers = questions.map(|one| (one.key, self.answer(one))).collect();
        for setting in self.workload.setup_settings(&answers) {
            let value = match setting.is_text {
                true => as_text(&setting.value),
                false => setting.value,
            };
            draft.set(setting.path, value, setting.why);
        }
        if let Ok(profile) = draft.read() {
            draft.description = profile.describe_question();
        }
        draft
    }

    /// What is to be checked.
    fn plan(&self) -> Plan {
        Plan {
            draft: self.draft(),
            on: self.on.clone(),
            log_on: self.log_on.clone(),
            workload: self.workload,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    pub(super) fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// Every directory and device under test.
    pub(super) fn targets(&self) -> Vec<PathBuf> {
        self.on.iter().chain(&self.log_on).cloned().collect()
    }

    pub(super) fn command(&self) -> String {
        let mut command = format!(
            "proofload run {} --on {}",
            quoted(&self.file.display().to_string()),
            quoted(&joined(&self.on))
        );
        if !self.log_on.is_empty() {
            command.push_str(&format!(" --log-on {}", quoted(&joined(&self.log_on))));
        }
        command
    }
}

fn paths(text: &str) -> Vec<PathBuf> {
    text.split(',')
        .map(|path| checks::whole(Path::new(path.trim())))
        .collect()
}

fn joined(paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    paths.collect::<Vec<_>>().join(",")
}

fn number(text: &str) -> Result<u32, Error> {
    let plain = text.replace(['_', ','], "");
    plain
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| not("a whole number above 0", text))
}

fn size(text: &str) -> Result<ByteSize, Error> {
    ByteSize::parse(text).map_err(|why| Error::usage(sentence(&why), ""))
}

fn not(right: &str, text: &str) -> Error {
    Error::usage(format!("'{text}' is not {right}."), "")
}

fn sentence(text: &str) -> String {
    measure::units::sentence(&format!("{text}."))
}

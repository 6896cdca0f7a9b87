//! The questions in their order, and what their answers become.

use std::path::{Path, PathBuf};

use config::{ByteSize, TimeSpan};
use execution::Error;

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
    Databases,
    Mailboxes,
    MailboxIops,
    MailboxSize,
    Users,
    DataSize,
    Duration,
    File,
    Overwrite,
}

/// Where logs lie beside the databases.
const BESIDE: &str = "beside the databases";

/// The answers so far; before they are given, the defaults.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    workload: String,
    kind: String,
    on: Vec<PathBuf>,
    log_on: Vec<PathBuf>,
    databases: u32,
    mailboxes: u32,
    mailbox_iops: f64,
    mailbox_size: ByteSize,
    users: u32,
    data_size: ByteSize,
    duration: TimeSpan,
    file: PathBuf,
    overwrite: bool,
}

impl Default for Answers {
    fn default() -> Self {
        let first = WORKLOADS.bundled_profiles().next();
        let mut answers = Self {
            workload: first.map_or(String::new(), |one| one.name.to_owned()),
            kind: String::new(),
            on: Vec::new(),
            log_on: Vec::new(),
            databases: 1,
            mailboxes: 1000,
            mailbox_iops: 0.1,
            mailbox_size: ByteSize::gib(2),
            users: 30,
            data_size: ByteSize::gib(20),
            duration: TimeSpan::seconds(2 * 3600),
            file: PathBuf::from(checks::PROFILE),
            overwrite: false,
        };
        let first = answers.workload.clone();
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
                (format!("What shall the storage carry? ({})", names.join(", ")), self.workload.clone())
            }
            Step::On => (
                "Where shall the databases lie? (directories or block devices, with commas between them)".to_owned(),
                joined(&self.on),
            ),
            Step::LogOn => ("Where shall the logs lie?".to_owned(), BESIDE.to_owned()),
            Step::Databases => ("How many databases?".to_owned(), self.databases.to_string()),
            Step::Mailboxes => ("How many mailboxes over all databases?".to_owned(), self.mailboxes.to_string()),
            Step::MailboxIops => (
                "How many database reads and writes per second does a mailbox ask for?".to_owned(),
                as_number(self.mailbox_iops),
            ),
            Step::MailboxSize => ("How much mail is in a mailbox? (quota)".to_owned(), self.mailbox_size.to_string()),
            Step::Users => ("How many users?".to_owned(), self.users.to_string()),
            Step::DataSize => ("How much data?".to_owned(), self.data_size.to_string()),
            Step::Duration => ("How long shall the load be measured?".to_owned(), self.duration.to_string()),
            Step::File => ("Which file shall the profile be written to?".to_owned(), self.file.display().to_string()),
            Step::Overwrite => (format!("{} is there. Replace it? (yes or no)", self.file.display()), "no".to_owned()),
        };
        Question { text, default }
    }

    /// Takes an answer; what is worth knowing of it.
    pub(super) fn take(&mut self, step: Step, text: &str) -> Result<Vec<String>, Error> {
        match step {
            Step::Workload => return self.take_workload(text),
            Step::On => {
                self.on = paths(text);
                self.log_on = Vec::new();
                self.databases = u32::try_from(self.on.len()).unwrap_or(1);
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
            Step::Databases => {
                self.databases = number(text)?;
                checks::profile(&self.plan())?;
                self.mailboxes = self.mailboxes.max(self.databases);
            }
            Step::Mailboxes => {
                self.mailboxes = number(text)?;
                checks::profile(&self.plan())?;
                self.mailbox_size = checks::fitting(self.mailbox_size, |mailbox_size| {
                    let tried = self.clone();
                    Self {
                        mailbox_size,
                        ..tried
                    }
                    .plan()
                });
            }
            Step::MailboxIops => {
                self.mailbox_iops = text
                    .parse()
                    .map_err(|_| not("a number such as 0.1", text))?;
                checks::profile(&self.plan())?;
            }
            Step::MailboxSize => {
                self.mailbox_size = size(text)?;
                return checks::storage(&self.plan());
            }
            Step::Users => {
                self.users = number(text)?;
                checks::profile(&self.plan())?;
                self.data_size = checks::fitting(self.data_size, |data_size| {
                    let tried = self.clone();
                    Self { data_size, ..tried }.plan()
                });
            }
            Step::DataSize => {
                self.data_size = size(text)?;
                return checks::storage(&self.plan());
            }
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
        Ok(Vec::new())
    }

    /// The question behind one.
    pub(super) fn next(&self, step: Step) -> Option<Step> {
        Some(match step {
            Step::Workload => Step::On,
            Step::On => Step::LogOn,
            Step::LogOn if self.is_mail() => Step::Databases,
            Step::LogOn => Step::Users,
            Step::Databases => Step::Mailboxes,
            Step::Mailboxes => Step::MailboxIops,
            Step::MailboxIops => Step::MailboxSize,
            Step::Users => Step::DataSize,
            Step::MailboxSize | Step::DataSize => Step::Duration,
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
        let settings = profile.settings();
        self.workload = name.to_owned();
        self.kind = profile.workload().kind().to_owned();
        let whole = |path: &str| settings.get(path).and_then(serde_json::Value::as_f64);
        let bytes = |path: &str| {
            let text = settings.get(path).and_then(serde_json::Value::as_str);
            text.and_then(|text| ByteSize::parse(text).ok())
        };
        self.mailbox_iops = whole("mail.iops_per_mailbox").unwrap_or(self.mailbox_iops);
        self.mailbox_size = bytes("mail.mailbox_size").unwrap_or(self.mailbox_size);
        self.users = whole("brokerage.users").map_or(self.users, |users| users as u32);
        self.data_size = bytes("brokerage.data_size").unwrap_or(self.data_size);
        self.duration = profile.run().duration;
        Ok(vec![format!("{name}: {}", profile.description())])
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

    pub(super) fn is_mail(&self) -> bool {
        self.kind == "mail"
    }

    /// The profile so far.
    pub(super) fn draft(&self) -> Draft {
        let mut draft = Draft::new(&self.workload);
        draft.kind.clone_from(&self.kind);
        draft.head = vec![format!(
            "Made by 'proofload init'. What is not named here is as in {}.",
            self.workload
        )];
        let duration = as_text(&self.duration.to_string());
        draft.set("run.duration", duration, "Length of the measured phase.");
        if !self.is_mail() {
            draft.description = format!("{} users on {}", self.users, self.data_size);
            draft.set(
                "brokerage.users",
                self.users.to_string(),
                "Users at the same time.",
            );
            draft.set(
                "brokerage.data_size",
                as_text(&self.data_size.to_string()),
                "Data in the database.",
            );
            return draft;
        }
        let each = self.mailboxes.div_ceil(self.databases.max(1));
        draft.description = format!(
            "{} mailboxes of {}",
            u64::from(each) * u64::from(self.databases),
            self.mailbox_size
        );
        draft.set(
            "mail.databases",
            self.databases.to_string(),
            "Databases, distributed over the directories in turn.",
        );
        let why = format!("{} mailboxes over all databases.", self.mailboxes);
        draft.set("mail.mailboxes_per_database", each.to_string(), why);
        draft.set(
            "mail.mailbox_size",
            as_text(&self.mailbox_size.to_string()),
            "Mail in each mailbox.",
        );
        let why = "Database reads and writes per second that each mailbox asks for.";
        draft.set("mail.iops_per_mailbox", as_number(self.mailbox_iops), why);
        draft
    }

    /// What is to be checked.
    fn plan(&self) -> Plan {
        Plan {
            draft: self.draft(),
            on: self.on.clone(),
            log_on: self.log_on.clone(),
            is_mail: self.is_mail(),
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
        .map(|path| PathBuf::from(path.trim()))
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

//! `proofload init`: a dialogue that ends with a profile and the command that runs it.
//!
//! [`Dialogue`] asks and checks; it neither prints nor reads. Each answer is checked at once, those about the
//! storage as `run` checks them before it begins. Nothing is written before the last answer.

mod answers;
mod checks;

use std::path::{Path, PathBuf};

use execution::Error;

use crate::results_place;
use answers::{Answers, Step};

/// What is asked next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question, on one line.
    pub text: String,
    /// What an empty answer means.
    pub default: String,
}

/// What the answers come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The profile, as commented TOML.
    pub profile: String,
    /// The file that it shall be written to.
    pub path: PathBuf,
    /// Whether a file that is there shall be replaced, as was asked and agreed to.
    pub overwrite: bool,
    /// The command that runs it.
    pub command: String,
}

/// The state of the dialogue: the answers so far, and what is asked next.
#[derive(Clone, Debug)]
pub struct Dialogue {
    answers: Answers,
    step: Option<Step>,
}

impl Default for Dialogue {
    fn default() -> Self {
        Self::new()
    }
}

impl Dialogue {
    /// A dialogue at its first question.
    #[must_use]
    pub fn new() -> Self {
        Self {
            answers: Answers::default(),
            step: Some(Step::Workload),
        }
    }

    /// The next question; `None` when all are answered.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        self.step.map(|step| self.answers.question(step))
    }

    /// Takes the answer to the question; an empty one is its default. Gives what is worth knowing of it.
    ///
    /// # Errors
    /// The answer cannot be used; the question stays.
    pub fn answer(&mut self, text: &str) -> Result<Vec<String>, Error> {
        let Some(step) = self.step else {
            return Ok(Vec::new());
        };
        let default = self.answers.question(step).default;
        let text = if text.trim().is_empty() {
            default.as_str()
        } else {
            text.trim()
        };
        let mut answers = self.answers.clone();
        let remarks = answers.take(step, text)?;
        self.step = answers.next(step);
        self.answers = answers;
        Ok(remarks)
    }

    /// The profile and the command; `None` before the last answer.
    ///
    /// # Errors
    /// The results would lie on a target, wherever they are put.
    pub fn finish(&self) -> Result<Option<Finished>, Error> {
        if self.step.is_some() {
            return Ok(None);
        }
        let answers = &self.answers;
        let mut command = answers.command();
        let path = answers.path().to_owned();
        if results_place::lies_in(Path::new("."), &answers.targets()) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let out = results_place::elsewhere(&name, &answers.targets())?;
            command = format!(
                "{command} --out {}",
                crate::jetstress::quoted(&out.display().to_string())
            );
        }
        let mut draft = answers.draft();
        draft.head.push(String::new());
        draft.head.push(format!("Run it with: {command}"));
        Ok(Some(Finished {
            profile: draft.to_toml(),
            path,
            overwrite: answers.overwrites(),
            command,
        }))
    }
}

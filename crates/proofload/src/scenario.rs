//! What is to be run or predicted, and how.

use std::path::PathBuf;

use crate::files::Files;
use crate::registry::Registry;
use crate::setting::{Key, Setting, Value};
use array::description::event_of_line;
use execution::{Error, Output};

/// A workload, what it runs on, and the settings that differ from those of its profile.
///
/// ```
/// use proofload::Scenario;
///
/// let scenario = Scenario::new("exchange-2013")
///     .on_array("msa2050-tier")
///     .with("run.duration", "10m")
///     .with("mail.threads", 8)
///     .with("array.pool.ssd_count", 4);
/// assert_eq!(scenario.settings.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// The workloads that there are.
    pub registry: &'static Registry,
    /// A bundled profile, or the path of a profile file or of a block trace.
    pub workload: String,
    /// A bundled array, or the path of a description; of a replay also a disk. Empty for the `[array]` of the
    /// profile. For predictions.
    pub array: String,
    /// The settings that are changed; of several for the same key the last counts.
    pub settings: Vec<Setting>,
    /// `[[event]]` tables beside those of the array and of the profile. For predictions.
    pub events: Vec<String>,
    /// Begin with tiers full and read caches warm, as after days of this load. For predictions.
    pub settled: bool,
    /// Files in memory: what [`workload`](Self::workload) and [`array`](Self::array) name is looked
    /// for here first.
    pub files: Files,
    /// What there is to know of it, as sentences. For predictions.
    pub notes: Vec<String>,
    /// Where the results go.
    pub output: Output,
}

impl Scenario {
    /// A workload as its profile describes it.
    #[must_use]
    pub fn new(workload: impl Into<String>) -> Self {
        Self {
            workload: workload.into(),
            ..Self::default()
        }
    }

    /// The same on a modelled array.
    #[must_use]
    pub fn on_array(mut self, array: impl Into<String>) -> Self {
        self.array = array.into();
        self
    }

    /// The same with another value of the setting at a path, such as `mail.databases` or
    /// `array.pool.ssd_count`.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.push(Setting::at(path, value));
        self
    }

    /// The same with a file in memory: a profile, the description of an array, a block trace.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path, contents);
        self
    }

    /// The same with something that breaks or is repaired, such as `10m disk-fail 3`.
    ///
    /// # Errors
    /// When the line is not understood, with the form that it has.
    pub fn with_event(mut self, line: &str) -> Result<Self, Error> {
        let table = event_of_line(line)
            .map_err(|error| Error::usage(format!("--event '{line}': {error}."), ""))?;
        self.events.push(table);
        Ok(self)
    }

    /// The same, beginning as after days of its load.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.settled = true;
        self
    }

    /// Changes a setting, or the workload or the array itself.
    pub fn set(&mut self, key: &Key, value: &Value) {
        match key {
            Key::Workload => value.as_str().clone_into(&mut self.workload),
            Key::Array => value.as_str().clone_into(&mut self.array),
            key => self.settings.push(Setting::new(key.clone(), value.clone())),
        }
    }

    /// The value that a key was given last.
    #[must_use]
    pub fn value_of(&self, key: &Key) -> Option<&Value> {
        let mut given = self.settings.iter().rev();
        given.find(|one| one.key == *key).map(|one| &one.value)
    }
}

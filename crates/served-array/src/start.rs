//! What is to be served, and its start.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use config::ByteSize;
use proofload::serve::{Prepared, ServeScenario};
use proofload::{Error, Scenario, Setting};
use workload::progress::StopRequest;

use crate::{ServedArray, control_in, joined, mount_in, volume_in};

/// How often it is looked whether the volumes are there.
const POLL: Duration = Duration::from_millis(10);

/// An array that is not served yet.
#[derive(Clone, Debug)]
#[must_use = "nothing is served before `start`"]
pub struct ArrayToServe {
    array: String,
    volumes: u32,
    size: Option<String>,
    settings: Vec<String>,
    events: Vec<String>,
    store: Option<PathBuf>,
    seed: u64,
}

impl ArrayToServe {
    pub(crate) fn new(array: String) -> Self {
        Self {
            array,
            volumes: 1,
            size: None,
            settings: Vec::new(),
            events: Vec::new(),
            store: None,
            seed: 1,
        }
    }

    /// How many volumes; one if nothing is said.
    pub fn volumes(self, volumes: u32) -> Self {
        Self { volumes, ..self }
    }

    /// The size of each, such as `1GiB`; what the array says, or 64 GiB, if nothing is said. Space is taken for
    /// what is written.
    pub fn size(self, size: impl Into<String>) -> Self {
        let size = Some(size.into());
        Self { size, ..self }
    }

    /// Changes a setting, as `--set` does: `array.cache.capacity_mib=64`.
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.settings.push(assignment.into());
        self
    }

    /// Plans something, as `--event` does: `10s disk-fail 3`. Times count from the start.
    pub fn event(mut self, event: impl Into<String>) -> Self {
        self.events.push(event.into());
        self
    }

    /// The batteries of both controllers fail at the start, the caches go on acknowledging writes, and hold them
    /// for long: a power cut loses what was not flushed. For arrays with two controllers.
    pub fn without_batteries(self) -> Self {
        self.set("array.cache.write_back_without_battery=true")
            .set("array.cache.destage.age_ms=600000")
            .event("0s battery-lost 0")
            .event("0s battery-lost 1")
    }

    /// Besides, the caches acknowledge flushes that they have not done.
    pub fn lying_about_flushes(self) -> Self {
        self.without_batteries().set("array.cache.flush=ignored")
    }

    /// Keeps what is written in this directory, so that it can be served again; otherwise it is gone at the end.
    pub fn store(self, store: impl Into<PathBuf>) -> Self {
        let store = Some(store.into());
        Self { store, ..self }
    }

    /// Seed of what is random in the array; 1 if nothing is said.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Serves it, and returns when the volumes are there.
    ///
    /// # Errors
    /// The description, a setting or an event breaks a rule, FUSE is missing, or the store is of another array.
    pub fn start(self) -> Result<ServedArray, Error> {
        let directory = tempfile::Builder::new()
            .prefix("served-array-")
            .tempdir()
            .map_err(|error| no_directory(&error))?;
        let mount = mount_in(directory.path());
        std::fs::create_dir(&mount).map_err(|error| no_directory(&error))?;
        let volumes = self.volumes;
        let scenario = ServeScenario {
            at: Some(mount),
            control: Some(control_in(directory.path())),
            ..self.scenario()?
        };
        let (stop, said) = (StopRequest::new(), Arc::<Mutex<Vec<String>>>::default());
        let (asked, heard) = (stop.clone(), Arc::clone(&said));
        let thread = thread::spawn(move || {
            let notify = move |text: &str| {
                let mut said = heard.lock().unwrap_or_else(PoisonError::into_inner);
                said.push(text.to_owned());
            };
            Prepared::new(&scenario)?.run(&asked, notify, |_| Ok(()))
        });
        while !volume_in(directory.path(), volumes).exists() {
            if thread.is_finished() {
                let ended = joined(thread)?;
                return Err(Error::environment(
                    "The array has ended before its volumes were there.",
                    ended.to_string(),
                ));
            }
            thread::sleep(POLL);
        }
        Ok(ServedArray {
            directory,
            stop,
            said,
            thread: Some(thread),
        })
    }

    fn scenario(self) -> Result<ServeScenario, Error> {
        let settings = self.settings.iter().map(|text| Setting::parse(text));
        let array = Scenario {
            array: self.array,
            settings: settings.collect::<Result<_, _>>()?,
            ..Scenario::default()
        };
        let mut events = self.events.iter();
        let size = self.size.as_deref().map(ByteSize::parse).transpose();
        Ok(ServeScenario {
            array: events.try_fold(array, |array, line| array.with_event(line))?,
            volumes: self.volumes,
            size: size.map_err(|problem| {
                let size = self.size.clone().unwrap_or_default();
                Error::usage(
                    format!("{size} is no size: {problem}."),
                    "Write 1GiB or 500MB.",
                )
            })?,
            seed: self.seed,
            store: self.store,
            ..ServeScenario::default()
        })
    }
}

fn no_directory(error: &std::io::Error) -> Error {
    Error::environment(
        format!("There is no temporary directory for the volumes: {error}."),
        "Make room, or name another directory with the variable TMPDIR.",
    )
}

//! A workload on real storage.
//!
//! [`Prepared::new`] refuses everything that can be refused before anything is written: the
//! profile, the targets, the kernel, the directory of the results. [`Prepared::run`] claims the
//! targets, runs the workload and gives the targets back.

use config::{ByteSize, Source};
use workload::Profile;
use workload::progress::StopRequest;

use crate::array_of_profile;
use crate::resume::refuse_other_settings;
use crate::scenario::Scenario;
use crate::setting::{Key, Value};
use crate::workloads::{self, Purpose};
use execution::Error;
use execution::Outcome;
use execution::RunOptions;
use execution::events::{Observer, ignore};
use execution::results;
use execution::storage_run::{RunRequest, StorageRun, base, foreign, schedule};

/// A run that can begin.
pub struct Prepared {
    profile: Box<dyn Profile>,
    run: Box<dyn StorageRun>,
    /// That a cache would be measured, if it would.
    cache_warning: Option<String>,
}

impl Prepared {
    /// Checks everything. Writes nothing.
    ///
    /// # Errors
    /// The first thing that is in the way.
    pub fn new(scenario: &Scenario, options: &RunOptions) -> Result<Self, Error> {
        let options = &with_interrupted_build(scenario, options)?;
        let scenario = &sized(scenario, options)?;
        let profile = workloads::resolve(scenario, purpose(scenario, options)?)?;
        refuse_events(scenario)?;
        refuse_array_settings(scenario)?;
        if options.together.is_of_several() {
            refuse_search_of_several(&*profile)?;
        }
        if let Some(run) = &options.resume {
            refuse_other_settings(run, &*profile)?;
            if options.together.is_of_several() {
                return Err(Error::usage(
                    "A run on several hosts cannot be resumed.",
                    "Begin a new run on its databases with --reuse.",
                ));
            }
        }
        if options.backup_to.is_some() || options.restore.is_some() || !options.copy_to.is_empty() {
            workloads::refuse_without_tests(&scenario.workload, profile.workload(), false)?;
        }
        let workload = scenario
            .registry
            .runnable(profile.workload())
            .ok_or_else(foreign)?;
        if options.resume.is_some() && !workload.can_resume() {
            return Err(Error::usage(
                format!("Runs of {} cannot be resumed.", workload.kind()),
                "Begin a new run.",
            ));
        }
        let request = RunRequest {
            workload: scenario.workload.clone(),
            name: match &options.resume {
                Some(run) => run.result.workload.name.clone(),
                None => workloads::short_name(scenario.registry, &scenario.workload),
            },
            is_sized: scenario.value_of(&Key::TargetSize).is_some(),
            output: scenario.output.clone(),
        };
        Ok(Self {
            run: workload.prepare_run(&request, options, &*profile)?,
            cache_warning: results::cache_warning(&*profile, options),
            profile,
        })
    }

    /// What would be built and where, as text.
    ///
    /// # Errors
    /// When a file system does not say how much room it has.
    pub fn describe(&self) -> Result<String, Error> {
        let plan = self.run.describe()?;
        Ok(format!(
            "{plan}{}{}",
            self.schedule()?,
            self.warning().unwrap_or_default()
        ))
    }

    /// The phases of the run with their times, as text.
    ///
    /// # Errors
    /// When kept databases cannot be read.
    pub fn schedule(&self) -> Result<String, Error> {
        let work = self.run.work()?;
        Ok(schedule::describe(self.profile.run(), &work))
    }

    /// What this run cannot give, known before hours are spent on it.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let is_measured = self.run.work().is_ok_and(|work| work.is_measured());
        if !is_measured {
            return None;
        }
        let samples = results::sample_warning(&*self.profile);
        let warnings: Vec<String> = samples
            .into_iter()
            .chain(self.cache_warning.clone())
            .collect();
        (!warnings.is_empty()).then(|| warnings.concat())
    }

    /// All settings in force, as the run directory keeps them.
    #[must_use]
    pub fn config(&self) -> String {
        base::config_of_run(&*self.profile)
    }

    /// All settings in force, to compare with those of another process.
    #[must_use]
    pub fn settings(&self) -> String {
        self.profile.to_toml()
    }

    /// Runs the workload to its end, or until somebody asks it to `stop`.
    ///
    /// # Errors
    /// When the storage cannot be prepared or the results cannot be written.
    pub fn run(self, observer: Box<dyn Observer>, stop: &StopRequest) -> Result<Outcome, Error> {
        self.run.run(observer, stop.clone())
    }
}

fn purpose(scenario: &Scenario, options: &RunOptions) -> Result<Purpose, Error> {
    Ok(Purpose::Run {
        kept: kept_settings(scenario, options)?,
        has_server: options.database.is_some(),
    })
}

/// The options of a run that goes on with the build of an earlier one where that was interrupted, or puts
/// copies in the places of databases: it runs on databases that are there.
fn with_interrupted_build(scenario: &Scenario, options: &RunOptions) -> Result<RunOptions, Error> {
    let mut options = options.clone();
    options.reuse |= options.restore.is_some();
    if !options.reuse && !options.on.is_empty() {
        let workload = workloads::workload_of(scenario)?;
        let name = workloads::short_name(scenario.registry, &scenario.workload);
        let runnable = scenario.registry.runnable(workload);
        options.reuse = runnable.is_some_and(|one| one.has_interrupted_build(&options.on, &name));
    }
    Ok(options)
}

/// The scenario with databases as large as a part of the room on their volumes, where that is asked for.
/// Kept databases are as large as they are.
fn sized(scenario: &Scenario, options: &RunOptions) -> Result<Scenario, Error> {
    let mut scenario = scenario.clone();
    if let Some(percent) = options.capacity_percent.filter(|_| !options.reuse) {
        let profile = workloads::resolve(&scenario, purpose(&scenario, options)?)?;
        let bytes = storage::fitting_data_bytes(&options.on, &options.log_on, &*profile, percent)?;
        scenario.set(
            &Key::TargetSize,
            &Value::of_text(ByteSize(bytes).to_string()),
        );
    }
    Ok(scenario)
}

/// The settings that kept databases were built with, which hold where the scenario says nothing.
fn kept_settings(scenario: &Scenario, options: &RunOptions) -> Result<Vec<Source>, Error> {
    if !options.reuse {
        return Ok(Vec::new());
    }
    let workload = workloads::workload_of(scenario)?;
    let name = workloads::short_name(scenario.registry, &scenario.workload);
    let built_with = workload.built_with();
    Ok(storage::kept_settings(&options.on, &name, built_with))
}

impl Scenario {
    /// Runs the workload on real storage, without an observer.
    ///
    /// # Errors
    /// The first thing that is in the way.
    pub fn run(&self, options: &RunOptions) -> Result<Outcome, Error> {
        Prepared::new(self, options)?.run(ignore(), &StopRequest::new())
    }
}

/// Each process would search for itself, under a load of the others that changes meanwhile.
fn refuse_search_of_several(profile: &dyn Profile) -> Result<(), Error> {
    let settings = profile.settings();
    let finds = settings.get("tuning.find").and_then(|value| value.as_str());
    let curve = settings.get("tuning.curve_percent");
    let has_curve = curve
        .and_then(|value| value.as_array())
        .is_some_and(|parts| !parts.is_empty());
    if finds.is_none_or(|find| find == "none") && !has_curve {
        return Ok(());
    }
    Err(Error::usage(
        "A search for the highest rate, or a curve, runs in one process, and here are several.",
        "Run it on one host, or give each the same --rate and compare the runs.",
    ))
}

/// A setting that changes nothing would not be missed.
fn refuse_array_settings(scenario: &Scenario) -> Result<(), Error> {
    let mut settings = scenario.settings.iter();
    match settings.find(|setting| setting.key.is_of_array()) {
        None => Ok(()),
        Some(setting) => Err(Error::usage(
            format!(
                "{} is about a modelled array, and this is a run on real storage.",
                setting.key
            ),
            "Leave it out, or predict the workload on a modelled array.",
        )),
    }
}

fn refuse_events(scenario: &Scenario) -> Result<(), Error> {
    if array_of_profile::events(scenario).is_none() && scenario.events.is_empty() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "There are [[event]] tables with {}, and real storage does not break on command.",
            scenario.workload
        ),
        "Take them out, or predict the workload on a modelled array.",
    ))
}

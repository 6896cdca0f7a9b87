//! `proofload predict`: the workload of a run on a modelled array, in simulated time.
//!
//! The sessions, the page cache, the log and the checkpoint are those of a run; the databases hold
//! no contents, and below them the model of the array answers. The result is that of a run, with
//! the inside of the array.

mod arrays;
mod drive;
mod inside;
mod listener;
mod plan;

use std::fs;

use array::description::Description;
use jiff::Timestamp;
use measure::result::{DatabaseResult, RunResult, TargetPath};
use measure::run_directory::RunDirectory;
use workload::profile::Profile;

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::run::{self, results};
use crate::workloads;

/// The description of the array, beside the settings of the workload.
const ARRAY_FILE: &str = "array.toml";

/// Predicts how a workload would run and says what comes out.
pub fn predict(options: &PredictOptions) -> Result<ExitStatus, Failure> {
    let as_run = options.as_run();
    let mut profile = workloads::resolve(&as_run)?;
    // Nothing was stored, so there is nothing to verify.
    profile.run.verify_after_run = false;
    let description = arrays::load(options)?;
    let planned = description.plan(&plan::demands(&profile))?;
    results::check(&as_run)?;
    let caution = run::caution(&profile);
    if options.dry_run {
        let text = plan::describe(options, &profile, &planned);
        return print(&format!("{text}{}", caution.unwrap_or_default()));
    }
    if !options.quiet {
        planned.notes.iter().for_each(|note| eprintln!("{note}"));
        caution.iter().for_each(|caution| eprint!("{caution}"));
    }
    let started = Timestamp::now();
    let directory = open(options, &profile, &description, started)?;
    let path = directory.path().to_owned();
    let mut base = base(options, &profile, started);
    base.notes.extend(planned.notes.iter().cloned());
    base.databases = plan::databases(&planned);
    base.target.databases = vec![target(&options.array, &planned)];
    base.target.logs = base.target.databases.clone();
    results::begin(&directory, &base)?;
    let array = inside::Inside::new(&options.array, &description, &planned.settings);
    let result = drive::drive(options, &profile, &planned, base, directory, array)?;
    run::tell(&as_run, &result, &path, "")?;
    Ok(ExitStatus::from(result.verdict))
}

fn open(
    options: &PredictOptions,
    profile: &Profile,
    description: &Description,
    started: Timestamp,
) -> Result<RunDirectory, Failure> {
    let name = workloads::short_name(&options.workload);
    let config = format!(
        "# All settings in force. Predict it again with 'proofload predict config.toml --array \
         {ARRAY_FILE}'.\n{}",
        profile.to_toml()
    );
    let directory = RunDirectory::create(options.out.as_deref(), &name, started, &config)
        .map_err(|error| results::refusal(&error))?;
    let path = directory.path().join(ARRAY_FILE);
    fs::write(&path, description.to_toml()).map_err(|error| {
        Failure::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "",
        )
    })?;
    Ok(directory)
}

fn base(options: &PredictOptions, profile: &Profile, started: Timestamp) -> RunResult {
    let mut result = RunResult::new();
    result.kind = "prediction".to_owned();
    result.workload.name = workloads::short_name(&options.workload);
    result.workload.description = profile.description.clone();
    result.workload.settings = profile.settings();
    result.host = measure::host::facts::<&str>(&[]);
    result.seed = profile.run.seed;
    result.started = started.to_string();
    result.databases = Vec::<DatabaseResult>::new();
    result
}

fn target(name: &str, planned: &array::description::PlannedArray) -> TargetPath {
    let volumes = planned.settings.volumes.iter();
    let capacity_bytes = volumes.map(|volume| volume.capacity_mib << 20).sum();
    TargetPath {
        path: workloads::short_name(name),
        kind: "modelled-array".to_owned(),
        capacity_bytes,
        free_bytes: capacity_bytes,
        ..TargetPath::default()
    }
}

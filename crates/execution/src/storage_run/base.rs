//! What is known of a run on real storage before it starts.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use measure::host;
use measure::result::{DatabaseResult, RunResult, TargetPath};
use measure::run_directory::DEFAULT_PARENT;
use storage::{DatabasePlace, Layout, Place, TargetKind};
use workload::Profile;

use crate::error::Error;
use crate::options::RunOptions;
use crate::output::Output;
use crate::storage_run::RunRequest;

/// The settings of a run on real storage, as they are kept in its directory.
pub fn config_of_run(profile: &dyn Profile) -> String {
    format!(
        "# All settings in force. Run it again with 'proofload run config.toml --on ...'.\n{}",
        profile.to_toml()
    )
}

/// Results on the storage under test would disturb it, and make its directory a foreign one.
pub fn refuse_on_target(output: &Output, layout: &Layout) -> Result<(), Error> {
    let out = match output {
        Output::Memory => return Ok(()),
        Output::NewDirectory => PathBuf::from(DEFAULT_PARENT),
        Output::Directory(path) => path.clone(),
    };
    let absolute = std::path::absolute(&out).unwrap_or(out);
    let existing = absolute
        .ancestors()
        .find_map(|path| path.canonicalize().ok());
    let Some(existing) = existing else {
        return Ok(());
    };
    let inside = |site: &&storage::Target| existing.starts_with(&site.path);
    match layout.targets.iter().find(inside) {
        None => Ok(()),
        Some(site) => Err(Error::usage(
            format!(
                "The results would go to {}, inside the target {}.",
                absolute.display(),
                site.given.display()
            ),
            "Name a directory elsewhere with --out.",
        )),
    }
}

/// Where the results of a run go on when their file system is full: places where anybody may write,
/// none of them on a target, which they would disturb.
pub fn fallbacks(layout: Option<&Layout>) -> Vec<PathBuf> {
    let places = [
        std::env::temp_dir(),
        PathBuf::from("/var/tmp"),
        PathBuf::from("/dev/shm"),
        PathBuf::from("."),
    ];
    let places = places
        .into_iter()
        .filter_map(|place| place.canonicalize().ok());
    let is_apart = |place: &PathBuf| {
        let mut targets = layout.into_iter().flat_map(|layout| &layout.targets);
        !targets.any(|target| place.starts_with(&target.path))
    };
    places.filter(is_apart).collect()
}

/// What is known before the run: workload, target, host, seed and time.
pub fn base(
    request: &RunRequest,
    options: &RunOptions,
    profile: &dyn Profile,
    layout: &Layout,
    started: Timestamp,
) -> RunResult {
    let mut result = RunResult::new();
    result.workload.question = profile.describe_question();
    result.target.engine_cache_bytes = profile.engine_cache_bytes();
    result.target.array_cache_bytes = options.array_cache_bytes;
    result.target.allow_cached = options.allow_cached;
    result.workload.name = request.name.clone();
    result.workload.description = profile.description().to_owned();
    result.workload.settings = profile.settings();
    let places = layout.databases.iter();
    result.databases = places.map(|place| database_entry(profile, place)).collect();
    result.target.databases = targets(layout, |place| place.data_target);
    result.target.logs = targets(layout, |place| place.log_target);
    let paths: Vec<&Path> = layout
        .targets
        .iter()
        .map(|site| site.path.as_path())
        .collect();
    result.host = host::facts(&paths);
    result.seed = profile.run().seed;
    result.started = started.to_string();
    result
}

/// The same where no storage of ours is under test: a database server that was there, with its data
/// in `data` if that is known.
pub fn base_of(
    request: &RunRequest,
    options: &RunOptions,
    profile: &dyn Profile,
    data: Option<&Path>,
    started: Timestamp,
) -> RunResult {
    let nowhere = Layout {
        targets: Vec::new(),
        databases: Vec::new(),
    };
    let mut result = base(request, options, profile, &nowhere, started);
    let paths: Vec<&Path> = data.into_iter().collect();
    result.host = host::facts(&paths);
    result.target.databases = paths
        .iter()
        .map(|path| host::describe_target(path))
        .collect();
    result.target.logs.clone_from(&result.target.databases);
    result
}

/// A database as it is known before the run: its name, and where it lies.
fn database_entry(profile: &dyn Profile, place: &DatabasePlace) -> DatabaseResult {
    let file = profile.workload().database_file(&place.name);
    let path = match (&place.data, file) {
        (Place::Directory(path), Some(file)) => path.join(file),
        (Place::Directory(path) | Place::Device(path), _) => path.clone(),
    };
    DatabaseResult {
        name: place.name.clone(),
        path: path.display().to_string(),
        log_path: place.log.path().display().to_string(),
        ..DatabaseResult::default()
    }
}

/// The targets that `site_of` names, each once, in the order given.
fn targets(layout: &Layout, site_of: impl Fn(&storage::DatabasePlace) -> usize) -> Vec<TargetPath> {
    let used: Vec<usize> = layout.databases.iter().map(site_of).collect();
    let targets = layout.targets.iter().enumerate();
    let targets = targets.filter(|(index, _)| used.contains(index));
    targets
        .map(|(_, site)| {
            let mut described = host::describe_target(&site.path);
            if let TargetKind::Device { size_bytes } = site.kind {
                described.capacity_bytes = size_bytes;
            }
            described
        })
        .collect()
}

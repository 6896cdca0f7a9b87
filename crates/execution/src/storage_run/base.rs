//! What is known of a run on real storage before it starts.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use measure::host::{self, Memory};
use measure::recompute::InterruptedRun;
use measure::result::{DatabaseResult, RunResult, TargetPath};
use measure::run_directory::DEFAULT_PARENT;
use measure::units;
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

/// Caches that memory has no room for would end the run, or other programs, when they have filled. Those that give
/// memory back count at their smallest.
pub fn refuse_caches_above_memory(profile: &dyn Profile) -> Result<(), Error> {
    let demands = profile.volume_demands();
    let Some(cache_bytes) = profile.least_engine_cache_bytes() else {
        return Ok(());
    };
    let of_one_bytes = cache_bytes / (demands.len() as u64).max(1);
    let caches = demands
        .iter()
        .map(|demand| demand.reserved_bytes.min(of_one_bytes));
    refuse_above_memory(caches.sum(), Memory::now())
}

fn refuse_above_memory(caches_bytes: u64, memory: Option<Memory>) -> Result<(), Error> {
    let short = memory.filter(|memory| memory.available_bytes < caches_bytes);
    let Some(memory) = short else {
        return Ok(());
    };
    Err(Error::environment(
        format!(
            "The database caches would grow to {}, and proofload can have {} of memory here.",
            units::size(caches_bytes),
            units::size(memory.available_bytes)
        ),
        "Set smaller ones with --set engine.cache_size_per_database=SIZE, a smallest size that they can shrink to with \
         --set engine.cache_minimum_per_database=SIZE, use fewer databases, or free memory (of a container: raise \
         its limit).",
    ))
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
    let least = profile.least_engine_cache_bytes();
    result.target.engine_cache_least_bytes =
        least.filter(|_| least != result.target.engine_cache_bytes);
    result.target.array_cache_bytes = options.array_cache_bytes;
    result.target.allow_cached = options.allow_cached;
    let backup_to = options.backup_to.as_ref();
    result.target.backup_to = backup_to.map_or_else(String::new, |path| path.display().to_string());
    result.workload.name = request.name.clone();
    result.workload.description = profile.description().to_owned();
    result.workload.settings = profile.settings();
    let places = layout.databases.iter();
    result.databases = places.map(|place| database_entry(profile, place)).collect();
    result.target.databases = data_targets(layout);
    result.target.logs = log_targets(layout);
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

/// The same for a run that goes on after an interruption, at this time.
pub fn resumed(base: RunResult, run: &InterruptedRun, now: Timestamp) -> RunResult {
    let earlier = &run.result;
    let started: Result<Timestamp, _> = earlier.started.parse();
    let since_start_s = started.map_or(0.0, |started| now.duration_since(started).as_secs_f64());
    // The clock of a host may be wrong after a power cut.
    let mut interruptions = earlier.interruptions.clone();
    let before_s = interruptions.last().map_or(0.0, |one| one.resumed_at_s);
    let resumed_at_s = since_start_s.max(run.ends_s).max(before_s);
    interruptions.push(run.interruption(resumed_at_s));
    let mut base = base;
    base.host
        .kernel_messages
        .clone_from(&earlier.host.kernel_messages);
    base.host.more_kernel_messages = earlier.host.more_kernel_messages;
    RunResult {
        started: earlier.started.clone(),
        resumed_build: earlier.resumed_build.clone(),
        restore: earlier.restore.clone(),
        interruptions,
        ..base
    }
}

/// Where the databases and the logs of a run are, as its options named them; nowhere for a database server
/// that was there, whose targets are the volumes that were watched.
#[must_use]
pub fn places_of(result: &RunResult) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if result.databases.iter().all(|one| one.path.is_empty()) {
        return (Vec::new(), Vec::new());
    }
    let targets = result.target.databases.iter().chain(&result.target.logs);
    let targets: Vec<&Path> = targets.map(|one| Path::new(&one.path)).collect();
    let under = |path: &String| {
        let holding = targets
            .iter()
            .filter(|target| Path::new(path).starts_with(target));
        let nearest = holding.max_by_key(|target| target.as_os_str().len());
        nearest.map(|target| target.to_path_buf())
    };
    let databases = result.databases.iter();
    let on = in_turn(
        databases
            .clone()
            .filter_map(|one| under(&one.path))
            .collect(),
    );
    let log_on = in_turn(databases.filter_map(|one| under(&one.log_path)).collect());
    let is_beside = log_on == on;
    (on, if is_beside { Vec::new() } else { log_on })
}

/// The places that these were dealt from in turn.
fn in_turn(mut dealt: Vec<PathBuf>) -> Vec<PathBuf> {
    let repeats =
        |length: &usize| (*length..dealt.len()).all(|one| dealt[one] == dealt[one - length]);
    let length = (1..dealt.len()).find(repeats).unwrap_or(dealt.len());
    dealt.truncate(length);
    dealt
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

/// The targets that hold databases, each once, in the order given.
pub(super) fn data_targets(layout: &Layout) -> Vec<TargetPath> {
    targets(layout, |place| place.data_target)
}

/// The targets that hold logs, each once, in the order given.
pub(super) fn log_targets(layout: &Layout) -> Vec<TargetPath> {
    targets(layout, |place| place.log_target)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn result(databases: &[(&str, &str)], targets: &[&str]) -> RunResult {
        let mut result = RunResult::new();
        let target = |path: &&str| TargetPath {
            path: (*path).to_owned(),
            ..TargetPath::default()
        };
        result.target.databases = targets.iter().map(target).collect();
        let database = |(path, log_path): &(&str, &str)| DatabaseResult {
            path: (*path).to_owned(),
            log_path: (*log_path).to_owned(),
            ..DatabaseResult::default()
        };
        result.databases = databases.iter().map(database).collect();
        result
    }

    #[test]
    fn caches_that_memory_has_no_room_for_are_refused() {
        let memory = |available_bytes| {
            Some(Memory {
                size_bytes: 1 << 30,
                available_bytes,
            })
        };
        assert!(refuse_above_memory(500 << 20, memory(500 << 20)).is_ok());
        assert!(refuse_above_memory(500 << 20, None).is_ok(), "unknown");
        let refused = refuse_above_memory(500 << 20, memory((500 << 20) - 1)).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("would grow to 500 MiB"), "{text}");
        assert_eq!(refused.class(), workload::ErrorClass::Environment);
    }

    #[test]
    fn places_are_named_as_databases_were_dealt_over_them() {
        let paths = |paths: &[&str]| -> Vec<PathBuf> { paths.iter().map(PathBuf::from).collect() };
        let beside = [
            ("/a/mail-001/1.edb", "/a/log-001"),
            ("/b/mail-002/2.edb", "/b/log-002"),
            ("/a/mail-003/3.edb", "/a/log-003"),
        ];
        let places = places_of(&result(&beside, &["/a", "/b"]));
        assert_eq!(places, (paths(&["/a", "/b"]), paths(&[])));
        let exchanged = [
            ("/a/mail-001/1.edb", "/b/log-001"),
            ("/b/mail-002/2.edb", "/a/log-002"),
        ];
        let places = places_of(&result(&exchanged, &["/a", "/b"]));
        assert_eq!(places, (paths(&["/a", "/b"]), paths(&["/b", "/a"])));
        let devices = [("/dev/sdb", "/dev/sdb")];
        let places = places_of(&result(&devices, &["/dev/sdb"]));
        assert_eq!(places, (paths(&["/dev/sdb"]), paths(&[])));
        let below = [("/a/x/mail-001/1.edb", "/a/log-001")];
        let places = places_of(&result(&below, &["/a", "/a/x"]));
        assert_eq!(places, (paths(&["/a/x"]), paths(&["/a"])));
        assert_eq!(places_of(&result(&[], &["/a"])), (paths(&[]), paths(&[])));
        // A server that was there, whose files are elsewhere.
        assert_eq!(
            places_of(&result(&[("", "")], &["/a"])),
            (paths(&[]), paths(&[]))
        );
    }
}

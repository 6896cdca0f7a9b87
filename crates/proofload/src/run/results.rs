//! The results of a run: where they go, and what is known of them before it starts.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use measure::host;
use measure::result::{DatabaseResult, RunResult, TargetPath};
use measure::run_directory::{DEFAULT_PARENT, RunDirectory, RunDirectoryError, check_vacant};
use workload::profile::Profile;

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::target::{DatabasePlace, Layout, Place, SiteKind};
use crate::workloads;

/// Makes the run directory with all its files, so that what can fail fails before the run.
pub fn open(
    options: &RunOptions,
    profile: &Profile,
    started: Timestamp,
) -> Result<RunDirectory, Failure> {
    let name = workloads::short_name(&options.workload);
    let config = format!(
        "# All settings in force. Run it again with 'proofload run config.toml --on ...'.\n{}",
        profile.to_toml()
    );
    let made = RunDirectory::create(options.out.as_deref(), &name, started, &config);
    made.map_err(|error| refusal(&error))
}

/// Refuses a directory for the results that holds something already. Writes nothing.
pub fn check(options: &RunOptions) -> Result<(), Failure> {
    let vacant = options.out.as_deref().map_or(Ok(()), check_vacant);
    vacant.map_err(|error| refusal(&error))
}

pub fn refusal(error: &RunDirectoryError) -> Failure {
    let message = sentence(&error.to_string());
    match error {
        RunDirectoryError::NotEmpty { .. } | RunDirectoryError::NotADirectory { .. } => {
            Failure::usage(message, "")
        }
        _ => Failure::environment(message, ""),
    }
}

/// Writes the document of a run that has only begun, so that one that is cut off says what it was.
pub fn begin(directory: &RunDirectory, base: &RunResult) -> Result<(), Failure> {
    let mut begun = base.clone();
    begun.verdict_reason = "Nothing has been measured yet.".to_owned();
    begun.mark_unfinished();
    let written = directory.write_result(&begun);
    written.map_err(|error| unwritable(&error))
}

/// A failure to write results, while the run goes on or at its end.
pub fn unwritable(error: &RunDirectoryError) -> Failure {
    Failure::environment(sentence(&error.to_string()), "")
}

/// An error as a sentence. A name of a file at its beginning stays as it is.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '?']) { "" } else { "." };
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}{end}"),
        None => format!("{text}{end}"),
    }
}

/// Results on the storage under test would disturb it, and make its directory a foreign one.
pub fn refuse_on_target(options: &RunOptions, layout: &Layout) -> Result<(), Failure> {
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(DEFAULT_PARENT));
    let absolute = std::path::absolute(&out).unwrap_or(out);
    let existing = absolute
        .ancestors()
        .find_map(|path| path.canonicalize().ok());
    let Some(existing) = existing else {
        return Ok(());
    };
    let inside = |site: &&crate::target::Site| existing.starts_with(&site.path);
    match layout.sites.iter().find(inside) {
        None => Ok(()),
        Some(site) => Err(Failure::usage(
            format!(
                "The results would go to {}, inside the target {}.",
                absolute.display(),
                site.given.display()
            ),
            "Name a directory elsewhere with --out.",
        )),
    }
}

/// What is known before the run: workload, target, host, seed and time.
pub fn base(
    options: &RunOptions,
    profile: &Profile,
    layout: &Layout,
    started: Timestamp,
) -> RunResult {
    let mut result = RunResult::new();
    result.workload.name = workloads::short_name(&options.workload);
    result.workload.description = profile.description.clone();
    result.workload.settings = profile.settings();
    result.databases = layout.databases.iter().map(database_entry).collect();
    result.target.databases = targets(layout, |place| place.data_site);
    result.target.logs = targets(layout, |place| place.log_site);
    let paths: Vec<&Path> = layout
        .sites
        .iter()
        .map(|site| site.path.as_path())
        .collect();
    result.host = host::facts(&paths);
    result.seed = profile.run.seed;
    result.started = started.to_string();
    result
}

/// The same where no storage of ours is under test: a database server that was there, with its data
/// in `data` if that is known.
pub fn base_of(
    options: &RunOptions,
    profile: &Profile,
    data: Option<&Path>,
    started: Timestamp,
) -> RunResult {
    let nowhere = Layout {
        sites: Vec::new(),
        databases: Vec::new(),
    };
    let mut result = base(options, profile, &nowhere, started);
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
fn database_entry(place: &DatabasePlace) -> DatabaseResult {
    let path = match &place.data {
        Place::Directory(path) if place.has_server() => path.clone(),
        Place::Directory(path) => path.join(format!("{}.edb", place.name)),
        Place::Device(path) => path.clone(),
    };
    DatabaseResult {
        name: place.name.clone(),
        path: path.display().to_string(),
        log_path: place.log.path().display().to_string(),
        ..DatabaseResult::default()
    }
}

/// The targets that `site_of` names, each once, in the order given.
fn targets(
    layout: &Layout,
    site_of: impl Fn(&crate::target::DatabasePlace) -> usize,
) -> Vec<TargetPath> {
    let used: Vec<usize> = layout.databases.iter().map(site_of).collect();
    let sites = layout.sites.iter().enumerate();
    let sites = sites.filter(|(index, _)| used.contains(index));
    sites
        .map(|(_, site)| {
            let mut described = host::describe_target(&site.path);
            if let SiteKind::Device { size_bytes } = site.kind {
                described.capacity_bytes = size_bytes;
            }
            described
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn names_of_files_keep_their_letters() {
        assert_eq!(sentence("out is full"), "out is full.");
        assert_eq!(sentence("the place is full?"), "The place is full?");
    }
}

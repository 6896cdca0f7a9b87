//! Where the results of a run, a prediction or a replay go.

use jiff::Timestamp;
use measure::host;
use measure::recompute::InterruptedRun;
use measure::result::RunResult;
use measure::run_directory::{RunDirectory, RunDirectoryError, check_vacant, load_result};
use measure::units;
use workload::profile::Run;
use workload::{Profile, StorageNeeds};

use crate::error::Error;
use crate::options::RunOptions;
use crate::output::Output;

/// Makes the run directory with all its files, so that what can fail fails before the run. `run` says
/// whether there is a second series of samples.
///
/// # Errors
/// When the directory cannot be made, or holds something.
pub fn open(
    output: &Output,
    workload: &str,
    started: Timestamp,
    config: &str,
    run: Option<&Run>,
) -> Result<Option<RunDirectory>, Error> {
    if *output == Output::Memory {
        return Ok(None);
    }
    let made = RunDirectory::create(output.named(), workload, started, config);
    let made = match run.and_then(|run| run.second_sample_interval) {
        Some(_) => made.and_then(|directory| directory.with_second_series(started)),
        None => made,
    };
    made.map(Some).map_err(|error| refusal(&error))
}

/// The last line of the log of a run: that it has ended, and how.
#[must_use]
pub fn end_line(result: &RunResult) -> String {
    format!("ended: {}. {}", result.verdict, result.verdict_reason)
}

/// Opens the directory of a run that was interrupted, so that the run goes on in it; `base` is what is known of
/// its continuation.
///
/// # Errors
/// When it cannot be written.
pub fn resume(run: &InterruptedRun, base: &RunResult) -> Result<RunDirectory, Error> {
    // Between reading it and taking its databases another process may have gone on with it.
    if load_result(&run.directory).ok().as_ref() != Some(&run.result) {
        return Err(Error::usage(
            format!(
                "The run in {} has just gone on elsewhere.",
                run.directory.display()
            ),
            "",
        ));
    }
    let unwritable = |error| unwritable(&error);
    let second = run.second.map(|(whole, _)| whole);
    let directory = RunDirectory::resume(&run.directory, run.whole, second);
    let directory = directory.map_err(unwritable)?;
    // That it goes on is written before its databases are opened, which note how often it did.
    let mut unfinished = run.recomputed.clone();
    unfinished.interruptions.clone_from(&base.interruptions);
    if run.result.complete {
        unfinished.files.clear();
        unfinished.document_sha256.clear();
        unfinished.mark_unfinished();
    }
    directory.write_result(&unfinished).map_err(unwritable)?;
    Ok(directory)
}

/// Refuses a directory for the results that holds something already. Writes nothing.
///
/// # Errors
/// When it does.
pub fn check(output: &Output) -> Result<(), Error> {
    let vacant = output.named().map_or(Ok(()), check_vacant);
    vacant.map_err(|error| refusal(&error))
}

/// Why no run directory can be made.
#[must_use]
pub fn refusal(error: &RunDirectoryError) -> Error {
    let message = sentence(&error.to_string());
    match error {
        RunDirectoryError::NotEmpty { .. } | RunDirectoryError::NotADirectory { .. } => {
            Error::usage(message, "")
        }
        _ => Error::environment(message, ""),
    }
}

/// Writes the document of a run that has only begun, so that one that is interrupted says what it was.
///
/// # Errors
/// When it cannot be written; nothing is left in the directory then.
pub fn begin(directory: Option<&RunDirectory>, base: &RunResult) -> Result<(), Error> {
    let Some(directory) = directory else {
        return Ok(());
    };
    let mut unfinished = base.clone();
    unfinished.verdict_reason = "Nothing has been measured yet.".to_owned();
    unfinished.mark_unfinished();
    let written = directory.write_result(&unfinished);
    let written = written.and_then(|()| match base.witness {
        Some(_) => directory.sync(),
        None => Ok(()),
    });
    written.map_err(|error| {
        directory.discard();
        unwritable(&error)
    })
}

/// An error in writing results, while the run goes on or at its end.
#[must_use]
pub fn unwritable(error: &RunDirectoryError) -> Error {
    Error::environment(sentence(&error.to_string()), "")
}

/// An error as a sentence. A name of a file at its beginning stays as it is.
#[must_use]
pub fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '?']) { "" } else { "." };
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}{end}"),
        None => format!("{text}{end}"),
    }
}

/// What a run of this profile cannot give, known before hours are spent on it.
#[must_use]
pub fn sample_warning(profile: &dyn Profile) -> Option<String> {
    let interval_s = profile.run().sample_interval().as_seconds();
    let samples = (profile.run().duration.as_seconds() / interval_s) as u64;
    let fewest = u64::from(profile.service_levels().fewest_samples);
    (samples < fewest).then(|| {
        format!(
            "Warning: the run will be inconclusive: {} of {} {} into {}, and a verdict needs \
             {fewest}. Run longer with --duration, or sample more often with --set \
             run.sample_interval=1s.\n",
            units::count(samples, "sample"),
            profile.run().sample_interval(),
            if samples == 1 { "fits" } else { "fit" },
            profile.run().duration,
        )
    })
}

/// A cache that the data of a run fits, so that it would be measured and not the storage.
#[must_use]
pub fn cache_warning(profile: &dyn Profile, options: &RunOptions) -> Option<String> {
    let demands = profile.volume_demands();
    let data_bytes: u64 = demands.iter().map(|demand| demand.data_bytes).sum();
    let is_here = options
        .database
        .as_deref()
        .is_none_or(|name| name == "sqlite");
    let memory_bytes = match profile.storage_needs() {
        StorageNeeds::Server { .. } if is_here => Some(host::facts::<&str>(&[]).memory_bytes),
        _ => None,
    };
    let caches = [
        (profile.engine_cache_bytes(), "the engine's cache"),
        (memory_bytes, "memory of this host"),
        (options.array_cache_bytes, "the array's cache"),
    ];
    let mut caches = caches
        .into_iter()
        .filter_map(|(bytes, of)| Some((bytes?, of)));
    let (cache_bytes, of) = caches
        .find(|(cache_bytes, _)| data_bytes <= *cache_bytes)
        .filter(|_| !options.allow_cached)?;
    Some(format!(
        "Warning: the data of {} fits the {} of {of}: where every service level is met, the run is \
         inconclusive, unless the data outgrows it. Use more data (--target-size), or allow it with --allow-cached.\n",
        units::size(data_bytes),
        units::size(cache_bytes)
    ))
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

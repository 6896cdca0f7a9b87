//! Where a run directory is made: a new or empty one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::error::RunDirectoryError;
use super::{CONFIG_FILE, DEFAULT_PARENT, FIRST_SERIES, LOG_FILE, RESULT_FILE, SECOND_SERIES};

/// Looks whether the results of a run may go to `out`: it is an empty directory, or there is
/// nothing of that name yet. Writes nothing.
///
/// # Errors
/// [`RunDirectoryError::NotEmpty`], [`RunDirectoryError::NotADirectory`], or what the system says.
pub fn check_vacant(out: &Path) -> Result<(), RunDirectoryError> {
    let path = out.to_owned();
    match fs::read_dir(out) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(RunDirectoryError::NotEmpty { path }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(RunDirectoryError::NotADirectory { path })
        }
        Err(error) => Err(RunDirectoryError::Create { path, error }),
    }
}

/// Makes a directory for results: `out`, which must be new or empty, or without it
/// `proofload-runs/<name>-<UTC time>`.
///
/// # Errors
/// When the directory holds something, or cannot be made.
pub fn new_directory(
    out: Option<&Path>,
    name: &str,
    started: Timestamp,
) -> Result<PathBuf, RunDirectoryError> {
    match out {
        Some(out) => claim(out),
        None => make_new(Path::new(DEFAULT_PARENT), name, started),
    }
}

/// Takes the directory that the user named, when it is new or empty.
fn claim(out: &Path) -> Result<PathBuf, RunDirectoryError> {
    check_vacant(out)?;
    let path = out.to_owned();
    match fs::create_dir_all(out) {
        Ok(()) => Ok(path),
        Err(error) => Err(RunDirectoryError::Create { path, error }),
    }
}

/// Makes `<parent>/<workload>-<UTC time>`, with a number behind it when two runs begin in the same
/// second.
pub(super) fn make_new(
    parent: &Path,
    workload: &str,
    started: Timestamp,
) -> Result<PathBuf, RunDirectoryError> {
    fs::create_dir_all(parent).map_err(|error| RunDirectoryError::Create {
        path: parent.to_owned(),
        error,
    })?;
    let stem = Path::new(workload)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let stem = if workload.ends_with(".toml") {
        stem
    } else {
        workload.to_owned()
    };
    let name: String = stem
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = format!("{name}-{}", started.strftime("%Y%m%dT%H%M%SZ"));
    let mut number = 1;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let path = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(RunDirectoryError::Create { path, error }),
        }
    }
}

/// Removes the files of a run that could not begin, from the directory that it has taken by its `config.toml`.
pub(super) fn remove_begun(path: &Path) {
    for file in [
        CONFIG_FILE,
        FIRST_SERIES.samples,
        FIRST_SERIES.histograms,
        SECOND_SERIES.samples,
        SECOND_SERIES.histograms,
        LOG_FILE,
        RESULT_FILE,
    ] {
        let _ = fs::remove_file(path.join(file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_from_the_workload_and_the_time() {
        let parent = tempfile::tempdir().unwrap();
        let started: Timestamp = "2025-03-01T12:00:09Z".parse().unwrap();
        let made = |workload| {
            let path = make_new(parent.path(), workload, started).unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(made("exchange-2013"), "exchange-2013-20250301T120009Z");
        assert_eq!(made("exchange-2013"), "exchange-2013-20250301T120009Z-2");
        assert_eq!(made("/home/me/my mail.toml"), "my-mail-20250301T120009Z");
        assert_eq!(made("v1.5"), "v1.5-20250301T120009Z");
    }
}

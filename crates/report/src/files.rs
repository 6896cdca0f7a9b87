//! Reports in run directories: reading the run, writing its page.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use measure::result::RunResult;
use measure::run_directory::{LoadError, REPORT_FILE};
use proofload::WORKLOADS;

use crate::page::html;
use crate::run::Run;

/// Why a run directory has no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The results cannot be read.
    #[error("The results are unreadable: {0}.")]
    Load(#[from] LoadError),
    /// The page cannot be written.
    #[error("The report {} cannot be written: {error}.", page.display())]
    Write {
        /// Path of the HTML page.
        page: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// The run in a directory, with what its workload adds to the report.
///
/// # Errors
/// As those of [`Run::load`].
pub fn load_run(directory: &Path) -> Result<Run, LoadError> {
    Run::load(directory, |result| WORKLOADS.contribution(result))
}

/// A run of which only the result is there, with what its workload adds to the report.
#[must_use]
pub fn run_of_result(result: &RunResult) -> Run {
    let mut run = Run::from_result(&result.workload.name, result.clone());
    run.contribution = WORKLOADS.contribution(result);
    run
}

/// Writes the report of the run in a directory beside its results; gives its path.
///
/// # Errors
/// The results cannot be read, or the page cannot be written.
pub fn write_report(directory: &Path) -> Result<PathBuf, ReportError> {
    write_report_of(&load_run(directory)?, directory)
}

/// Writes the report of a run into its directory; gives its path.
///
/// # Errors
/// The page cannot be written.
pub fn write_report_of(run: &Run, directory: &Path) -> Result<PathBuf, ReportError> {
    let page = directory.join(REPORT_FILE);
    match replace_document(&page, html(run).as_bytes()) {
        Ok(()) => Ok(page),
        Err(error) => Err(ReportError::Write { page, error }),
    }
}

/// Writes the report of a run that has no room beside its results into the directory for temporary files;
/// gives its path.
///
/// # Errors
/// The page cannot be written there either.
pub fn write_report_elsewhere(run: &Run) -> io::Result<PathBuf> {
    let name = format!("proofload-{}-{}", std::process::id(), REPORT_FILE);
    let page = std::env::temp_dir().join(name);
    // Others may write there, too: a name that is taken is not overwritten.
    let mut file = fs::File::create_new(&page)?;
    file.write_all(html(run).as_bytes())?;
    Ok(page)
}

/// Writes a document in one step. A link in its place, or a pipe, is replaced, and not followed.
///
/// # Errors
/// It cannot be written.
pub fn replace_document(page: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = page.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let write = || {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::File::create_new(&temporary)?.write_all(bytes)?;
        fs::rename(&temporary, page)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_the_report_is_replaced() {
        let scratch = tempfile::tempdir().unwrap();
        let elsewhere = scratch.path().join("elsewhere");
        fs::write(&elsewhere, "kept").unwrap();
        let page = scratch.path().join(REPORT_FILE);
        std::os::unix::fs::symlink(&elsewhere, &page).unwrap();
        let written = write_report_of(&Run::default(), scratch.path()).unwrap();
        assert_eq!(written, page);
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "kept");
        assert!(!page.is_symlink());
        let absent = scratch.path().join("absent");
        assert!(matches!(
            write_report_of(&Run::default(), &absent),
            Err(ReportError::Write { .. })
        ));
    }
}

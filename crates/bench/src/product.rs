//! Runs the built `proofload` binary and reads its result document.

use measure::result::{CounterSummary, RunResult};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to call the binary for one series of runs on one scratch directory.
pub struct Product {
    /// The binary under test.
    pub binary: PathBuf,
    /// Where its databases live.
    pub storage: PathBuf,
    /// Where its run directories go.
    pub runs: PathBuf,
}

impl Product {
    /// `proofload run exchange-2013` with `arguments`; returns its result document.
    ///
    /// # Errors
    /// A sentence when the binary cannot be started, ends with a status that says the run did not
    /// take place, or prints no result.
    pub fn run(&self, name: &str, arguments: &[String]) -> Result<RunResult, String> {
        let out = self.runs.join(name);
        remove_directory(&out)?;
        let output = Command::new(&self.binary)
            .args(["run", "exchange-2013", "--json", "--quiet", "--on"])
            .arg(&self.storage)
            .arg("--out")
            .arg(&out)
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.binary.display()))?;
        // A failed service level or an unsteady run is still a measurement.
        if !matches!(output.status.code(), Some(0 | 1 | 5)) {
            return Err(format!("{name}: proofload ended with {}", output.status));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: result: {error}"))
    }
}

/// Removes a directory this program made; one that is not there is fine.
pub fn remove_directory(path: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A host counter over the measured phase.
///
/// # Errors
/// A sentence when the document has no such counter.
pub fn host_counter<'a>(result: &'a RunResult, name: &str) -> Result<&'a CounterSummary, String> {
    result
        .host
        .counters
        .iter()
        .find(|counter| counter.name == name)
        .ok_or_else(|| format!("the result has no host counter '{name}'"))
}

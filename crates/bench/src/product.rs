//! Runs the built `proofload` binary and reads its result document.

use measure::metric::Metric;
use measure::result::{CounterSummary, RunResult};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to call the binary for one series of runs on one scratch directory.
#[derive(Clone)]
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
        let document = self.document(name, arguments)?;
        serde_json::from_value(document).map_err(|error| format!("{name}: result: {error}"))
    }

    /// The same, with the document as it is: another version may have another schema.
    ///
    /// # Errors
    /// As [`Product::run`].
    pub fn document(&self, name: &str, arguments: &[String]) -> Result<Value, String> {
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

/// What a prediction took.
pub struct RunCost {
    /// Processor time, of user and system, seconds.
    pub processor_s: f64,
    /// The most memory it had, MiB.
    pub peak_mib: f64,
}

impl Product {
    /// `proofload predict exchange-2013` with `arguments`, under GNU time; returns its result
    /// document and what it took.
    ///
    /// # Errors
    /// As [`Product::run`], and when GNU time is not there.
    pub fn predict(&self, name: &str, arguments: &[&str]) -> Result<(Value, RunCost), String> {
        let out = self.runs.join(name);
        remove_directory(&out)?;
        let timed = self.runs.join(format!("{name}.time"));
        let output = Command::new("/usr/bin/time")
            .args(["--quiet", "--format", "%U %S %M", "--output"])
            .arg(&timed)
            .arg(&self.binary)
            .args(["predict", "exchange-2013", "--json", "--quiet", "--out"])
            .arg(&out)
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("cannot start /usr/bin/time (install GNU time): {error}"))?;
        if !matches!(output.status.code(), Some(0 | 1 | 5)) {
            return Err(format!("{name}: proofload ended with {}", output.status));
        }
        let result = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{name}: result: {error}"))?;
        let text = std::fs::read_to_string(&timed)
            .map_err(|error| format!("cannot read {}: {error}", timed.display()))?;
        let figures: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [user_s, system_s, peak_kib] = figures[..] else {
            return Err(format!("GNU time wrote '{}'", text.trim()));
        };
        let spent = RunCost {
            processor_s: user_s + system_s,
            peak_mib: peak_kib / 1024.0,
        };
        Ok((result, spent))
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
pub fn host_counter(result: &RunResult, metric: Metric) -> Result<&CounterSummary, String> {
    let counter = result.host.counter(metric);
    counter.ok_or_else(|| format!("the result has no host counter '{}'", metric.id()))
}

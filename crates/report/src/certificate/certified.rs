//! Runs that may stand on a certificate.

use std::path::{Path, PathBuf};

use config::Source;
use measure::recompute::{Agreement, Verified};
use measure::result::{RunKind, RunResult};
use measure::run_directory::LoadError;
use proofload::WORKLOADS;
use serde_json::Value;

use crate::files::load_run;
use crate::run::Run;
use crate::verification::{verification_findings, verify_run};

/// A setting that is not as the profile has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Dotted path of the setting.
    pub setting: String,
    /// Its value in the profile.
    pub of_profile: String,
    /// Its value in the run.
    pub of_run: String,
}

/// A run that stands on a certificate.
#[derive(Clone, Debug, Default)]
pub struct CertifiedRun {
    /// The run with its samples, as a report has it.
    pub run: Run,
    /// What came of its verification.
    pub verified: Verified,
    /// Settings that differ from the bundled profile of its name; `None` when there is no such profile.
    pub deviations: Option<Vec<Deviation>>,
}

/// Why a run cannot stand on a certificate. The text is a whole sentence.
#[derive(Debug, thiserror::Error)]
pub enum NotCertified {
    /// The directory is none of a run.
    #[error("{0}.")]
    NoRun(LoadError),
    /// Its verification has found differences.
    #[error("{} was changed after the run:\n{}", .0.directory.display(), verification_findings(.0).trim_end())]
    Changed(Box<Verified>),
    /// Its files cannot be read.
    #[error("{0}.")]
    Unreadable(LoadError),
    /// It is a prediction, a replay, or of an array that was served.
    #[error("{} is of a modelled array: no storage was tested.", .0.display())]
    Prediction(PathBuf),
}

impl CertifiedRun {
    /// The run in a directory, verified. One that was changed after the run is taken only if
    /// `accept_changed`; the certificate then says so.
    ///
    /// # Errors
    /// The directory holds no run on real storage, it was changed, or its files cannot be read.
    pub fn load(directory: &Path, accept_changed: bool) -> Result<Self, NotCertified> {
        let verified = verify_run(directory).map_err(NotCertified::NoRun)?;
        if verified.agreement() == Agreement::None && !accept_changed {
            return Err(NotCertified::Changed(Box::new(verified)));
        }
        let run = load_run(directory).map_err(NotCertified::Unreadable)?;
        if run.result.kind != RunKind::Run {
            return Err(NotCertified::Prediction(directory.to_owned()));
        }
        let deviations = deviations(&run.result);
        Ok(Self {
            run,
            verified,
            deviations,
        })
    }
}

/// Settings that are not as the bundled profile of this name has them; `None` when there is none.
fn deviations(result: &RunResult) -> Option<Vec<Deviation>> {
    let bundled = WORKLOADS.bundled(&result.workload.name)?;
    let source = Source::file(bundled.name, bundled.toml);
    let profile = WORKLOADS.read(&[source]).ok()?.settings();
    let text = |value: Option<&Value>| match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let changed = result.workload.settings.iter();
    let changed = changed.filter(|(setting, value)| !is_same(profile.get(*setting), value));
    Some(
        changed
            .map(|(setting, value)| Deviation {
                setting: setting.clone(),
                of_profile: text(profile.get(setting)),
                of_run: text(Some(value)),
            })
            .collect(),
    )
}

/// Whether a setting has the value of the profile, but for the last digit of a fraction that was written
/// and read back.
fn is_same(of_profile: Option<&Value>, value: &Value) -> bool {
    let numbers = (of_profile.and_then(Value::as_f64), value.as_f64());
    match numbers {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs(),
        _ => of_profile == Some(value),
    }
}

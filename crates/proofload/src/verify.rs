//! Recomputes a run from what it left in its directory.

use std::path::Path;

use config::Source;
use measure::recompute::{self, Criteria, Verified};
use measure::result::{RunKind, RunResult};
use measure::run_directory::{CONFIG_FILE, LoadError};

use crate::registry::Registry;

/// Verifies the run in `directory`: hashes, samples, figures and verdict. Its workload is looked for in
/// `registry`, which knows the limits in its settings.
///
/// # Errors
/// When the directory is none of a run, or of a version that this one does not read.
pub fn verify(directory: &Path, registry: &Registry) -> Result<Verified, LoadError> {
    recompute::verify(directory, &|result, config| terms(result, config, registry))
}

/// What a run was judged by.
pub(crate) fn terms(
    result: &RunResult,
    config: &str,
    registry: &Registry,
) -> Result<Option<Criteria>, String> {
    if !result.kind.is_of_workload() {
        return Ok(None);
    }
    let profile = registry.read(&[Source::file(CONFIG_FILE, config)]);
    let profile = profile.map_err(|error| error.to_string())?;
    let run = profile.run();
    Ok(Some(Criteria {
        levels: match result.kind {
            RunKind::Run => profile.service_levels_on_storage(),
            RunKind::Prediction | RunKind::Trace | RunKind::Served => profile.service_levels(),
        },
        planned_s: run.duration.as_seconds(),
        hung_after_s: run.hung_request_after.as_seconds(),
        steady: run.steady_state.rule(),
        load: profile.workload().contribution(result).load,
        settings: profile.settings(),
    }))
}

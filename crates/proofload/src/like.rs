//! `predict --like`: the workload of a run on real storage, with what the run has measured of it.

use std::path::Path;

use measure::result::{RunKind, RunResult};
use measure::run_directory::{CONFIG_FILE, load_result, run_directory_of};

use crate::registry::Registry;
use crate::scenario::Scenario;
use crate::setting::{Setting, Value};
use execution::Error;

impl Scenario {
    /// The workload of the run in a directory, in place of its own. The settings of this scenario count more than
    /// those of the run.
    ///
    /// # Errors
    /// When it is none of a run on real storage that was measured.
    pub fn like(mut self, directory: &Path) -> Result<Self, Error> {
        let directory = run_directory_of(directory);
        let shown = directory.display();
        let result = load_result(directory)
            .map_err(|error| Error::usage(error.to_string(), "Name the directory of a run."))?;
        let measured = measured_by(&result, self.registry).map_err(|what| {
            Error::usage(
                format!(
                    "--like takes what a run on real storage has measured, and {shown} {what}."
                ),
                "Name the directory of such a run.",
            )
        })?;
        let config = directory.join(CONFIG_FILE);
        let text = self.files.read_text(&config).map_err(|error| {
            Error::usage(
                format!("{} cannot be read: {error}.", config.display()),
                "Name the directory of a whole run.",
            )
        })?;
        // The name that the prediction has in reports.
        self.workload = format!("like-{}.toml", name_of(directory));
        self.files.insert(&self.workload, text);
        let written: Vec<String> = measured.iter().map(Setting::to_string).collect();
        let measured_too = match written.is_empty() {
            true => String::new(),
            false => format!(", and measured there: {}", written.join(", ")),
        };
        self.notes.push(format!(
            "The settings are those of the run in {shown}{measured_too}."
        ));
        self.settings.splice(0..0, measured);
        Ok(self)
    }
}

/// The name of a run directory, as far as it goes with the name of a workload.
fn name_of(directory: &Path) -> String {
    let whole = directory.canonicalize();
    let whole = whole.unwrap_or_else(|_| directory.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    name.chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect()
}

/// What a run has measured, as settings; or why that cannot be taken over.
fn measured_by(result: &RunResult, registry: &Registry) -> Result<Vec<Setting>, &'static str> {
    if result.kind != RunKind::Run {
        return Err("is a prediction");
    }
    if !result.complete || result.duration_s <= 0.0 {
        return Err("has no measured phase that came to its end");
    }
    if !result.ranks.is_empty() {
        return Err("is of several ranks: the directory of each of them is in it");
    }
    let workload = registry.workload_of(result);
    let workload = workload.ok_or("is of a workload that this version does not know")?;
    let settings = workload.measured_settings(result).into_iter();
    let settings = settings.map(|(path, value)| Setting::at(path, Value::of_text(value)));
    Ok(settings.collect())
}

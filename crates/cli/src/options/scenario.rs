//! From options to a scenario: every text is read once, here.

use std::path::PathBuf;

use proofload::{Error, Key, Output, Scenario, Setting, Value};

/// The settings after `--set`.
pub fn settings(assignments: &[String]) -> Result<Vec<Setting>, Error> {
    assignments
        .iter()
        .map(|text| Setting::parse(text))
        .collect()
}

/// A scenario with every `--set` first, so that an option with a name of its own wins.
pub fn scenario<const N: usize>(
    workload: &str,
    assignments: &[String],
    named: [(Key, &Option<String>); N],
    out: Option<&PathBuf>,
) -> Result<Scenario, Error> {
    let mut scenario = Scenario::new(workload);
    scenario.settings = settings(assignments)?;
    for (key, text) in named {
        if let Some(text) = text {
            scenario.set(&key, &Value::from(text.as_str()));
        }
    }
    scenario.output = match out {
        Some(out) => Output::Directory(out.clone()),
        None => Output::NewDirectory,
    };
    Ok(scenario)
}

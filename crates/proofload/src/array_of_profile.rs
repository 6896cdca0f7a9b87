//! What a profile says of the array that it is predicted on, beside its workload: which array it is, what breaks, and
//! whether it begins as after days of the load. A run on real storage has no use for it.

use config::Source;
use execution::Error;

use crate::scenario::Scenario;

// The registry of workloads names these keys, too, as those that no workload reads.
const ARRAY: &str = "array";
const EVENT: &str = "event";
const SETTLED: &str = "settled";

/// The `[array]` table of the profile: a description as in a file of its own.
pub fn array(scenario: &Scenario) -> Option<Source> {
    let (text, _) = table_with(scenario, ARRAY)?;
    Some(Source::part(&scenario.workload, ARRAY, &text))
}

/// What that array is called: the profile, and the array that it extends.
pub fn name(scenario: &Scenario) -> String {
    let table = table_with(scenario, ARRAY).map(|(_, table)| table);
    let extended = table
        .as_ref()
        .and_then(|table| table[ARRAY].get("extends")?.as_str());
    match extended {
        Some(extended) => format!("{extended} of {}", scenario.workload),
        None => scenario.workload.clone(),
    }
}

/// The `[[event]]` tables of the profile.
pub fn events(scenario: &Scenario) -> Option<Source> {
    let (text, _) = table_with(scenario, EVENT)?;
    Some(Source::list(&scenario.workload, EVENT, &text))
}

/// The `[[event]]` tables that were given as lines.
pub fn events_of_lines(scenario: &Scenario) -> impl Iterator<Item = Source> {
    let tables = scenario.events.iter();
    tables.map(|table| Source::list("--event", EVENT, table))
}

/// Whether a prediction begins as after days of the load: it was asked for, or the profile says so.
///
/// # Errors
/// When the profile says neither yes nor no.
pub fn is_settled(scenario: &Scenario) -> Result<bool, Error> {
    if scenario.settled {
        return Ok(true);
    }
    match table_with(scenario, SETTLED).and_then(|(_, mut table)| table.remove(SETTLED)) {
        None => Ok(false),
        Some(toml::Value::Boolean(settled)) => Ok(settled),
        Some(other) => Err(Error::usage(
            format!(
                "{}: settled = {other} is neither true nor false.",
                scenario.workload
            ),
            "Write settled = true for a prediction that begins as after days of its load, or omit it.",
        )),
    }
}

/// The text of the profile and what is in it, where it has this key. What else is wrong with it is found when the
/// workload is read.
fn table_with(scenario: &Scenario, key: &str) -> Option<(String, toml::Table)> {
    let text = scenario.files.read_text(&scenario.workload).ok()?;
    let table: toml::Table = toml::from_str(&text).ok()?;
    table.contains_key(key).then_some((text, table))
}

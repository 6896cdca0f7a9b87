//! What a trace is replayed on, or real programs are served with: an array, or a single disk that is built in or somebody's own.

use std::path::Path;

use array::description::{Description, bundled_array, describes_disk, one_disk, one_disk_of_file};
use config::Source;

use crate::array_of_profile;
use crate::predict;
use crate::scenario::Scenario;
use crate::setting::Setting;
use execution::Error;

/// The description, and whether it is that of a single disk.
pub fn describe_array(scenario: &Scenario) -> Result<(Description, bool), Error> {
    let Some(mut sources) = disk_alone(scenario) else {
        return Ok((predict::load_array(scenario)?, false));
    };
    sources.extend(array_of_profile::events_of_lines(scenario));
    sources.extend(scenario.settings.iter().filter_map(Setting::of_array));
    Ok((Description::load(&sources)?, true))
}

/// The sources of an array that is the disk of this name, or the one that the file of this name
/// describes; `None` when it is neither.
fn disk_alone(scenario: &Scenario) -> Option<Vec<Source>> {
    let name = scenario.array.as_str();
    if bundled_array(name).is_some() {
        return None;
    }
    if !scenario.files.has(Path::new(name)) {
        return one_disk(name);
    }
    let text = scenario.files.read_text(name).ok()?;
    describes_disk(&text).then(|| one_disk_of_file(name, &text))
}

//! From an array's name and the settings to its description.

use std::io;

use array::description::{BUNDLED_ARRAYS, Description, bundled_array, describes_disk, one_disk};
use config::Source;

use crate::array_of_profile;
use crate::nearest::nearest;
use crate::scenario::Scenario;
use crate::setting::Setting;
use execution::Error;

/// The text of an array: a bundled name, or the path of a file; where none is named the table of the profile.
fn find(scenario: &Scenario) -> Result<Source, Error> {
    let name = scenario.array.as_str();
    if name.is_empty() {
        return array_of_profile::array(scenario).ok_or_else(|| missing(scenario));
    }
    if let Some(array) = bundled_array(name) {
        return Ok(Source::file(array.name, array.toml));
    }
    match scenario.files.read_text(name) {
        Ok(text) if describes_disk(&text) => Err(single_disk(name, DiskSource::File)),
        Ok(text) => Ok(Source::file(name, &text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match one_disk(name) {
            Some(_) => Err(single_disk(name, DiskSource::BuiltIn)),
            None => Err(unknown(name)),
        },
        Err(error) => Err(Error::usage(
            format!("The array {name} cannot be read: {error}."),
            "Give the path of a TOML file, or a name from 'proofload list arrays'.",
        )),
    }
}

/// The description with every setting of the array applied.
///
/// # Errors
/// An unknown array, and every fault of its description or of a setting.
pub fn load(scenario: &Scenario) -> Result<Description, Error> {
    let mut sources = vec![find(scenario)?];
    sources.extend(array_of_profile::events(scenario));
    sources.extend(array_of_profile::events_of_lines(scenario));
    sources.extend(scenario.settings.iter().filter_map(Setting::of_array));
    Ok(Description::load(&sources)?)
}

/// Where the description of a disk stands.
#[derive(Clone, Copy)]
enum DiskSource {
    BuiltIn,
    File,
}

/// A disk in place of an array.
fn single_disk(name: &str, own: DiskSource) -> Error {
    let into_array = match own {
        DiskSource::BuiltIn => {
            format!("--array msa2050 --set array.pool.disk={name} has disks of this kind.")
        }
        DiskSource::File => {
            "In a description of an array the table [disks.NAME] holds what this file holds, \
                      and disk = \"NAME\" in [pool] or [[group]] makes use of it."
                .to_owned()
        }
    };
    Error::usage(
        format!(
            "{name} is a single disk, on which block traces are replayed; the databases of a \
             workload need an array."
        ),
        format!("'proofload list arrays' names those built in. {into_array}"),
    )
}

fn missing(scenario: &Scenario) -> Error {
    Error::usage(
        format!(
            "No array is named, and {} has no [array] table.",
            scenario.workload
        ),
        "Give --array with a name from 'proofload list arrays' or the path of a description; in a profile \
         [array] with extends = \"NAME\" names it.",
    )
}

fn unknown(name: &str) -> Error {
    let help = match nearest(name, BUNDLED_ARRAYS.iter().map(|array| array.name)) {
        Some(name) => format!("Did you mean {name}? 'proofload list arrays' names them all."),
        None => "'proofload list arrays' names those built in; a path of a description works, too."
            .to_owned(),
    };
    Error::usage(
        format!("There is no bundled array and no file called '{name}'."),
        help,
    )
}

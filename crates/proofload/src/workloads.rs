//! From a workload's name and the options to the profile that is run.

use std::fs;
use std::io;

use workload::profile::{BUNDLED, Layer, bundled};

use crate::failure::Failure;

/// The text of a workload: a bundled name, or the path of a file.
pub fn find(workload: &str) -> Result<Layer, Failure> {
    if let Some(profile) = bundled(workload) {
        return Ok(Layer::file(profile.name, profile.toml));
    }
    match fs::read_to_string(workload) {
        Ok(text) => Ok(Layer::file(workload, &text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown(workload)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Failure::usage(
            format!("The profile {workload} is not text in UTF-8."),
            "Give the path of a TOML file, or a name from 'proofload list'.",
        )),
        Err(error) => Err(Failure::usage(
            format!("The profile {workload} cannot be read: {error}."),
            "Give the path of a readable TOML file, or a name from 'proofload list'.",
        )),
    }
}

fn unknown(workload: &str) -> Failure {
    let names = BUNDLED.map(|profile| profile.name);
    let near = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(workload, name), name))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    let help = match near {
        Some((_, name)) => format!("Did you mean {name}? 'proofload list' names them all."),
        None => format!(
            "Name one of {}, or give the path of a profile file.",
            names.join(", ")
        ),
    };
    Failure::usage(
        format!("There is no bundled workload and no file called '{workload}'."),
        help,
    )
}

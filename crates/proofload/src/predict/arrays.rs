//! From an array's name and the options to its description.

use std::fs;
use std::io;

use array::description::{
    BUNDLED_ARRAYS, Description, Source, bundled_array, describes_disk, one_disk,
};

use crate::cli::PredictOptions;
use crate::failure::Failure;
use crate::workloads;

/// The text of an array: a bundled name, or the path of a file.
pub fn find(name: &str) -> Result<Source, Failure> {
    if let Some(array) = bundled_array(name) {
        return Ok(Source::file(array.name, array.toml));
    }
    match fs::read_to_string(name) {
        Ok(text) if describes_disk(&text) => Err(single_disk(name, Own::File)),
        Ok(text) => Ok(Source::file(name, &text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match one_disk(name) {
            Some(_) => Err(single_disk(name, Own::BuiltIn)),
            None => Err(unknown(name)),
        },
        Err(error) => Err(Failure::usage(
            format!("The array {name} cannot be read: {error}."),
            "Give the path of a TOML file, or a name from 'proofload list arrays'.",
        )),
    }
}

/// The description with every `--set array.` applied.
pub fn load(options: &PredictOptions) -> Result<Description, Failure> {
    let mut sources = vec![find(&options.array)?];
    sources.extend(workloads::events(&options.workload));
    let settings = options.array_settings();
    sources.extend(settings.map(|text| Source::assignment("--set array.", text)));
    Ok(Description::load(&sources)?)
}

/// Where the description of a disk stands.
#[derive(Clone, Copy)]
enum Own {
    BuiltIn,
    File,
}

/// A disk in place of an array.
fn single_disk(name: &str, own: Own) -> Failure {
    let into_array = match own {
        Own::BuiltIn => {
            format!("--array msa2050 --set array.pool.disk={name} has disks of this kind.")
        }
        Own::File => {
            "In a description of an array the table [disks.NAME] holds what this file holds, \
                      and disk = \"NAME\" in [pool] or [[group]] makes use of it."
                .to_owned()
        }
    };
    Failure::usage(
        format!(
            "{name} is a single disk, on which block traces are replayed; the databases of a \
             workload need an array."
        ),
        format!("'proofload list arrays' names those built in. {into_array}"),
    )
}

fn unknown(name: &str) -> Failure {
    let near = BUNDLED_ARRAYS
        .iter()
        .map(|array| (strsim::damerau_levenshtein(name, array.name), array.name))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    let help = match near {
        Some((_, name)) => format!("Did you mean {name}? 'proofload list arrays' names them all."),
        None => "'proofload list arrays' names those built in; a path of a description works, too."
            .to_owned(),
    };
    Failure::usage(
        format!("There is no bundled array and no file called '{name}'."),
        help,
    )
}

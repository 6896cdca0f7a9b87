//! What a trace is replayed on: an array, or a single disk that is built in or somebody's own.

use std::fs;
use std::path::Path;

use array::description::{
    Description, Source, bundled_array, describes_disk, one_disk, one_disk_of_file,
};

use crate::cli::PredictOptions;
use crate::failure::Failure;
use crate::predict;

/// The description, and whether it is that of a single disk.
pub fn describe_array(options: &PredictOptions) -> Result<(Description, bool), Failure> {
    let Some(mut sources) = disk_alone(&options.array) else {
        return Ok((predict::load_array(options)?, false));
    };
    let settings = options.array_settings();
    sources.extend(settings.map(|text| Source::assignment("--set array.", text)));
    Ok((Description::load(&sources)?, true))
}

/// The sources of an array that is the disk of this name, or the one that the file of this name
/// describes; `None` when it is neither.
fn disk_alone(name: &str) -> Option<Vec<Source>> {
    if bundled_array(name).is_some() {
        return None;
    }
    if !Path::new(name).exists() {
        return one_disk(name);
    }
    let text = fs::read_to_string(name).ok()?;
    describes_disk(&text).then(|| one_disk_of_file(name, &text))
}

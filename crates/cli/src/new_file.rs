//! Files that a user names and that must not be there yet.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::error::CommandError;

/// Writes a file that is not there. Where it cannot be written whole nothing is left of it.
pub fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    let mut file = File::create_new(path).map_err(|error| refused(path, &error))?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = fs::remove_file(path);
        refused(path, &error)
    })
}

fn refused(path: &Path, error: &io::Error) -> CommandError {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return CommandError::usage(
            format!(
                "{} is there already, and is not overwritten.",
                path.display()
            ),
            "Name another file with --out, or remove it.",
        );
    }
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        "Name another file with --out.",
    )
}

//! Files that a user names, and what is there already in their places.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::error::CommandError;

/// Writes the file that `option` names and that is not there. Where it cannot be written whole nothing is left of
/// it.
pub fn write_new(path: &Path, option: &str, text: &str) -> Result<(), CommandError> {
    let mut file = File::create_new(path).map_err(|error| refused(path, option, &error))?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = fs::remove_file(path);
        refused(path, option, &error)
    })
}

/// Opens the file that `option` names for writing: one that is not there, or what is no file, such as a pipe.
pub fn open_new(path: &Path, option: &str) -> Result<File, CommandError> {
    let opened = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !is_file(path) => {
            File::options().write(true).open(path)
        }
        opened => opened,
    };
    opened.map_err(|error| refused(path, option, &error))
}

/// Refuses a file that [`open_new`] would not open because it is there.
pub fn check_new(path: &Path, option: &str) -> Result<(), CommandError> {
    match is_file(path) {
        true => Err(refused(path, option, &io::ErrorKind::AlreadyExists.into())),
        false => Ok(()),
    }
}

/// Refuses a new file in a directory that is not there, for what takes long before it is written.
pub fn check_directory_of(path: &Path, option: &str) -> Result<(), CommandError> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => Err(CommandError::usage(
            format!("There is no directory {}.", directory.display()),
            format!("Make it, or name another file with {option}."),
        )),
        _ => Ok(()),
    }
}

/// Whether there is a file at `path` whose contents would be lost.
pub fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file())
}

/// Why the file that `option` names is not written.
pub fn refused(path: &Path, option: &str, error: &io::Error) -> CommandError {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return CommandError::usage(
            format!(
                "{} is there already, and is not overwritten.",
                path.display()
            ),
            format!("Name another file with {option}, or remove it."),
        );
    }
    CommandError::environment(
        format!("{} cannot be written: {error}.", path.display()),
        format!("Name another file with {option}."),
    )
}

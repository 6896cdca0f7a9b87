//! Files that a user names, and what is there already in their places.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use execution::Error;

/// Writes the file that `option` names and that is not there. Where it cannot be written whole nothing is left of
/// it.
///
/// # Errors
/// The file is there already, or cannot be written.
pub fn write_new(path: &Path, option: &str, text: &str) -> Result<(), Error> {
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
///
/// # Errors
/// The file is there already, or cannot be opened.
pub fn open_new(path: &Path, option: &str) -> Result<File, Error> {
    let opened = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !is_file(path) => {
            File::options().write(true).open(path)
        }
        opened => opened,
    };
    opened.map_err(|error| refused(path, option, &error))
}

/// Refuses a file that [`open_new`] would not open because it is there.
///
/// # Errors
/// The file is there already.
pub fn check_new(path: &Path, option: &str) -> Result<(), Error> {
    match is_file(path) {
        true => Err(refused(path, option, &io::ErrorKind::AlreadyExists.into())),
        false => Ok(()),
    }
}

/// Refuses a new file in a directory that is not there, for what takes long before it is written.
///
/// # Errors
/// There is no such directory.
pub fn check_directory_of(path: &Path, option: &str) -> Result<(), Error> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => Err(Error::usage(
            format!("There is no directory {}.", directory.display()),
            format!("Make it, or name another file with {option}."),
        )),
        _ => Ok(()),
    }
}

/// Whether there is a file at `path` whose contents would be lost.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file())
}

/// Why the file that `option` names is not written.
#[must_use]
pub fn refused(path: &Path, option: &str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Error::usage(
            format!(
                "{} is there already, and is not overwritten.",
                path.display()
            ),
            format!("Name another file with {option}, or remove it."),
        );
    }
    Error::environment(
        format!("{} cannot be written: {error}.", path.display()),
        format!("Name another file with {option}."),
    )
}

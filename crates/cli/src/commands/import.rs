//! `proofload import`: a profile of a configuration of Jetstress.

use std::io::Read;
use std::path::Path;

use proofload::jetstress::{self, LARGEST_FILE_BYTES};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ImportOptions;
use crate::print::{notify, print};
use measure::run_directory::open_file;
use proofload::new_file::write_new;

/// What a profile on standard output is called in the command that runs it.
const PROFILE: &str = "profile.toml";

/// Prints or writes the profile, and what became of each element.
pub fn import(options: &ImportOptions) -> Result<ExitStatus, CommandError> {
    let name = options.file.display().to_string();
    let imported = jetstress::import(&name, &read(&options.file)?)?;
    let list = format!("{name}: {}\n{}", imported.version, imported.notes);
    match &options.out {
        None => {
            notify(list.trim_end());
            notify(&format!("To run it: {}", imported.command(PROFILE)));
            print(&imported.profile)
        }
        Some(out) => {
            write_new(out, "--out", &imported.profile)?;
            notify(list.trim_end());
            print(&format!(
                "{}\n",
                imported.command(&out.display().to_string())
            ))
        }
    }
}

/// The bytes of a file, one more than a configuration may have at most.
fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let file = open_file(path, u64::MAX);
    let read = file.and_then(|file| file.take(LARGEST_FILE_BYTES + 1).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| {
        let message = format!("{} cannot be read: {error}.", path.display());
        let help = "Give the path of a JetstressConfig.xml.";
        if error.kind() == std::io::ErrorKind::NotFound {
            return CommandError::usage(message, help);
        }
        CommandError::environment(message, help)
    })
}

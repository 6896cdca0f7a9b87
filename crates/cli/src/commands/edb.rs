//! `proofload edb`: examining database files, and recovering them.

use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use monitor::progress::bar;
use proofload::database_file::{DatabaseFile, DatabaseFileError, DumpRequest, recover};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{DumpOptions, EdbCommand};
use crate::print::{notify, print};

/// Bytes collected before a write to standard output.
const BUFFER_BYTES: usize = 64 * 1024;

/// Does what the command asks for.
pub fn edb(command: &EdbCommand) -> Result<ExitStatus, CommandError> {
    match command {
        EdbCommand::Info { files, count, json } => info(files, *count, *json),
        EdbCommand::Check { files, json } => check(files, *json),
        EdbCommand::Dump(options) => dump(options),
        EdbCommand::Recover { file, log } => {
            let recovery = recover(file, log.as_deref(), &mut |doing| notify(doing));
            print(&recovery.map_err(refusal)?.to_string())
        }
    }
}

/// Prints what the header, the catalog and the log of each file say.
fn info(files: &[PathBuf], count: bool, json: bool) -> Result<ExitStatus, CommandError> {
    for path in files {
        let file = DatabaseFile::open(path).map_err(refusal)?;
        let info = file.info(count).map_err(refusal)?;
        print(&match json {
            true => format!("{}\n", info.json()),
            false => info.to_string(),
        })?;
    }
    Ok(ExitStatus::Pass)
}

/// Checks each file. Damage in any of them is an integrity failure, reported when all were read.
fn check(files: &[PathBuf], json: bool) -> Result<ExitStatus, CommandError> {
    let mut status = ExitStatus::Pass;
    for path in files {
        let file = DatabaseFile::open(path).map_err(refusal)?;
        let line = progress_line(path);
        let shown = line.clone();
        let checked = file.check(move |done, total| {
            shown.set_length(total);
            shown.set_position(done);
        });
        line.finish_and_clear();
        let check = checked.map_err(refusal)?;
        if !check.is_sound() {
            status = ExitStatus::Integrity;
        }
        let text = match json {
            true => format!("{}\n", check.json()),
            false => check.to_string(),
        };
        status = print_answer(&text, status)?;
    }
    Ok(status)
}

/// A line in a terminal, nothing elsewhere.
fn progress_line(path: &Path) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    bar("{spinner} checking {prefix} [{bar:20}] {percent} %, {time_left} left")
        .with_prefix(path.display().to_string())
}

/// Prints the rows of a table.
fn dump(options: &DumpOptions) -> Result<ExitStatus, CommandError> {
    let request = DumpRequest {
        table: options.table.clone(),
        format: options.format,
        as_is: options.as_is,
    };
    let out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let file = DatabaseFile::open(&options.file).map_err(refusal)?;
    let warning = file.dump(&request, out).map_err(refusal)?;
    warning.iter().for_each(|warning| notify(warning));
    Ok(ExitStatus::Pass)
}

/// Ends a command that could not read a database file.
fn refusal(error: DatabaseFileError) -> CommandError {
    match error {
        DatabaseFileError::Output(error) => CommandError::output(&error),
        error => CommandError::Refused(error.into()),
    }
}

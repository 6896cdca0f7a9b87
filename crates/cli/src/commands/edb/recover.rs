//! `proofload edb recover`: brings a database back that was not closed properly.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use config::ByteSize;
use edb::check::info;
use edb::database::LOG_PREFIX;
use edb::format::database_header::{DatabaseState, Writer};
use edb::settings::{Engine, Maintenance, TornPages};
use edb::{Database, EngineError, EngineSettings, RecoveryReport};
use measure::units;
use runtime::host::{DirectoryHandle, LockKind};
use runtime::trace::NoObserver;
use runtime::{HostDirectory, Runtime};

use super::open::{lock, missing, open, unusable};
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::print::{notify, print};

/// Applies the log of a database and closes it.
pub(super) fn run(
    runtime: &Runtime,
    path: &Path,
    log: Option<&Path>,
) -> Result<ExitStatus, CommandError> {
    let shown = path.display();
    if !path.exists() {
        return Err(missing(path));
    }
    if !path.is_file() {
        return Err(CommandError::usage(
            format!("{shown} is not a file."),
            "Name a database file. A run with --reuse recovers databases on block devices.",
        ));
    }
    let _lock = lock(path, LockKind::Exclusive)?;
    let found_log = log.map(Path::to_owned).or_else(|| log_directory(path));
    let directories = [Some(directory_of(path)), found_log.as_deref()];
    for directory in directories.into_iter().flatten() {
        wait_for_requests(directory)?;
    }
    let file = open(runtime, path)?;
    let found = runtime.block_on(async move { info(&file, false).await });
    let header = found.map_err(|error| unusable(&error))?.header;
    if header.writer == Writer::Other {
        return Err(CommandError::usage(
            format!("{shown} was written by another program, whose log cannot be read here."),
            "On Windows, 'esentutl /r' recovers it.",
        ));
    }
    match header.state {
        DatabaseState::Clean => {
            return print(&format!(
                "{shown}: closed properly; there is nothing to recover\n"
            ));
        }
        DatabaseState::JustCreated => {
            return Err(CommandError::environment(
                format!("{shown} was never finished: its build was interrupted."),
                "No log can complete it; remove it and build it again.",
            ));
        }
        DatabaseState::Dirty => {}
    }
    let log = found_log.ok_or_else(|| no_log(path))?;
    let settings = settings(header.page_size_bytes);
    let report = recover(runtime, path, &log, settings)?;
    print(&describe(path, &log, &report))
}

/// Where this program keeps the log of a database: beside it, or in the directory that goes with
/// the database's.
pub(super) fn log_directory(path: &Path) -> Option<PathBuf> {
    let own = directory_of(path);
    if has_log(own) {
        return Some(own.to_owned());
    }
    let number = path.file_stem()?.to_str()?.rsplit_once('-')?.1;
    let above = own.canonicalize().ok()?.parent()?.to_owned();
    Some(above.join(format!("log-{number}"))).filter(|beside| has_log(beside))
}

/// Waits for what a killed run has under way on the files of a directory.
fn wait_for_requests(directory: &Path) -> Result<(), CommandError> {
    // One that cannot be opened is refused when it is used.
    let Ok(directory) = DirectoryHandle::open(directory) else {
        return Ok(());
    };
    let waited = storage::wait_for_requests(&directory, &mut |text| notify(text));
    waited.map_err(|error| CommandError::Refused(error.into()))
}

/// The directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn has_log(directory: &Path) -> bool {
    let is_log = |name: &str| name.starts_with(LOG_PREFIX) && name.ends_with(".log");
    let Ok(entries) = directory.read_dir() else {
        return false;
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_str().is_some_and(is_log))
}

fn no_log(path: &Path) -> CommandError {
    CommandError::environment(
        format!("There is no log beside {}.", path.display()),
        "Name the directory of its log files with --log.",
    )
}

/// A recovery keeps every log file and takes page images where there are some.
fn settings(page_size_bytes: u32) -> EngineSettings {
    EngineSettings {
        engine: Engine {
            page_size: ByteSize(u64::from(page_size_bytes)),
            circular_logging: false,
            torn_pages: TornPages::LogImages,
            ..Engine::default()
        },
        maintenance: Maintenance {
            enabled: false,
            ..Maintenance::default()
        },
        ..EngineSettings::default()
    }
}

fn recover(
    runtime: &Runtime,
    path: &Path,
    log: &Path,
    settings: EngineSettings,
) -> Result<RecoveryReport, CommandError> {
    let parent = directory_of(path);
    let handle = runtime.handle();
    let directory = |path: &Path| {
        HostDirectory::open(&handle, path).map_err(|error| {
            CommandError::environment(
                format!("{} cannot be opened: {error}.", path.display()),
                "Name the directory of the log files with --log.",
            )
        })
    };
    let (data, log) = (directory(parent)?, directory(log)?);
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| missing(path))?.to_owned();
    let handle = runtime.handle();
    let recovered = runtime.block_on(async move {
        let observer = Rc::new(NoObserver);
        let (database, report) =
            Database::open(&handle, &data, &name, &log, settings, observer).await?;
        database.close().await?;
        Ok(report)
    });
    recovered.map_err(|error| refused(&error))
}

fn refused(error: &EngineError) -> CommandError {
    let message = units::sentence(error);
    match error {
        EngineError::Recovery { .. } | EngineError::NotADatabase { .. } => {
            CommandError::environment(message, "Nothing was lost: the log is as it was.")
        }
        EngineError::HalfWritten { .. } => CommandError::environment(
            message,
            "With engine.torn_pages = \"log-images\" such pages are restored from the log.",
        ),
        EngineError::OutOfSpace(_) => {
            CommandError::environment(message, "Then start the recovery again.")
        }
        _ => CommandError::integrity(
            message,
            "See whether the storage is well ('dmesg' shows I/O errors).",
        ),
    }
}

fn describe(path: &Path, log: &Path, report: &RecoveryReport) -> String {
    let mut text = format!(
        "{}: recovered in {:.1} s from {} in {}\n",
        path.display(),
        report.seconds,
        units::count(u64::from(report.generations), "log file"),
        log.display()
    );
    let mut line = |number: u64, what: &str| text.push_str(&format!("  {number:>9} {what}\n"));
    line(report.records, "log records read");
    line(report.redone, "page changes repeated");
    line(report.skipped, "page changes that the pages had already");
    line(report.restored_pages, "pages restored from their images");
    line(
        report.undone_transactions,
        "transactions without a commit taken back",
    );
    for damaged in [&report.damaged_header, &report.damaged_checkpoint]
        .into_iter()
        .flatten()
    {
        text.push_str(&format!("  {}; it was rewritten\n", damaged.problem));
    }
    text
}

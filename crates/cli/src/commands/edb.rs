//! `proofload edb`: looking into database files from outside, without the engine.

use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use edb::check::{CheckError, CheckReport, DatabaseInfo, check, info};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{
    AnyDirectory, AnyFile, Directory, HostDirectory, HostFile, IoError, IoFailure, RawDirectory,
    Runtime, UringOptions,
};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::EdbCommand;
use crate::print::print;
use measure::units;

/// Examines each file. Damage in any of them is an integrity failure, reported when all were read.
pub fn edb(command: &EdbCommand) -> Result<ExitStatus, CommandError> {
    let runtime = Runtime::wall_clock(&UringOptions::default()).map_err(|error| {
        CommandError::environment(format!("Files cannot be read: {error}."), "")
    })?;
    let mut status = ExitStatus::Pass;
    match command {
        EdbCommand::Info { files } => {
            for path in files {
                let file = open(&runtime, path)?;
                let found = runtime.block_on(async move { info(&file).await });
                let found = found.map_err(|error| unusable(&error))?;
                print(&describe(path, &found))?;
            }
        }
        EdbCommand::Check { files } => {
            for path in files {
                let file = open(&runtime, path)?;
                let line = progress_line(path);
                let shown = line.clone();
                let progress = move |done, total| {
                    shown.set_length(total);
                    shown.set_position(done);
                };
                let found = runtime.block_on(async move { check(&file, progress).await });
                line.finish_and_clear();
                let report = found.map_err(|error| unusable(&error))?;
                print(&judge(path, &report))?;
                if !report.is_sound() {
                    status = ExitStatus::Integrity;
                }
            }
        }
    }
    Ok(status)
}

/// Opens a database file, or the database on a block device of ours.
fn open(runtime: &Runtime, path: &Path) -> Result<AnyFile, CommandError> {
    if path
        .metadata()
        .is_ok_and(|facts| facts.file_type().is_block_device())
    {
        return open_on_device(runtime, path);
    }
    let shown = path.display();
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        return Err(CommandError::usage(
            format!("{shown} is not a file."),
            "Name database files, such as mail-001/mail-001.edb.",
        ));
    };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(missing(path));
    }
    let directory = HostDirectory::open(&runtime.handle(), parent).map_err(|error| {
        CommandError::environment(format!("{shown} cannot be opened: {error}."), "")
    })?;
    let name = name.to_owned();
    let opened = runtime.block_on(async move { directory.open(&name).await });
    opened
        .map(AnyFile::Host)
        .map_err(|error| not_opened(path, &error))
}

/// The one database that Proofload keeps on a block device.
fn open_on_device(runtime: &Runtime, path: &Path) -> Result<AnyFile, CommandError> {
    let shown = path.display();
    let device = HostFile::open_device(&runtime.handle(), path).map_err(|error| {
        CommandError::environment(
            format!("{error}."),
            "Run as a user who may, such as root, and while nothing else uses the device.",
        )
    })?;
    let found = runtime.block_on(async move {
        let directory = AnyDirectory::Raw(RawDirectory::open(device).await.ok()?);
        let names = directory.list().await.ok()?;
        let name = names.iter().find(|name| name.ends_with(".edb"))?;
        directory.open(name).await.ok()
    });
    found.ok_or_else(|| {
        CommandError::usage(
            format!("{shown} holds no database of Proofload."),
            "Name a block device that a run kept a database on, or a database file.",
        )
    })
}

fn missing(path: &Path) -> CommandError {
    let shown = path.display();
    CommandError::usage(format!("{shown} does not exist."), "Correct the path.")
}

fn not_opened(path: &Path, error: &IoError) -> CommandError {
    match error.failure {
        IoFailure::NotFound => missing(path),
        IoFailure::PermissionDenied => CommandError::environment(
            format!("You may not open {}.", path.display()),
            "Run as a user who may, such as root.",
        ),
        _ => CommandError::integrity(
            format!("{error}."),
            "See whether the storage is well ('dmesg' shows I/O errors).",
        ),
    }
}

/// A file that cannot be examined at all.
fn unusable(error: &CheckError) -> CommandError {
    let message = format!("{error}.");
    match error {
        CheckError::Io(_) => CommandError::integrity(
            message,
            "See whether the storage is well ('dmesg' shows I/O errors).",
        ),
        CheckError::Header { .. } => CommandError::integrity(
            message,
            "Is it a database file at all? If it was one, it is damaged beyond use.",
        ),
        CheckError::NotClean { .. } => CommandError::environment(
            message,
            "A run with --reuse recovers the databases of a run that was cut off.",
        ),
        CheckError::Unfinished { .. } => CommandError::environment(message, ""),
    }
}

/// A line in a terminal, nothing elsewhere.
fn progress_line(path: &Path) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{spinner} checking {prefix} [{bar:20}] {percent} %, {eta} left";
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0)
        .with_style(style)
        .with_prefix(path.display().to_string())
}

/// What a file says of itself.
fn describe(path: &Path, found: &DatabaseInfo) -> String {
    let header = &found.header;
    let mut text = format!(
        "{}\n  size        {} ({} bytes)\n  pages       {} of {} bytes, {} free\n  state       \
         {:?}\n  headers     {}\n",
        path.display(),
        units::size(found.file_size_bytes),
        found.file_size_bytes,
        found.pages,
        header.page_size_bytes,
        found.free_pages,
        header.state,
        if found.headers_agree {
            "both whole and the same"
        } else {
            "one is damaged or older"
        },
    );
    if header.highest_log_needed > 0 {
        text.push_str(&format!(
            "  log needed  generations {} to {}\n",
            header.lowest_log_needed, header.highest_log_needed
        ));
    }
    for table in &found.tables {
        text.push_str(&format!("  table {}\n", table.stored.definition.name));
        for tree in &table.trees {
            text.push_str(&format!(
                "    {}: root {}, {}, {} pages, {} free\n",
                tree.name,
                tree.root,
                units::count(u64::from(tree.levels), "level"),
                tree.owned_pages,
                tree.free_pages
            ));
        }
    }
    text
}

/// What a check found.
fn judge(path: &Path, report: &CheckReport) -> String {
    let shown = path.display();
    if report.is_sound() {
        return format!(
            "{shown}: sound; {} pages in use, {}\n",
            report.used_pages,
            units::count(report.rows, "row")
        );
    }
    let mut text = String::new();
    for finding in &report.findings {
        text.push_str(&format!("{shown}: {finding}\n"));
    }
    let all = report.findings.len() as u64 + report.further_findings;
    text.push_str(&format!(
        "{shown}: damaged; {}\n",
        units::count(all, "finding")
    ));
    text
}

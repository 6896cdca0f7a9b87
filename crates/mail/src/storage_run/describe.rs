//! `run --dry-run`: what would be built and where.

use crate::profile::MailProfile;
use crate::state_file::{Condition, Found};
use workload::Profile;
use workload::StorageNeeds;

use super::kept::{self, Kept};
use execution::Error;
use execution::storage_run::{TargetRun, io_driver};
use measure::units;
use runtime::DriverInUse;
use storage::{TargetKind, space};

/// The plan as text.
///
/// # Errors
/// When a file system does not say how much room it has.
pub fn describe(targets: &TargetRun, profile: &MailProfile) -> Result<String, Error> {
    let layout = targets.layout();
    let mail = &profile.mail;
    let mut text = format!(
        "{}: {}{}, {} of {} per database\n",
        targets.request().workload,
        profile.describe_data(),
        match targets.kept() {
            Some(_) => " when built",
            None => "",
        },
        units::count(u64::from(mail.mailboxes_per_database), "mailbox").replace("xs", "xes"),
        units::size(mail.mailbox_size.bytes()),
    );
    let kept = match targets.kept() {
        Some(claim) => kept::all(claim, profile.run.io_driver)?
            .iter()
            .map(condition)
            .collect(),
        None => Vec::new(),
    };
    for (number, place) in layout.databases.iter().enumerate() {
        text.push_str(&format!(
            "  {}: {}, log in {}{}\n",
            place.name,
            place.data.path().display(),
            place.log.path().display(),
            kept.get(number).map_or("", String::as_str)
        ));
    }
    if let StorageNeeds::Databases(needs) = profile.storage_needs() {
        for need in space::needs(layout, &needs)? {
            text.push_str(&format!("Space: {need}\n"));
        }
    }
    let devices = layout
        .targets
        .iter()
        .filter(|_| targets.options().erase_device);
    for target in devices.filter(|target| target.kind != TargetKind::Directory) {
        text.push_str(&format!(
            "Everything on {} will be overwritten\n",
            target.given.display()
        ));
    }
    let driver = io_driver(profile.run.io_driver)?;
    text.push_str(&format!(
        "I/O driver: {}{}\n",
        driver.driver,
        reason(&driver)
    ));
    if !profile.is_without_load() {
        text.push_str(&format!("Load: {}\n", profile.describe_load()));
    }
    Ok(text)
}

/// Why a driver is not io_uring.
fn reason(driver: &DriverInUse) -> String {
    let reason = driver.fallback_reason.as_ref();
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

/// What a run would find of a database, and what it would do with it.
fn condition(kept: &Kept) -> String {
    let state = match &kept.state {
        Found::State(state) => Some(state),
        _ if kept.file_bytes.is_some() => {
            return "; kept, its messages will be counted because mail.state is lost".to_owned();
        }
        _ => None,
    };
    let condition = match state.map(|state| state.condition) {
        None => "; not built yet, will be built",
        Some(Condition::Building) => "; its build was interrupted, will go on",
        Some(Condition::Copying) => "; incomplete, restored in part",
        Some(Condition::InUse) if state.is_some_and(|state| state.is_passive_copy) => {
            "; a passive copy, will be activated with the log that was shipped"
        }
        Some(Condition::InUse) => "; not closed, will be recovered",
        Some(Condition::Ready) => "; kept, complete",
    };
    // Its load lets it grow, and its build is not at its end.
    let size = kept.file_bytes.filter(|_| kept.is_built());
    let size = size.map_or_else(String::new, |size| {
        format!(", {} at the start", units::size(size))
    });
    format!("{condition}{size}")
}

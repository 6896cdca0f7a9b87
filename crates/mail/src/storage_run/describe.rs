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
use storage::{DatabasePlace, Layout, TargetKind, space};

/// So many databases have a line each.
const MOST_LISTED: usize = 8;

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
        Some(claim) => kept::all(claim, profile.run.io_driver)?,
        None => Vec::new(),
    };
    text.push_str(&databases(layout, &kept));
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

/// Where the databases lie and what is there of them: a line for each, or, of many, one for all with the same
/// targets and of the same condition.
fn databases(layout: &Layout, kept: &[Kept]) -> String {
    let all = || layout.databases.iter().enumerate();
    if layout.databases.len() <= MOST_LISTED {
        let line = |(number, place): (usize, &DatabasePlace)| {
            let (data, log) = (place.data.path().display(), place.log.path().display());
            let there = kept.get(number).map_or_else(String::new, |kept| {
                let condition = condition(kept);
                format!("{condition}{}", size_at_start(size(kept)))
            });
            format!("  {}: {data}, log in {log}{there}\n", place.name)
        };
        return all().map(line).collect();
    }
    let mut groups: Vec<Group> = Vec::new();
    for (number, place) in all() {
        let kept = kept.get(number);
        let key = (place.data_target, place.log_target, kept.map(condition));
        let group = match groups.iter().position(|group| group.key == key) {
            Some(known) => &mut groups[known],
            None => groups.push_mut(Group {
                key,
                names: Vec::new(),
                bytes: None,
            }),
        };
        group.names.push(&place.name);
        if let Some(more) = kept.and_then(size) {
            group.bytes = Some(group.bytes.unwrap_or_default() + more);
        }
    }
    groups.iter().map(|group| group.line(layout)).collect()
}

/// Databases with the same targets and of the same condition.
struct Group<'a> {
    /// Their target, that of their logs, and the condition of those that an earlier run kept.
    key: (usize, usize, Option<&'static str>),
    names: Vec<&'a str>,
    /// Size of all of them, where they are there.
    bytes: Option<u64>,
}

impl Group<'_> {
    fn line(&self, layout: &Layout) -> String {
        let names = match self.names.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [first, last] => format!("{first}, {last}"),
            [first, second, .., last] => {
                let count = units::count_of(self.names.len() as u64);
                format!("{first}, {second}, ..., {last} ({count} databases)")
            }
        };
        let (data, log, condition) = self.key;
        let target = |number: usize| layout.targets[number].given.display();
        format!(
            "  {names}: in {}, {} in {}{}{}\n",
            target(data),
            match self.names.len() {
                1 => "log",
                _ => "logs",
            },
            target(log),
            condition.unwrap_or_default(),
            size_at_start(self.bytes)
        )
    }
}

/// Why a driver is not io_uring.
fn reason(driver: &DriverInUse) -> String {
    let reason = driver.fallback_reason.as_ref();
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

/// What a run would find of a database, and what it would do with it.
fn condition(kept: &Kept) -> &'static str {
    let state = match &kept.state {
        Found::State(state) => Some(state),
        _ if kept.file_bytes.is_some() => {
            return "; kept, its messages will be counted because mail.state is lost";
        }
        _ => None,
    };
    match state.map(|state| state.condition) {
        None => "; not built yet, will be built",
        Some(Condition::Building) => "; its build was interrupted, will go on",
        Some(Condition::Copying) => "; incomplete, restored in part",
        Some(Condition::InUse) if state.is_some_and(|state| state.is_passive_copy) => {
            "; a passive copy, will be activated with the log that was shipped"
        }
        Some(Condition::InUse) => "; not closed, will be recovered",
        Some(Condition::Ready) => "; kept, complete",
    }
}

/// Size of a database that is there: its load lets it grow. Of one whose build goes on it says nothing.
fn size(kept: &Kept) -> Option<u64> {
    let is_in_use = matches!(kept.state, Found::State(_)) && kept.is_built();
    kept.file_bytes.filter(|_| is_in_use)
}

fn size_at_start(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| {
        format!(", {} at the start", units::size(bytes))
    })
}

//! `run --dry-run`: what would be built and where.

use workload::mail::state_file::Condition;
use workload::profile::Profile;

use super::storage::{self, Kept};
use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::human;
use crate::target::{Layout, SiteKind, space};

/// The plan as text.
///
/// # Errors
/// When a file system does not say how much room it has.
pub fn describe(
    options: &RunOptions,
    profile: &Profile,
    layout: &Layout,
) -> Result<String, Failure> {
    let mail = &profile.mail;
    let mut text = format!(
        "{}: {}, {} of {} per database\n",
        options.workload,
        human::count_of_size(u64::from(mail.databases), "database", mail.database_bytes()),
        human::count(u64::from(mail.mailboxes_per_database), "mailbox").replace("xs", "xes"),
        mail.mailbox_size,
    );
    let kept = match options.reuse {
        true => storage::kept(layout)?.iter().map(condition).collect(),
        false => Vec::new(),
    };
    for (number, place) in layout.databases.iter().enumerate() {
        text.push_str(&format!(
            "  {}: {}, log in {}{}\n",
            place.name,
            place.data.path().display(),
            place.log.path().display(),
            kept.get(number).copied().unwrap_or_default()
        ));
    }
    for need in space::needs(layout, profile)? {
        text.push_str(&format!("Space: {need}\n"));
    }
    let devices = layout.sites.iter().filter(|_| options.erase_device);
    for site in devices.filter(|site| site.kind != SiteKind::Directory) {
        text.push_str(&format!(
            "Everything on {} will be overwritten\n",
            site.given.display()
        ));
    }
    let load = match (profile.run.held_rate, mail.threads) {
        (Some(rate), _) => format!("{rate} IOPS held"),
        (None, Some(threads)) => human::count(u64::from(threads), "thread"),
        (None, None) => format!("as many threads as reach {:.2} IOPS", mail.target_iops()),
    };
    text.push_str(&format!(
        "Load: {load}, measured for {} in samples of {}\n",
        profile.run.duration, profile.run.sample_interval
    ));
    Ok(text)
}

/// What a run would find of a database, and what it would do with it.
fn condition(kept: &Kept) -> &'static str {
    match kept.state.as_ref().map(|state| state.condition) {
        None => "; not built yet, will be built",
        Some(Condition::Building) => "; its build was cut off, will be built anew",
        Some(Condition::InUse) => "; a run on it was cut off, will be recovered",
        Some(Condition::Ready) => "; kept, complete",
    }
}

/// What a run of this profile cannot give, known before hours are spent on it.
pub fn caution(profile: &Profile) -> Option<String> {
    let interval_s = profile.run.sample_interval.as_seconds();
    let samples = (profile.run.duration.as_seconds() / interval_s) as u64;
    let fewest = profile.service_levels.fewest_samples as u64;
    (samples < fewest).then(|| {
        format!(
            "Caution: this will be inconclusive at best. {} of {} fit into {}, and a verdict needs \
             {fewest}: run longer with --duration, or sample more often with --set \
             run.sample_interval=1s.\n",
            human::count(samples, "sample"),
            profile.run.sample_interval,
            profile.run.duration,
        )
    })
}
